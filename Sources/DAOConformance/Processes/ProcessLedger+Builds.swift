import DAOCore

extension ConformanceProcesses {
    /// The builds of an application that disagree about the entity "pamphlet".
    public enum Build: String, Sendable, Hashable, CaseIterable {
        /// Without the fields that were added later.
        case older
        /// With all fields.
        case newer
        /// With all fields, and with a part of them in use.
        case part
        /// With all fields, and with an index that no other build declares.
        case indexed
    }
}

extension ProcessLedger {
    /// Stores a pamphlet whose fields follow from a number, through the model of a build.
    package func publish(_ build: ConformanceProcesses.Build, _ id: Int, _ number: Int) throws -> String {
        let (title, body) = ("t\(number)", "b\(number)")
        return try sayingKind {
            switch build {
            case .older: try database.dao(OlderPamphlet.self).persist(OlderPamphlet(id: id, title: title))
            case .newer:
                try database.dao(Pamphlet.self).persist(
                    Pamphlet(id: id, title: title, body: body, mark: number % 2 == 0 ? number : nil))
            case .part: try database.dao(PamphletBody.self).persist(PamphletBody(body: body, id: id))
            case .indexed: try database.dao(IndexedPamphlet.self).persist(IndexedPamphlet(id: id, title: title, body: body))
            }
            return "done"
        }
    }

    /// Returns every pamphlet, as the model of a build reads it.
    package func pamphlets(_ build: ConformanceProcesses.Build) throws -> String {
        try sayingKind {
            let texts =
                switch build {
                case .older: try database.dao(OlderPamphlet.self).read().map { "\($0.id) \($0.title)" }
                case .newer:
                    try database.dao(Pamphlet.self).read().map {
                        "\($0.id) \($0.title) \($0.body) \($0.mark.map { "\($0)" } ?? "-")"
                    }
                case .part: try database.dao(PamphletBody.self).read().map { "\($0.id) \($0.body)" }
                case .indexed:
                    try database.dao(IndexedPamphlet.self).read { $0.body >= "" }.map { "\($0.id) \($0.title) \($0.body)" }
                }
            return texts.joined(separator: ", ")
        }
    }

    private func sayingKind(_ body: () throws -> String) throws -> String {
        do {
            return try body()
        } catch let error as StorageError {
            return error.kind.rawValue
        }
    }
}

private struct OlderPamphlet: Plain, Model {
    var id: Int
    var title: String
    static let schema = Schema("pamphlet", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .indexed))
}

private struct Pamphlet: Plain, Model {
    var id: Int
    var title: String
    var body: String
    var mark: Int?
    static let schema = Schema(
        "pamphlet", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .indexed),
        Field("body", \.body, .default("-")), Field("mark", \.mark))
}

private struct PamphletBody: Plain, Model {
    var body: String
    var id: Int
    static let schema = Schema(partOf: Pamphlet.self, Self.init, Field("body", \.body), Field("id", \.id, .primaryKey))
}

private struct IndexedPamphlet: Plain, Model {
    var id: Int
    var title: String
    var body: String
    static let schema = Schema(
        "pamphlet", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title, .indexed),
        Field("body", \.body, .default("-"), .indexed))
}
