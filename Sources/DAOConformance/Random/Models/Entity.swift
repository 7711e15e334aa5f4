import DAOCore

/// One row: a value for each field, in the schema's order.
typealias Row = [Value]

/// The models of the proof.
enum Entity: Int, Sendable, CaseIterable {
    case wide, note, pass, tally

    var type: any RandomRecord.Type {
        switch self {
        case .wide: RandomProof.Wide.self
        case .note: RandomProof.Note.self
        case .pass: RandomProof.Pass.self
        case .tally: RandomProof.Tally.self
        }
    }

    /// What scripts call the DAO.
    var variable: String {
        switch self {
        case .wide: "wides"
        case .note: "notes"
        case .pass: "passes"
        case .tally: "tallies"
        }
    }

    var table: Table { Self.tables[rawValue] }
    var name: String { table.name }
    var fields: [FieldDescription] { table.fields }

    /// What does not change about a model, looked up once.
    struct Table: Sendable {
        let name: String
        let fields: [FieldDescription]
        let blank: Row
        /// Positions of fields and of their twins without an index, both ways.
        let twins: [Int: Int]
        /// Positions of the twins themselves.
        let unindexedTwins: [Int: Int]
        let kept: Set<Int>
        let indexed: [Int]
        let unique: [Int]
        let numeric: [Int]
        let ordered: [Int]
        /// A field without an index, to put into a condition so that no index serves it.
        let plainText: Int?
    }

    private static let tables: [Table] = allCases.map { entity in
        func table<Record: RandomRecord>(_ type: Record.Type) -> Table {
            let description = Record.schema.description
            let fields = description.fields
            var twins: [Int: Int] = [:]
            var unindexed: [Int: Int] = [:]
            for (index, field) in fields.enumerated() where field.name.hasSuffix("Twin") {
                guard let original = description.index(of: String(field.name.dropLast(4))) else { continue }
                twins[index] = original
                twins[original] = index
                unindexed[original] = index
            }
            func positions(_ condition: (FieldDescription) -> Bool) -> [Int] { fields.indices.filter { condition(fields[$0]) } }
            return Table(
                name: description.name, fields: fields, blank: Record.blank.cells, twins: twins, unindexedTwins: unindexed,
                kept: Set(positions { Record.keptFields.contains($0.name) }),
                indexed: positions { $0.isIndexed && !$0.isPrimaryKey },
                unique: positions(\.isUnique), numeric: positions { $0.type.kind.isNumeric && !$0.isPrimaryKey },
                ordered: positions { $0.type.kind.isOrdered },
                plainText: positions { $0.type.kind == .string && !$0.isIndexed && !$0.isPrimaryKey }.first)
        }
        return table(entity.type)
    }
}
