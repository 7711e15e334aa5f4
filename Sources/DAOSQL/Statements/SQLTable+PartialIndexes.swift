import DAOCore

/// A part of the condition of a partial index, as a filter and as SQL without parameters.
///
/// An engine uses a partial index for a statement that has the text of its condition. It does not know what a parameter is.
struct IndexConditionPart: Sendable {
    let filter: Filter
    let text: String
    /// The text for a statement that reads another table, too.
    let qualifiedText: String
}

/// The condition of a partial index.
struct IndexConditionText: Sendable {
    /// The condition.
    let filter: Filter
    /// Its parts, all of which hold.
    let parts: [IndexConditionPart]

    /// The condition as SQL.
    var text: String { parts.map(\.text).joined(separator: " AND ") }
}

extension IndexDescription {
    /// What the name of a partial index begins with, by which it is found: engines write its condition in another way.
    package var namePrefix: String? {
        guard let condition else { return nil }
        let hash = condition.description.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "where_\(String(hash, radix: 36))_"
    }
}

extension SQLTable {
    /// The condition of a partial index; nil when the index has all rows, and when the dialect has no text for a value.
    func condition(of index: IndexDescription) -> IndexConditionText? {
        guard let filter = index.filter(of: entity) else { return nil }
        let parts = filter.conjuncts.compactMap { part in
            text(of: part, columns, comparable).flatMap { text in
                self.text(of: part, qualified.stored, qualified.comparable).map {
                    IndexConditionPart(filter: part, text: text, qualifiedText: $0)
                }
            }
        }
        return parts.count == filter.conjuncts.count && !parts.isEmpty ? IndexConditionText(filter: filter, parts: parts) : nil
    }

    /// Writes a filter without parameters. It is null, or false, for the rows that do not match.
    private func text(of filter: Filter, _ columns: [String], _ comparable: [String]) -> String? {
        func joined(_ filters: [Filter], _ word: String) -> String? {
            let texts = filters.compactMap { text(of: $0, columns, comparable) }
            return texts.count == filters.count ? "(\(texts.joined(separator: " \(word) ")))" : nil
        }
        switch filter {
        case .and(let filters): return joined(filters, "AND")
        case .or(let filters): return joined(filters, "OR")
        case .isNull(let field, let expected): return columns[field] + (expected ? " IS NULL" : " IS NOT NULL")
        case .compare(let field, let comparison, let value):
            guard let constant = dialect.constant(value) else { return nil }
            if comparison == .notEqual, entity.fields[field].type.isOptional {
                return dialect.isSame(comparable[field], constant, isNegated: true)
            }
            return comparable[field] + comparison.sql + constant
        case .isIn(let field, let set, let isNegated):
            let constants = set.values.compactMap(dialect.constant)
            if constants.isEmpty || constants.count < set.values.count { return nil }
            let condition = "\(comparable[field]) IN (\(constants.joined(separator: ", ")))"
            return isNegated ? "NOT COALESCE(\(condition), 1=0)" : condition
        case .all, .none, .compareFields, .text, .compareFolded, .related, .embedded: return nil
        }
    }
}
