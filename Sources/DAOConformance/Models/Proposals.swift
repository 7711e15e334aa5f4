import DAOCore

/// A row that counts its writes.
package struct Proposal: Plain, Model, Equatable {
    package var id: Int
    package var title: String
    package var revision = Revision()

    package init(id: Int, title: String, revision: Revision = Revision()) {
        (self.id, self.title, self.revision) = (id, title, revision)
    }

    package static let schema = Schema(
        "proposal", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("revision", \.revision))
}

/// A plain that does not carry the revision of its proposal.
struct ProposalTitle: Plain {
    var id: Int
    var title: String
    var uniqueId: UniqueID { UniqueID(id) }
}

struct ProposalTitleTranslator: Translator {
    func translate(model: Proposal) throws -> ProposalTitle { ProposalTitle(id: model.id, title: model.title) }
    func translate(plain: ProposalTitle) throws -> Proposal { Proposal(id: plain.id, title: plain.title) }
    func translate(from plain: ProposalTitle, to model: inout Proposal) throws { model.title = plain.title }
}

/// A translator that merges the revision too.
struct ProposalTranslator: Translator {
    func translate(model: Proposal) throws -> Proposal { model }
    func translate(plain: Proposal) throws -> Proposal { plain }
    func translate(from plain: Proposal, to model: inout Proposal) throws {
        (model.title, model.revision) = (plain.title, plain.revision)
    }
}

/// A parent with owned and linked rows, all of which count their writes.
struct Dossier: Plain, Model, Equatable {
    var id: Int
    var revision = Revision()
    var subject: Proposal?
    var remarks: [Remark] = []

    static let schema = Schema(
        "dossier", Self.init,
        Field("id", \.id, .primaryKey), Field("revision", \.revision), Field("subject", \.subject, .linked),
        Field("remarks", \.remarks, .owned))
}

/// A parent with a field and owned rows, all of which count their writes.
struct Folio: Plain, Model, Equatable {
    var id: Int
    var title: String
    var revision = Revision()
    var remarks: [Remark] = []

    static let schema = Schema(
        "folio", Self.init,
        Field("id", \.id, .primaryKey), Field("title", \.title), Field("revision", \.revision),
        Field("remarks", \.remarks, .owned))
}

/// A row that dossiers own. Its revision is a computed property.
struct Remark: Plain, Model, Equatable {
    var id: Int
    var text: String
    private var writes: Int64
    var revision: Revision { Revision(rawValue: writes) }

    init(id: Int, text: String, revision: Revision = Revision()) {
        (self.id, self.text, writes) = (id, text, revision.rawValue)
    }

    static let schema = Schema(
        "remark", Self.init, Field("id", \.id, .primaryKey), Field("text", \.text), Field("revision", \.revision))
}
