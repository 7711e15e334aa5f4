import Foundation

/// The change that a declaration asks of a stored entity: the source of the value of every field, and the
/// obstacles.
///
/// A stored field that is not declared is retired: it remains as it is. Only a field that the declaration
/// drops is removed. Creating a change does not modify the database; see ``EntityStore``.
public struct EntityChange: Sendable {
    /// The source of a field's value.
    public enum Source: Sendable, Equatable {
        /// A stored field, by its position.
        case stored(Int)
        /// The same value in every existing row.
        case value(Value)
    }

    /// The stored description of the entity.
    public let stored: EntityDescription
    /// The wanted description of the entity: the stored fields in their order, without those that are
    /// dropped, then the added fields.
    public private(set) var wanted: EntityDescription
    /// The source of the value of every wanted field.
    public let sources: [Source]
    /// The replacement of a stored nil for every wanted field. It is nil where a stored nil remains, or where
    /// nil cannot be stored.
    public let fills: [Value?]
    /// What writes the embedded values of a wanted field anew, where the stored entity does not say what it contains.
    private let recodings: [Recoding?]
    /// Descriptions of the changes; empty when the entity is as declared.
    public private(set) var steps: [String]
    /// Descriptions of the differences that need a migration step; empty when the change is automatic
    /// (contract E3).
    public let obstacles: [String]
    /// Whether the model can use the entity without the change: only defaults differ, what embedded fields contain, or the index for
    /// searches.
    public let canWait: Bool

    /// Determines the change that a declaration asks of a stored entity.
    ///
    /// - Parameters:
    ///   - stored: The stored description of the entity.
    ///   - declaration: The declaration of the entity.
    public init(from stored: EntityDescription, to declaration: EntityDeclaration) {
        self.stored = stored
        let declared = declaration.description
        let origins = Self.origins(stored, declaration)
        var users: [Int?] = Array(repeating: nil, count: stored.fields.count)
        for (index, origin) in origins.enumerated() { if let origin { users[origin] = index } }
        var finding = Finding()
        let isDropped = { (field: FieldDescription) in declaration.dropped.contains { $0.hasSameBytes(as: field.name) } }
        let going = stored.fields.indices.filter { users[$0] == nil }.map { stored.fields[$0] }
            .filter { !isDropped($0) && !declaration.lacks($0) }
        let coming = declared.fields.indices.filter { origins[$0] == nil }.map { declared.fields[$0] }
        for (origin, field) in stored.fields.enumerated() {
            if let index = users[origin] {
                finding.keep(
                    field, at: origin, as: declared.fields[index], declaration.defaults[index],
                    declaration.recodings.isEmpty ? nil : declaration.recodings[index])
            } else if isDropped(field) {
                finding.drop(field)
            } else {
                finding.retire(field, at: origin, isElsewhere: declaration.lacks(field), coming)
            }
        }
        for (index, field) in declared.fields.enumerated() where origins[index] == nil {
            finding.add(field, declaration.defaults[index], going)
        }
        finding.checkNames()
        finding.findIndexes(stored, users, declared, finding.sources)
        // What one build asks to be logged, an older one does not end.
        let log: EntityLog? = declaration.endsLog ? nil : stored.log == .values ? .values : declared.log ?? stored.log
        if log != stored.log { finding.steps.append(log.map { "changes are logged (\($0))" } ?? "changes are no longer logged") }
        wanted = EntityDescription(name: declared.name, fields: finding.fields, indexes: finding.indexes, log: log)
        wanted.movedTo = stored.movedTo
        wanted.logSince = log.map { _ in Date() }
        wanted.textIndex = TextIndex.wanted(declared.textIndex, stored.textIndex) { name in
            guard let origin = stored.index(of: name) else { return nil }
            return finding.sources.firstIndex(of: .stored(origin)).map { finding.fields[$0].name }
        }
        var newIndex: [String] = []
        if wanted.textIndex != stored.textIndex {
            let names = wanted.textIndex?.fields.map { "'\($0)'" }.joined(separator: ", ")
            let isNew = wanted.textIndex?.id != stored.textIndex?.id
            newIndex.append(
                names.map { isNew ? "an index for searches of \($0) is made" : "the weights of \($0) in searches change" }
                    ?? "the index for searches goes")
        }
        sources = finding.sources
        fills = finding.fills
        recodings = finding.recodings
        steps = finding.steps + finding.newDefaults + finding.newContents + newIndex
        obstacles = finding.obstacles
        canWait = finding.steps.isEmpty && finding.obstacles.isEmpty
    }

    /// The change by which an entity takes no writes any more, or takes them again (contract D6).
    ///
    /// - Parameters:
    ///   - stored: The stored description of the entity.
    ///   - place: The place of the database that has taken over the rows; nil when this one takes them again.
    init(moving stored: EntityDescription, to place: String?) {
        self.init(from: stored, to: EntityDeclaration(stored))
        wanted.movedTo = place
        steps.append(place.map { "the rows have moved to '\($0)'" } ?? "the rows are here again")
    }

    /// Whether the entity is as declared.
    public var isEmpty: Bool { steps.isEmpty && obstacles.isEmpty }

    /// The indexes of the wanted entity in its row form, and for each the stored index with the same fields and
    /// directions, under the stored names. That index can be unique where the wanted one is not, and the reverse.
    public var indexSources: [(wanted: IndexDescription, stored: IndexDescription?)] {
        let (old, new) = (stored.rowForm, wanted.rowForm)
        let oldIndexes = old.allIndexes
        return new.allIndexes.map { index in
            var isOnStoredFields = true
            let origin = index.renamed { name in
                guard let position = new.index(of: name), case .stored(let source) = sources[position] else {
                    isOnStoredFields = false
                    return name
                }
                return old.fields[source].name
            }
            if !isOnStoredFields { return (index, nil) }
            return (index, oldIndexes.first { $0.hasSameFields(as: origin) })
        }
    }

    /// Returns the new values of a stored row.
    public func row(_ stored: [Value]) -> [Value] {
        sources.indices.map { index in
            switch sources[index] {
            case .stored(let origin):
                if stored[origin].isNull, let fill = fills[index] { return fill }
                return recoded(stored[origin], at: index)
            case .value(let value): return value
            }
        }
    }

    /// Returns the new values of a row that has the wanted fields already.
    func recoded(_ values: [Value]) -> [Value] { values.enumerated().map { recoded($1, at: $0) } }

    private func recoded(_ value: Value, at index: Int) -> Value {
        guard let recoding = recodings[index], case .string(let json) = value else { return value }
        return .string(recoding.text(json, wanted.fields[index]))
    }

    /// Whether stored rows get other embedded values.
    var recodesRows: Bool { recodings.contains { $0 != nil } }

    /// Returns the error that lists all differences.
    ///
    /// - Parameter path: The path of the database's file.
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

/// Writes the embedded values of a field anew.
private struct Recoding: Sendable {
    private let recoding: EmbeddedRecoding?

    init(_ recoding: EmbeddedRecoding?) { self.recoding = recoding }

    /// What cannot be read stays as it is: reading the row reports it.
    func text(_ json: String, _ field: FieldDescription) -> String {
        recoding?.text(json) ?? field.content?.canonical(json) ?? json
    }
}

extension EntityChange {
    /// Returns the position of the stored field for every declared field. The stored field can have an
    /// earlier name.
    ///
    /// A declared rename takes precedence over the name of a stored field: `b`, renamed from `a`, beside a
    /// new field `a`, has the values of the stored `a`. The rename applies only while the new name is not
    /// stored, or while the stored field of that name was itself renamed.
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

    /// The results for each field.
    private struct Finding {
        var fields: [FieldDescription] = []
        var indexes: [IndexDescription] = []
        var sources: [Source] = []
        var fills: [Value?] = []
        var steps: [String] = []
        var newDefaults: [String] = []
        var newContents: [String] = []
        var recodings: [Recoding?] = []
        var obstacles: [String] = []

        mutating func keep(
            _ old: FieldDescription, at origin: Int, as declared: FieldDescription, _ value: Value?, _ recoding: EmbeddedRecoding?
        ) {
            var new = declared
            if old.type.kind == .embedded, new.content == nil { new.content = old.content }
            let isOther = new.type.kind == .embedded && old.type.kind == .embedded && new.content != old.content
            // JSON that is canonical already stays: an array of integers loses digits as one of floating-point numbers.
            recodings.append(isOther && old.content == nil ? Recoding(recoding) : nil)
            if isOther, let content = new.content { newContents.append("'\(new.name)' is said to contain \(content)") }
            if new.defaultValue == nil { new.defaultValue = old.defaultValue }
            if !new.type.isOptional, new.defaultValue?.isNull == true { new.defaultValue = nil }
            fields.append(new)
            sources.append(.stored(origin))
            if new.defaultValue != old.defaultValue { newDefaults.append("the default of '\(new.name)' changes") }
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
            } else if old.relation?.keyKind != new.relation?.keyKind {
                obstacles.append(
                    "'\(new.name)' leads to rows with keys of type \(old.relation?.keyKind.rawValue ?? "none") and is declared to "
                        + "lead to rows with keys of type \(new.relation?.keyKind.rawValue ?? "none")")
            } else if old.relation != new.relation {
                if old.relation?.cascades != new.relation?.cascades {
                    steps.append("'\(new.name)' \(new.relation?.cascades == true ? "cascades" : "no longer cascades")")
                }
                if let erasure = new.relation?.targetErasure, erasure != old.relation?.targetErasure {
                    steps.append("erasing a row that '\(new.name)' leads to means \(erasure.rawValue)")
                }
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

        mutating func add(_ field: FieldDescription, _ value: Value?, _ going: [FieldDescription]) {
            recodings.append(nil)
            fields.append(field)
            sources.append(.value(value ?? .null))
            fills.append(nil)
            if field.isPrimaryKey {
                obstacles.append("'\(field.name)', the declared primary key, is not stored")
            } else if value == nil, !field.type.isOptional, field.type.kind != .toMany {
                let earlier = going.filter { $0.canBecome(field) }.map {
                    "; if it is a new name of '\($0.name)', say .renamed(from: \"\($0.name)\")"
                }
                obstacles.append("'\(field.name)' is not stored, is not optional and has no default" + earlier.joined())
            } else {
                steps.append("'\(field.name)' is added")
            }
        }

        mutating func retire(
            _ field: FieldDescription, at origin: Int, isElsewhere: Bool, _ coming: [FieldDescription]
        ) {
            let names = coming.filter { field.canBecome($0) }.map { "'\($0.name)'" }.joined(separator: " or ")
            let renaming = names.isEmpty ? nil : "say .renamed(from: \"\(field.name)\") if its new name is \(names)"
            recodings.append(nil)
            fields.append(field)
            sources.append(.stored(origin))
            fills.append(nil)
            if field.isPrimaryKey {
                obstacles.append(
                    "'\(field.name)', the stored primary key, is not declared" + (renaming.map { "; \($0)" } ?? ""))
            } else if isElsewhere {
                return
            } else if let successor = coming.first(where: { field.canBecome($0) && $0.type == field.type }) {
                // Also where the field can retire: the new one would read as nil.
                obstacles.append(
                    "'\(field.name)' is stored and not declared, and '\(successor.name)', of the same type, is declared and not stored; "
                        + "say .renamed(from: \"\(field.name)\") at '\(successor.name)' when that is its new name, "
                        + ".dropped(\"\(field.name)\") when its values are to go, or declare both")
            } else if !field.canRetire {
                obstacles.append(
                    "'\(field.name)' is stored, is not optional and has no default, and is not declared; "
                        + "\(renaming ?? "declare it"), or say .dropped(\"\(field.name)\")")
            }
        }

        mutating func drop(_ field: FieldDescription) {
            if field.isPrimaryKey {
                obstacles.append("'\(field.name)', the stored primary key, is dropped")
            } else {
                steps.append("'\(field.name)' is dropped")
            }
        }

        /// Determines the indexes over several fields: those that are declared, and the stored indexes with a field
        /// that is retired.
        mutating func findIndexes(
            _ stored: EntityDescription, _ users: [Int?], _ declared: EntityDescription, _ sources: [Source]
        ) {
            indexes = declared.indexes
            var isNew = Set(indexes.map(\.description))
            for old in stored.indexes {
                var (hasRetiredFields, hasDroppedFields) = (false, false)
                func current(_ name: String) -> String {
                    guard let origin = stored.index(of: name), let position = sources.firstIndex(of: .stored(origin)) else {
                        hasDroppedFields = true
                        return name
                    }
                    if users[origin] == nil { hasRetiredFields = true }
                    return fields[position].name
                }
                let index = old.renamed(current)
                if !hasDroppedFields, let new = declared.indexes.first(where: { $0.hasSameFields(as: index) }) {
                    isNew.remove(new.description)
                    if old.isUnique != new.isUnique {
                        steps.append("the index on '\(new)' is \(new.isUnique ? "now" : "no longer") unique")
                    }
                } else if hasRetiredFields, !hasDroppedFields {
                    indexes.append(index)
                } else {
                    steps.append("the index on '\(old)' is dropped")
                }
            }
            for index in declared.indexes where isNew.contains(index.description) {
                steps.append("the index on '\(index)' is added")
            }
        }

        /// Checks that no two names are equal, compared case-insensitively, as SQL engines compare them.
        mutating func checkNames() {
            var names: [String: String] = [:]
            for field in fields {
                guard let twin = names.updateValue(field.name, forKey: field.name.lowercased()) else { continue }
                obstacles.append(
                    "'\(field.name)' is declared and '\(twin)' is stored, which differ in case only; say .renamed(from: \"\(twin)\")"
                )
            }
        }
    }
}

extension FieldDescription {
    /// Whether another field can be this one under a new name.
    fileprivate func canBecome(_ other: FieldDescription) -> Bool {
        type.kind == other.type.kind && isPrimaryKey == other.isPrimaryKey && relation?.entity == other.relation?.entity
    }
}
