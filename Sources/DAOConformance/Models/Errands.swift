import DAOCore

/// An errand, which refers to people and to the errand that it is a part of.
package struct Errand: Plain, Model, Equatable {
    package var id: Int
    package var title: String = ""
    package var whole: Reference<Errand>?
    package var owner: Reference<Person>
    package var helper: Reference<Person>?

    package init(
        id: Int, title: String = "", whole: Reference<Errand>? = nil, owner: Reference<Person>, helper: Reference<Person>? = nil
    ) {
        (self.id, self.title, self.whole, self.owner, self.helper) = (id, title, whole, owner, helper)
    }

    package static let schema = Schema(
        "errand", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("whole", \.whole, .cascade),
        Field("owner", \.owner, .restricted), Field("helper", \.helper))
}

/// A row that cannot be without the errand that it refers to.
struct Receipt: Plain, Model, Equatable {
    var id: String
    var errand: Reference<Errand>

    static let schema = Schema(
        "receipt", Self.init, Field("id", \.id, .primaryKey), Field("errand", \.errand, .cascade))
}

/// A parent whose list holds errands, and which refers to one of them.
struct Agenda: Plain, Model, Equatable {
    var id: Int
    var errands: [Errand] = []
    var next: Reference<Errand>?

    static let schema = Schema(
        "agenda", Self.init, Field("id", \.id, .primaryKey), Field("errands", \.errands, .cascade), Field("next", \.next))
}
