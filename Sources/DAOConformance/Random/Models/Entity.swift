import DAOCore

/// One row: a value for each field, in the schema's order.
typealias Row = [Value]

/// The models of the proof.
enum Entity: Sendable, Hashable {
    case wide, note, pass, tally
    /// One that was made for the script.
    case made(MadeModel)

    /// Those that every script has.
    static let allCases: [Entity] = [.wide, .note, .pass, .tally]

    /// Its number: the fixed ones come first.
    var rawValue: Int {
        switch self {
        case .wide: 0
        case .note: 1
        case .pass: 2
        case .tally: 3
        case .made(let model): 4 + model.number
        }
    }

    var type: any RandomRecord.Type {
        switch self {
        case .wide: RandomProof.Wide.self
        case .note: RandomProof.Note.self
        case .pass: RandomProof.Pass.self
        case .tally: RandomProof.Tally.self
        case .made(let model): model.type
        }
    }

    /// What scripts call the DAO.
    var variable: String {
        switch self {
        case .wide: "wides"
        case .note: "notes"
        case .pass: "passes"
        case .tally: "tallies"
        case .made(let model): "made\(model.number)"
        }
    }

    var table: Table {
        switch self {
        case .made(let model): model.table
        default: Self.tables[rawValue]
        }
    }

    var name: String { table.name }
    var fields: [FieldDescription] { table.fields }
    /// The position of the key.
    var key: Int { table.key }

    /// What is wrong with a model that cannot be stored.
    var flaw: MadeFlaw? { if case .made(let model) = self { model.flaw } else { nil } }

    private static let tables: [Table] = allCases.map { entity in
        func table<Record: RandomRecord>(_ type: Record.Type) -> Table { Table(type) }
        return table(entity.type)
    }
}

extension Entity {
    /// What does not change about a model, looked up once.
    final class Table: Sendable {
        let name: String
        let fields: [FieldDescription]
        let key: Int
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
        /// The values of fields that can hold only a few.
        let choices: [Int: [Choice]]
        /// The types that wrap the scalars of fields.
        let wrappers: [Int: String]

        init<Record: RandomRecord>(_ type: Record.Type) {
            let description = Record.schema.description
            let columns = Record.columns
            let fields = description.fields
            func positions(_ condition: (FieldDescription) -> Bool) -> [Int] { fields.indices.filter { condition(fields[$0]) } }
            name = description.name
            self.fields = fields
            key = description.keyIndex
            blank = Record.blank.cells
            kept = Set(positions { Record.keptFields.contains($0.name) })
            indexed = positions { $0.isIndexed && !$0.isPrimaryKey }
            unique = positions(\.isUnique)
            numeric = columns.indices.filter { columns[$0].isNumeric && !fields[$0].isPrimaryKey }
            ordered = positions { $0.type.kind.isOrdered }
            choices = columns.enumerated().reduce(into: [:]) { $0[$1.offset] = $1.element.choices }
            wrappers = columns.enumerated().reduce(into: [:]) { $0[$1.offset] = $1.element.wrapper }
            plainText =
                fields.indices.first {
                    fields[$0].type.kind == .string && !fields[$0].isIndexed && !fields[$0].isPrimaryKey
                }
            var twins: [Int: Int] = [:]
            var unindexed: [Int: Int] = [:]
            for (index, field) in fields.enumerated() where field.name.hasSuffix("Twin") {
                guard let original = description.index(of: String(field.name.dropLast(4))) else { continue }
                twins[index] = original
                twins[original] = index
                unindexed[original] = index
            }
            (self.twins, unindexedTwins) = (twins, unindexed)
        }
    }
}
