import DAOCore
import DAOTestSupport

/// One row: a value for each field, in the schema's order.
typealias Row = [Value]

/// The models that scripts store.
enum Entity: Sendable, Hashable {
    case wide, note, pass, tally
    /// One that was generated for the script.
    case generated(GeneratedModel)

    /// Those that every script has.
    static let allCases: [Entity] = [.wide, .note, .pass, .tally]

    /// Its number: the fixed ones come first.
    var rawValue: Int {
        switch self {
        case .wide: 0
        case .note: 1
        case .pass: 2
        case .tally: 3
        case .generated(let model): 4 + model.number
        }
    }

    var type: any TestRecord.Type {
        switch self {
        case .wide: Wide.self
        case .note: Note.self
        case .pass: Pass.self
        case .tally: Tally.self
        case .generated(let model): model.type
        }
    }

    /// What scripts call the DAO.
    var variable: String {
        switch self {
        case .wide: "wides"
        case .note: "notes"
        case .pass: "passes"
        case .tally: "tallies"
        case .generated(let model): "model\(model.number)"
        }
    }

    var table: Table {
        switch self {
        case .generated(let model): model.table
        default: Self.tables[rawValue]
        }
    }

    var name: String { table.name }
    var fields: [FieldDescription] { table.fields }
    /// The position of the key.
    var key: Int { table.key }

    /// The model, as plain data.
    var declaration: PropertyTesting.GeneratedEntity {
        if case .generated(let model) = self { return model.entity }
        let fields = fields.enumerated().map { index, field in
            PropertyTesting.GeneratedField(
                field.name, table.types[index], isOptional: field.type.isOptional, isKey: field.isPrimaryKey,
                isIndexed: field.isIndexed && !field.isUnique, isUnique: field.isUnique)
        }
        return PropertyTesting.GeneratedEntity(name, fields, kept: table.kept)
    }

    /// What is wrong with a model that cannot be stored.
    var flaw: SchemaFlaw? { if case .generated(let model) = self { model.flaw } else { nil } }

    private static let tables: [Table] = allCases.map { entity in
        func table<Record: TestRecord>(_ type: Record.Type) -> Table { Table(type) }
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
        /// The unique indexes.
        let uniqueIndexes: [UniqueIndex]
        /// The conditions of partial indexes.
        let conditions: [PredicateNode]
        let numeric: [Int]
        let ordered: [Int]
        /// A field without an index, to put into a condition so that no index serves it.
        let plainText: Int?
        /// The values of fields that can hold only a few.
        let choices: [Int: [KnownValue]]
        /// Generates conditions on the fields. The reference model compares decimals with floating-point
        /// numbers only where both mean the same number.
        let predicates: PredicateGenerator
        /// The types of fields; fewer than the fields when scripts cannot print one of them.
        let types: [PropertyTesting.GeneratedType]

        init<Record: TestRecord>(_ type: Record.Type) {
            let description = Record.schema.description
            let columns = Record.columns
            let fields = description.fields
            func positions(_ condition: (FieldDescription) -> Bool) -> [Int] { fields.indices.filter { condition(fields[$0]) } }
            name = description.name
            self.fields = fields
            key = description.keyIndex
            blank = Record.blank.values
            kept = Set(positions { Record.keptFields.contains($0.name) })
            indexed = positions { $0.isIndexed && !$0.isPrimaryKey }
            unique = positions(\.isUnique)
            let stored = Record.schema.storedDescription
            uniqueIndexes = stored.uniqueIndexes.map { UniqueIndex($0, of: stored) }
            conditions = stored.indexes.compactMap { $0.condition?.node(of: fields.map(\.name)) }
            numeric = columns.indices.filter { columns[$0].isNumeric && !fields[$0].isPrimaryKey }
            ordered = positions { $0.type.kind.isOrdered }
            choices = columns.enumerated().reduce(into: [:]) { $0[$1.offset] = KnownValue.all(of: $1.element.type) }
            let (key, choices) = (key, choices)
            predicates = PredicateGenerator(
                description, elements: Record.schema.elementTypes,
                members: columns.map { $0.type is any ShapeField.Type ? PropertyTesting.Shape.members : [] },
                mixesDecimalsAndFloats: false
            ) {
                index, random in
                let kind = fields[index].type.kind
                if index == key { return random.pick(HardValues.keys(kind)) }
                return ReferenceState.stored(choices[index].map { random.pick($0).value } ?? random.value(of: kind))
            }
            types = columns.compactMap { PropertyTesting.GeneratedType($0.type) }
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

/// A field with a shape, or none.
private protocol ShapeField {}
extension PropertyTesting.Shape: ShapeField {}
extension Optional: ShapeField where Wrapped: ShapeField {}
