import DAOCore

/// A leaflet whose texts are searched.
struct Leaflet: Plain, Model, Equatable {
    var id: Int
    var title: String
    var text: String
    var note: String?
    var tags: [String] = []

    static let schema = Schema(
        "leaflet", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .searchable(weight: 3)),
        Field("text", \.text, .searchable), Field("note", \.note, .searchable), Field("tags", \.tags, .searchable))

    /// Leaflets about wine, and some in other scripts.
    static let all = [
        Leaflet(id: 1, title: "Cellar", text: "a bottle of red wine"),
        Leaflet(id: 2, title: "Red car", text: "fast", tags: ["tag one"]),
        Leaflet(id: 3, title: "Party", text: "white wines, wine", tags: ["one", "two"]),
        Leaflet(id: 4, title: "Sea", text: "red in the wine"),
        Leaflet(id: 5, title: "Tower", text: "東京 Tower は都"), Leaflet(id: 6, title: "Street", text: "Straße", note: "Cafe\u{301}"),
        Leaflet(id: 7, title: "한국어를", text: "ภาษาไทย"),
    ]
}
