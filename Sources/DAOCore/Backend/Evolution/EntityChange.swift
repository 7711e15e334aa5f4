/// How a stored entity becomes the declared one: where the value of every field comes from, and what stands in the way.
///
/// Nothing is changed by making one; see ``EntityStore``.
public struct EntityChange: Sendable {
    /// Where the value of a field comes from.
    public enum Source: Sendable, Equatable {
        /// A stored field, by its position.
        case stored(Int)
        /// The same value in every row that is there.
        case value(Value)
    }

    /// The entity as it is stored.
    public let stored: EntityDescription
    /// The entity as it is to be.
    public let wanted: EntityDescription
    /// For every wanted field where its value comes from.
    public let sources: [Source]
    /// For every wanted field what takes the place of a stored nil; nil where a stored nil stays one, or cannot be.
    public let fills: [Value?]
    /// What changes, in words; empty when the two are the same.
    public let steps: [String]
    /// What only a migration step can do, in words; empty when the change happens by itself (contract E3).
    public let obstacles: [String]

    /// Finds out how a stored entity becomes the declared one.
    ///
    /// - Parameters:
    ///   - stored: The entity as the database has it.
    ///   - declaration: The entity as it is to be.
    public init(from stored: EntityDescription, to declaration: EntityDeclaration) {
        self.stored = stored
        wanted = declaration.description
        let origins = Self.origins(stored, declaration)
        var finding = Finding()
        for (index, field) in wanted.fields.enumerated() {
            if let origin = origins[index] {
                finding.keep(stored.fields[origin], at: origin, as: field, declaration.defaults[index])
            } else {
                finding.add(field, declaration.defaults[index])
            }
        }
        for (index, field) in stored.fields.enumerated() where !origins.contains(index) { finding.drop(field) }
        if finding.steps.isEmpty, finding.obstacles.isEmpty, stored != wanted {
            finding.steps.append("the fields are in another order")
        }
        sources = finding.sources
        fills = finding.fills
        steps = finding.steps
        obstacles = finding.obstacles
    }

    /// Whether nothing differs.
    public var isEmpty: Bool { steps.isEmpty && obstacles.isEmpty }

    /// The values of a row as they are to be, from those that are stored.
    public func row(_ stored: [Value]) -> [Value] {
        sources.indices.map { index in
            switch sources[index] {
            case .stored(let origin):
                if stored[origin].isNull, let fill = fills[index] { return fill }
                return stored[origin]
            case .value(let value): return value
            }
        }
    }

    /// The error that spells out every difference.
    ///
    /// - Parameter path: The database's file.
    public func mismatch(path: String? = nil) -> StorageError {
        StorageError(
            .schemaMismatch,
            "the stored '\(wanted.name)' differs from the declared one in what needs a migration step: "
                + "\(obstacles.joined(separator: "; "))"
                + (steps.isEmpty ? "" : " (beside what changes by itself: \(steps.joined(separator: "; ")))")
                + ". Nothing was changed",
            entity: wanted.name, path: path)
    }
}

extension EntityChange {
    /// For every declared field the position of the stored one that it is, be it under an earlier name.
    ///
    /// A declared rename takes a stored field away from its name: `b` renamed from `a` beside a new `a` is what the stored `a` has become. It
    /// counts only while the new name is not stored, or has gone to another field by a rename.
    private static func origins(_ stored: EntityDescription, _ declaration: EntityDeclaration) -> [Int?] {
        let fields = declaration.description.fields
        var origins: [Int?] = Array(repeating: nil, count: fields.count)
        var taken: Set<Int> = []
        var isSettled = false
        while !isSettled {
            isSettled = true
            for (index, field) in fields.enumerated() where origins[index] == nil {
                if let own = stored.index(of: field.name), !taken.contains(own) { continue }
                let earlier = declaration.earlierNames[index].lazy.compactMap { stored.index(of: $0) }
                guard let origin = earlier.first(where: { !taken.contains($0) }) else { continue }
                origins[index] = origin
                taken.insert(origin)
                isSettled = false
            }
        }
        for (index, field) in fields.enumerated() where origins[index] == nil {
            if let own = stored.index(of: field.name), taken.insert(own).inserted { origins[index] = own }
        }
        return origins
    }

    /// What is found out field by field.
    private struct Finding {
        var sources: [Source] = []
        var fills: [Value?] = []
        var steps: [String] = []
        var obstacles: [String] = []

        mutating func keep(_ old: FieldDescription, at origin: Int, as new: FieldDescription, _ value: Value?) {
            sources.append(.stored(origin))
            var fill: Value?
            if !old.name.hasSameBytes(as: new.name) { steps.append("'\(old.name)' becomes '\(new.name)'") }
            if old.type.kind != new.type.kind {
                obstacles.append("'\(new.name)' is stored as \(old.type) and declared as \(new.type)")
            } else if old.type.isOptional, !new.type.isOptional {
                if let value, !value.isNull {
                    fill = value
                    steps.append("'\(new.name)' is no longer optional, nil becomes the default")
                } else {
                    obstacles.append(
                        "'\(new.name)' is stored as \(old.type) and declared as \(new.type), without a default for nil")
                }
            } else if old.type != new.type {
                steps.append("'\(new.name)' becomes optional")
            }
            fills.append(fill)
            if old.relation?.entity != new.relation?.entity {
                obstacles.append(
                    "'\(new.name)' leads to '\(old.relation?.entity ?? "nothing")' and is declared to lead to "
                        + "'\(new.relation?.entity ?? "nothing")'")
            } else if old.relation != new.relation {
                steps.append("'\(new.name)' \(new.relation?.cascades == true ? "cascades" : "no longer cascades")")
            }
            if old.isPrimaryKey != new.isPrimaryKey {
                obstacles.append("'\(new.name)' is \(old.isPrimaryKey ? "" : "not ")the stored primary key")
            } else if old.isUnique != new.isUnique {
                steps.append("'\(new.name)' is \(new.isUnique ? "now" : "no longer") unique")
            }
            if !old.isPrimaryKey, !new.isPrimaryKey, old.isIndexed != new.isIndexed {
                steps.append("the index on '\(new.name)' is \(new.isIndexed ? "added" : "dropped")")
            }
        }

        mutating func add(_ field: FieldDescription, _ value: Value?) {
            sources.append(.value(value ?? .null))
            fills.append(nil)
            if field.isPrimaryKey {
                obstacles.append("'\(field.name)', the declared primary key, is not stored")
            } else if value == nil, !field.type.isOptional, field.type.kind != .toMany {
                obstacles.append("'\(field.name)' is not stored, is not optional and has no default")
            } else {
                steps.append("'\(field.name)' is added")
            }
        }

        mutating func drop(_ field: FieldDescription) {
            if field.isPrimaryKey {
                obstacles.append("'\(field.name)', the stored primary key, is not declared")
            } else {
                steps.append("'\(field.name)' is dropped")
            }
        }
    }
}
