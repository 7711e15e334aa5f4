// swift-format-ignore-file
// The code of Docs/Modelling.md, compiled and run. `DAODocumentationTests` checks that both are the same.

import DAOCore
import Foundation

struct ProjectID: RawRepresentable, PrimaryKeyValue { let rawValue: Int }     // cannot be mixed up with other keys

enum Priority: Int, OrderedFieldValue { case low, normal, high }              // stored as its raw value, and sorted by it

struct Appearance: Codable, FieldValue {                                      // stored as JSON
    var color: String
    var icon: String?
}

struct Project: Plain, Model {
    var id: ProjectID
    var name: String
    var priority: Priority
    var deadline: Date?
    var labels: [String]
    var appearance: Appearance

    static let schema = Schema(
        "project", Self.init,
        Field("id", \.id, .primaryKey),
        Field("name", \.name, .unique),
        Field("priority", \.priority),
        Field("deadline", \.deadline),
        Field("labels", \.labels),
        Field("appearance", \.appearance),
        indexes: [
            Index(orderedBy: .descending(\.priority), .ascending(\.deadline)),
            Index(\.deadline, where: { $0.priority >= .high }),                     // has only these rows
        ]
    )
}

/// The ids that the reads of the page find.
func modelling(_ database: any Database) throws -> [[Int]] {
    let projects = DAO(storage: try database.storage(for: Project.self))
    let soon = Date(timeIntervalSinceReferenceDate: 0)

    try projects.persist([
        Project(id: ProjectID(rawValue: 1), name: "Garden", priority: .low, deadline: nil, labels: [], appearance: Appearance(color: "green")),
        Project(id: ProjectID(rawValue: 2), name: "Taxes", priority: .high, deadline: soon, labels: ["home", "dull"], appearance: Appearance(color: "grey", icon: "€")),
    ])
    let urgent = try projects.read(orderedBy: .descending(\.priority), .ascending(\.deadline)) {
        $0.priority >= .normal && $0.deadline != nil
    }
    let dull = try projects.read { $0.labels.contains("dull") }
    let garden = try projects.read(byPrimaryKey: ProjectID(rawValue: 1))

    return [urgent, dull, garden.map { [$0] } ?? []].map { $0.map(\.id.rawValue) }
}
