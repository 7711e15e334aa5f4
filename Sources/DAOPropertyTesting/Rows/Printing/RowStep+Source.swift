import DAOCore

extension RowStep {
    /// Stands for the steps inside this one, after as many spaces as they are indented.
    static let nestedSteps = "{}"

    /// What the step gives back, in Swift.
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

    /// The step's calls, a line each; one line alone needs no `return`.
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
        case .merge: return mergeSource
        case .update: return updateSource
        case .increment:
            let node = SwiftLiteral.node(.compare(field: 0, .equal, keyOfFirst))
            let field = entity.fields[field].name
            return [
                "return try \(dao).storage.update(Query<\(entity.typeName)>(where: Condition(\(node)))) { record in",
                "    record.\(field) &+= 1", "}",
            ]
        case .translate:
            return [
                "let calling = PropertyTesting.Calling<\(entity.typeName)> { index in", "    " + Self.nestedSteps, "}",
                "try DAO(storage: \(dao).storage, translator: calling).\(flag ? "persist" : "create")(\(rows()))",
            ]
        case .watch:
            return [
                "let watcher = PropertyTesting.Watcher(\(dao), \(query))", "let first = try watcher.latest()", Self.nestedSteps,
                "let last = try watcher.latest()", "try watcher.stop()", "return [first, last]",
            ]
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
        case .forEach: return forEachSource
        case .cursor:
            return [
                "let cursor = try \(dao).storage.cursor(\(query))",
                "let first = try PropertyTesting.take(\(number ?? 1), from: cursor)",
            ] + (inner.isEmpty ? [] : ["do {", "    " + Self.nestedSteps, "}"])
                + [flag ? "return [first, []]" : "return [first, try PropertyTesting.take(.max, from: cursor)]"]
        case .pages: return pagesSource
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

    private var mergeSource: [String] {
        let fail = number.map { ["    if index == \($0) { throw PropertyTesting.Abort() }"] } ?? []
        return [
            "let rows = \(SwiftLiteral.rows(rows, entity))",
            "return try \(entity.variable).storage.merge(keys: rows.map { try \(entity.typeName).schema.validKey(of: $0) }) { index, record in",
        ] + fail + [
            "    if var stored = record {",
            "        try PropertyTesting.Merging<\(entity.typeName)>().translate(from: rows[index], to: &stored)",
            "        record = stored",
            "    }" + (flag ? "" : " else { record = rows[index] }"),
            "}",
        ]
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

    private var forEachSource: [String] {
        let query = SwiftLiteral.query(query, entity)
        let stop = number.map { ["        if rows.count == \($0) { throw PropertyTesting.Abort() }"] } ?? []
        return ["var rows: [\(entity.typeName)] = []", "do {", "    try \(entity.variable).forEach(\(query)) { record in"] + stop
            + ["        rows.append(record)", "    }", "} catch is PropertyTesting.Abort {}", "return rows"]
    }

    private var pagesSource: [String] {
        [
            "var query = \(SwiftLiteral.query(query, entity))",
            "var pages: [[\(entity.typeName)]] = []",
            "repeat {",
            "    let page = try \(entity.variable).page(query, limit: \(number ?? 1))",
            "    pages.append(page.elements)",
            "    query.after = \(flag ? "try page.next.map(PropertyTesting.recoded)" : "page.next")",
        ] + (inner.isEmpty ? [] : ["    if pages.count == 1 {", "        " + Self.nestedSteps, "    }"]) + [
            "} while query.after != nil && pages.count < \(Self.maximumPages)",
            "return pages",
        ]
    }
}
