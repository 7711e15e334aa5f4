import DAOCore
import Foundation

/// A query with a fault in its conditions, its order or its window.
struct FaultyQuery<Record: Model> {
    let storage: FaultyStorage<Record>
    var query: Query<Record>

    private var fault: Fault { storage.fault }
    private var schema: Schema<Record> { Record.schema }

    func run() throws -> [Record] {
        do {
            return try window(records()).map(storage.given)
        } catch let error as StorageError where error.kind == .corruptedValue {
            return try storage.handled(error)
        }
    }

    /// Returns the matching rows, in order.
    private func records() throws -> [Record] {
        var unlimited = query
        (unlimited.limit, unlimited.offset) = (nil, 0)
        var resolved = try unlimited.resolved()
        let whole = resolved.filter
        // The walk needs more stack than a deep condition may have. A thread for every query would cost minutes.
        let filter =
            fault.chapter == .predicates || fault == .comparesSetsInOrder
            ? try elsewhere { changed(whole) } : throughPartialIndex(whole)
        guard filter != resolved.filter || changesOrder else { return throughElements(try storage.base.read(unlimited), filter) }
        resolved.filter = filter
        if fault == .ignoresDirection { resolved.order = resolved.order.map { SortTerm($0.subject, isAscending: true) } }
        if fault == .ignoresSecondTerm, resolved.order.count > 2 { resolved.order.remove(at: 1) }
        if fault == .breaksTiesBackwards, resolved.order.count > 1 {
            resolved.order[resolved.order.count - 1].isAscending = false
        }
        switch fault {
        case .nilStaysInPlace:
            for term in resolved.order.indices { resolved.order[term].nilsFirst = resolved.order[term].isAscending }
        case .conditionsSortNothing: resolved.order.removeAll { if case .condition = $0.subject { true } else { false } }
        case .sortsFoldedByBytes:
            for term in resolved.order.indices {
                if case .folded(let field, _) = resolved.order[term].subject { resolved.order[term].subject = .field(field) }
            }
        case .breaksTiesOfFoldedByKey:
            for case .folded(let field, _) in resolved.order.map(\.subject) {
                resolved.order.removeAll { $0.field == field && field != schema.description.keyIndex }
            }
        default: break
        }
        let matching = try resolved.evaluate(over: try storage.base.read(Query()))
        return sorted(matching, resolved)
    }

    /// The filter of the rows that a query finds through a partial index with a fault.
    private func throughPartialIndex(_ filter: Filter) -> Filter {
        guard fault == .partialIndexKeepsRows || fault == .partialIndexServesAnyQuery else { return filter }
        let conditions = schema.storedDescription.indexes.compactMap { $0.filter(of: schema.description) }
        if fault == .partialIndexServesAnyQuery {
            let wrong = conditions.first { !filter.implies($0) && !filter.fields.isDisjoint(with: $0.fields) }
            return .every([filter, wrong ?? .all])
        }
        // Rows that have left the condition are still in the index, which is not checked again.
        guard let condition = conditions.first(where: filter.implies) else { return filter }
        if case .and(let parts) = filter { return .every(parts.filter { !condition.implies($0) }) }
        return condition.implies(filter) ? .all : filter
    }

    /// The rows that a query finds through an index on elements with a fault.
    private func throughElements(_ records: [Record], _ filter: Filter) -> [Record] {
        guard fault == .indexesFirstElement || fault == .indexesEqualElements else { return records }
        let indexed = schema.description.indexes.compactMap { index in
            index.elements.flatMap { elements in schema.description.index(of: index.fieldNames).map { ($0, elements.kind) } }
        }
        let parts: [Filter] = if case .and(let parts) = filter { parts } else { [filter] }
        for case .embedded(let part, isNegated: false) in parts {
            guard let kind = indexed.first(where: { $0.0 == part.field })?.1,
                case .compare(field: 0, .equal, let value) = part.condition
            else { continue }
            func elements(_ record: Record) -> [Value] {
                guard case .string(let json) = schema.value(at: part.field, of: record) else { return [] }
                return EmbeddedPart.elements(of: json, kind) ?? []
            }
            // Only the first element of an array is in the index, or an element as often as the array has it.
            return fault == .indexesFirstElement
                ? records.filter { elements($0).first == value }
                : records.flatMap { record in elements(record).filter { $0 == value }.map { _ in record } }
        }
        return records
    }

    private var changesOrder: Bool {
        switch fault {
        case .sortsTextLikeSwift, .ignoresDirection, .ignoresSecondTerm, .breaksTiesBackwards, .sortsNilLast, .sortsNaNFirst,
            .ordersKeysAsText,
            .ordersKeysLikeSwift,
            .ordersNegativesLast, .nilStaysInPlace, .sortsFoldedByBytes, .conditionsSortNothing, .breaksTiesOfFoldedByKey:
            true
        default: false
        }
    }

    /// Sorts rows again when the fault is in the comparison of values.
    private func sorted(_ records: [Record], _ resolved: ResolvedQuery) -> [Record] {
        let term = resolved.order[0]
        func value(_ record: Record) -> Value { term.value { schema.value(at: $0, of: record) } }
        switch fault {
        case .sortsNilLast where resolved.order.count > 1:
            let (nils, others) = (records.filter { value($0).isNull }, records.filter { !value($0).isNull })
            return term.isAscending ? others + nils : nils + others
        case .sortsNaNFirst where resolved.order.count > 1:
            func isNaN(_ record: Record) -> Bool { if case .double(let number) = value(record) { number.isNaN } else { false } }
            return records.filter(isNaN) + records.filter { !isNaN($0) }
        case .sortsTextLikeSwift
        where resolved.order.count > 1 && term.field.map { schema.description.fields[$0].type.kind == .string } == true:
            let nils = records.filter { value($0).isNull }
            let others = records.filter { !value($0).isNull }.sorted { left, right in
                guard case .string(let left) = value(left), case .string(let right) = value(right) else { return false }
                return term.isAscending ? left < right : left > right
            }
            return term.isAscending ? nils + others : others + nils
        case .ordersKeysAsText where resolved.isInKeyOrder:
            return records.sorted { UniqueID(schema.key(of: $0)).rawValue < UniqueID(schema.key(of: $1)).rawValue }
        case .ordersKeysLikeSwift where resolved.isInKeyOrder:
            return records.sorted { left, right in
                guard case .string(let left) = schema.key(of: left), case .string(let right) = schema.key(of: right) else {
                    return false
                }
                return left < right
            }
        case .ordersNegativesLast where resolved.isInKeyOrder:
            return records.sorted { left, right in
                guard case .integer(let left) = schema.key(of: left), case .integer(let right) = schema.key(of: right) else {
                    return false
                }
                return UInt64(bitPattern: left) < UInt64(bitPattern: right)
            }
        default: return records
        }
    }

    private func window(_ records: [Record]) throws -> [Record] {
        var (limit, offset) = (query.limit, query.offset)
        if fault != .acceptsNegatives {
            _ = try query.resolved()
        } else {
            (limit, offset) = (limit.map { max($0, 0) }, max(offset, 0))
        }
        switch fault {
        case .ignoresLimit: limit = nil
        case .limitsEndBeforeABatch: limit = limit.map { $0 == 256 ? 255 : $0 }
        case .limitOffByOne: limit = limit.map { $0 == .max ? $0 : $0 + 1 }
        case .offsetOffByOne: offset = offset > 0 ? offset - 1 : 0
        case .ignoresOffset: offset = 0
        case .pagesSkipARow: if query.after != nil, offset == 0 { offset = 1 }
        default: break
        }
        let rest = records.dropFirst(offset)
        return Array(limit.map { rest.prefix($0) } ?? rest)
    }

    /// Returns the filter with the fault.
    private func changed(_ filter: Filter) -> Filter {
        switch (fault, filter) {
        case (.ignoresAnd, .and(let filters)): return changed(filters[0])
        case (_, .and(let filters)): return .and(filters.map(changed))
        case (_, .or(let filters)): return .or(filters.map(changed))
        case (.threeValuedNil, .compare(let field, .notEqual, _)): return .and([filter, .isNull(field: field, false)])
        case (.orderingMatchesNil, .compare(let field, .less, _)), (.orderingMatchesNil, .compare(let field, .lessOrEqual, _)):
            return .or([filter, .isNull(field: field, true)])
        case (.nanEqualsNothing, .compare(_, .equal, .double(let number))) where number.isNaN: return .none
        case (.comparesTextWithoutCase, .compare(let field, .equal, .string(let text))):
            return .text(field: field, TextPattern(.equals, text, [.caseInsensitive]), isNegated: false)
        case (.comparesTheFirst240Bytes, .compare(let field, .equal, .string(let text))) where text.utf8.count > 240:
            return .text(
                field: field, TextPattern(.hasPrefix, String(decoding: text.utf8.prefix(240), as: UTF8.self), []),
                isNegated: false)
        case (.ignoresTextOptions, .text(let field, let pattern, let isNegated)):
            return .text(field: field, TextPattern(pattern.match, pattern.text, []), isNegated: isNegated)
        case (.hitsEndBeforeMarks, .text(let field, let pattern, isNegated: false))
        where !pattern.options.isEmpty && pattern.match != .equals:
            let dropsMarks = TextPattern(pattern.match, pattern.text, pattern.options.union(.diacriticInsensitive))
            return .or([filter, .text(field: field, dropsMarks, isNegated: false)])
        case (.hitsHalfOfFolded, .text(let field, let pattern, isNegated: false))
        where pattern.match == .contains && pattern.options.contains(.caseInsensitive):
            // Where only half of the last letter is the pattern's.
            let half = TextPattern(.contains, pattern.text + "s", pattern.options)
            return .or([filter, .text(field: field, half, isNegated: false)])
        case (.knowsASCIICaseOnly, .text(let field, let pattern, let isNegated)) where !pattern.text.utf8.allSatisfy { $0 < 128 }:
            let options = pattern.options.subtracting(.caseInsensitive)
            return .text(field: field, TextPattern(pattern.match, pattern.text, options), isNegated: isNegated)
        case (.indexMissesARow, .compare(let field, .equal, _))
        where schema.description.fields[field].isIndexed && field != schema.description.keyIndex:
            return .and([filter, .compare(field: schema.description.keyIndex, .notEqual, forgotten)])
        case (.cutsLongLists, .isIn(let field, let set, let isNegated)):
            return .isIn(field: field, ValueSet(Array(set.values.prefix(999))), isNegated: isNegated)
        case (.emptyListMatchesAll, .none): return .all
        case (.countsNilArraysAsEmpty, .embedded(let part, let isNegated)) where part.part == .count:
            let holds = part.condition.matches { _ in .integer(0) } != isNegated
            return holds ? .or([filter, .isNull(field: part.field, true)]) : .and([filter, .isNull(field: part.field, false)])
        case (.membersOfNilMatchNothing, .embedded(let part, _)):
            if case .member = part.part { return .and([filter, .isNull(field: part.field, false)]) }
            return filter
        case (.searchesShortArraysOnly, .embedded(let part, isNegated: false)) where part.part != .count:
            let isShort = PredicateNode.embedded(field: part.field, .count, .compare(field: 0, .equal, .integer(1)))
            return .every([filter, (try? isShort.filter(for: schema.description)) ?? .none])
        case (.comparesSetsInOrder, .compare(let field, .equal, .string(let json)))
        where schema.description.fields[field].content?.elements == nil && json.contains(/\[[^\]]+,/): return .none
        case (.comparesAsText, .compare(let field, .less, .integer(let number))) where number > 9:
            return .or([filter, .compare(field: field, .equal, .integer(number &* 10))])
        default: return filter
        }
    }

    /// The key of the row that an index misses.
    private var forgotten: Value {
        switch schema.description.keyKind {
        case .string: .string("a")
        case .uuid: .uuid(UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)))
        default: .integer(1)
        }
    }
}
