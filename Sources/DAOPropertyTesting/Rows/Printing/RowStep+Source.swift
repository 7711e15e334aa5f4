import DAOCore

extension RowStep {
    /// Stands for the nested steps, after their indentation.
    static let nestedSteps = "{}"

    /// The Swift type of the step's result.
    var resultType: String {
        switch verb {
        case .create, .persist, .upsert, .transaction, .snapshot, .invalid, .translate, .closeInside, .unpromised: "Void"
        case .findOrCreate: entity.typeName
        case .readKey: "\(entity.typeName)?"
        case .readKeys, .read, .forEach: "[\(entity.typeName)]"
        case .keys: "[Key]"
        case .exists, .existsKey: "Bool"
        case .cursor, .pages, .watch: "[[\(entity.typeName)]]"
        default: "Int"
        }
    }

    /// The calls of the step, one per line. A single line needs no `return`.
    var source: [String] {
        let dao = entity.variable
        let query = SwiftLiteral.query(query, entity)
        func rows() -> String { SwiftLiteral.rows(self.rows, entity) }
        func ids() -> String { "[" + self.ids.map { "UniqueID(\(SwiftLiteral.string($0)))" }.joined(separator: ", ") + "]" }
        func id() -> String { "UniqueID(\(SwiftLiteral.string(self.ids[0])))" }
        switch verb {
        case .create: return ["try \(dao).create(\(self.rows.count == 1 ? SwiftLiteral.row(self.rows[0], entity) : rows()))"]
        case .persist:
            let translating = "DAO(storage: \(dao).storage, translator: PropertyTesting.Merging<\(entity.typeName)>())"
            return ["try \(flag ? translating : dao).persist(\(rows()))"]
        case .upsert: return ["try \(dao).storage.persist(objects: \(rows()))"]
        case .merge:
            let position = number.map { ", failsAt: \($0)" } ?? ""
            let options = (flag ? ", inserts: false" : "") + position
            return ["try PropertyTesting.merge(\(rows()), into: \(dao).storage\(options))"]
        case .update: return updateSource
        case .set:
            let (change, condition) = (changes[0], SwiftLiteral.condition(self.query.node))
            let value = SwiftLiteral.value(change.value, at: change.field, of: entity)
            return ["try \(dao).set(\\.\(entity.property(change.field)), to: \(value), where: \(condition))"]
        case .increment:
            let node = SwiftLiteral.source(PredicateNode.compare(field: 0, .equal, keyOfFirst))
            let field = entity.fields[field].name
            return [
                "return try \(dao).storage.update(Query<\(entity.typeName)>(where: Condition(\(node)))) { record in",
                "    record.\(field) &+= 1", "}",
            ]
        case .translate:
            return [
                "let calling = PropertyTesting.\(mergesRow ? "CallingMerging" : "Calling")<\(entity.typeName)> { index in",
                "    " + Self.nestedSteps, "}",
                "try DAO(storage: \(dao).storage, translator: calling).\(flag ? "persist" : "create")(\(rows()))",
            ]
        case .watch:
            let name = flag ? "watcher" : "_"
            return ["try PropertyTesting.watch(\(dao), \(query)) { \(name) in", "    " + Self.nestedSteps, "}"]
        case .closeInside: return ["try database.transaction { () throws -> Void in try database.close() }"]
        case .unpromised: return ["try database.underlying(as: UnknownHandle.self) { _ in }"]
        case .findOrCreate:
            return ["try \(dao).findOrCreate(byPrimaryKey: \(id())) { \(SwiftLiteral.row(self.rows[0], entity)) }"]
        case .eraseRows: return ["try \(dao).erase(\(rows()))"]
        case .eraseKeys: return ["try \(dao).erase(byPrimaryKeys: \(ids()) as [UniqueID])"]
        case .eraseQuery: return ["try \(dao).storage.erase(\(query))"]
        case .eraseAll: return ["try \(dao).erase()"]
        case .readKey: return ["try \(dao).read(byPrimaryKey: \(id()))"]
        case .readKeys: return ["try \(dao).read(byPrimaryKeys: \(ids()) as [UniqueID])"]
        case .read: return ["try \(dao).read(\(query))"]
        case .count: return ["try \(dao).count(\(query))"]
        case .keys: return ["try \(dao).storage.keys(\(query))"]
        case .exists: return ["try \(dao).storage.count(\(query)) > 0"]
        case .existsKey: return ["try \(dao).exists(byPrimaryKey: \(id()))"]
        case .total:
            return [
                "try \(dao).\(total)(\\.\(entity.property(field)), where: \(SwiftLiteral.condition(self.query.node)))"
            ]
        case .forEach: return ["try PropertyTesting.walk(\(dao), \(query)\(number.map { ", upTo: \($0)" } ?? ""))"]
        case .cursor:
            let options = flag ? ", leavesRest: true" : ""
            return aroundInner("try PropertyTesting.stream(\(dao), \(query), first: \(number ?? 1)\(options))")
        case .pages:
            let options = flag ? ", recodes: true" : ""
            return aroundInner("try PropertyTesting.pages(\(dao), \(query), of: \(number ?? 1)\(options))")
        case .transaction:
            return ["try database.transaction { () throws -> Void in", "    " + Self.nestedSteps]
                + (flag ? ["    throw PropertyTesting.Abort()"] : []) + ["}"]
        case .snapshot: return ["try database.snapshot { () throws -> Void in", "    " + Self.nestedSteps, "}"]
        case .invalid: return ["_ = try database.storage(for: \(entity.typeName).self)"]
        default: return []
        }
    }

    /// The key that `ids[0]` stands for.
    private var keyOfFirst: Value { (try? ReferenceState.key(ids[0], entity)) ?? .null }

    /// A call with the nested steps as its closure.
    private func aroundInner(_ call: String) -> [String] {
        inner.isEmpty ? [call] : [call + " {", "    " + Self.nestedSteps, "}"]
    }

    private var updateSource: [String] {
        let changes = changes.map {
            "    record.\(entity.property($0.field)) = \(SwiftLiteral.value($0.value, at: $0.field, of: entity))"
        }
        let call = "return try \(entity.variable).storage.update(\(SwiftLiteral.query(query, entity))) { record in"
        guard let number else { return [call] + (changes.isEmpty ? ["    _ = record"] : changes) + ["}"] }
        return ["var index = 0", call, "    if index == \(number) { throw PropertyTesting.Abort() }"] + changes + [
            "    index += 1", "}",
        ]
    }
}
