// Generated from Track by 'swift package generate-models' (fbe444585ce0b409).
// Generate again instead of editing. Delete these two lines to keep a version of your own: it is never overwritten.

import DAOCore

/// The stored record of ``Track``.
struct TrackModel: Model {
    var id: Int
    var title: String

    static let schema = Schema(
        "track", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title)
    )
}

/// Converts ``Track`` to its stored record and back.
struct TrackTranslator: ReplacingTranslator {
    func translate(model: TrackModel) throws -> Track {
        Track(id: model.id, title: model.title)
    }
    func translate(plain: Track) throws -> TrackModel {
        TrackModel(id: plain.id, title: plain.title)
    }
}
