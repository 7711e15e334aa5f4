import DAOCore
import Foundation

/// A failing script on rows as Swift.
struct RowScriptPrinter {
    private var lines: [String] = []
    private var depth = 2
    private let failure: FailedScript<RowStep>

    /// The models that the script uses, and its calls.
    static func source(of failure: FailedScript<RowStep>) -> ScriptSource {
        var printer = RowScriptPrinter(failure)
        for (index, step) in failure.script.enumerated() {
            printer.add(step, isLast: index == failure.script.count - 1 ? [] : nil)
        }
        let lines = printer.lines.joined(separator: "\n")
        let databases = printer.declarations.joined(separator: "\n        ")
        let open = printer.hasNeighbour ? "open, openNeighbour" : "open"
        return ScriptSource(
            declarations: printer.models,
            body: """
                    try PropertyTesting.script(on: target) { \(open) in
                        \(databases)
                \(lines)
                    }
                """)
    }

    private init(_ failure: FailedScript<RowStep>) { self.failure = failure }

    private var declarations: [String] {
        let keyword = failure.script.contains(where: \.isAboutAll) ? "var" : "let"
        let databases = ["database = try open()"] + (hasNeighbour ? ["neighbour = try openNeighbour()"] : [])
        return (databases + daos).map { "\(keyword) \($0)" }
    }

    /// The declarations of the models that the script uses.
    private var models: String {
        Self.all(\.declared, in: failure.script).map { "\n" + ModelSource.declaration(of: $0) }.joined()
    }

    /// Whether the script uses two locations.
    private var hasNeighbour: Bool { failure.script.contains(where: \.hasNeighbour) }

    /// The DAOs that the script uses.
    private var daos: [String] { Self.all(\.used, in: failure.script).map(Self.dao) }

    private static func all(_ entities: KeyPath<RowStep, Set<Entity>>, in script: [RowStep]) -> [Entity] {
        script.reduce(into: Set<Entity>()) { $0.formUnion($1[keyPath: entities]) }.sorted { $0.rawValue < $1.rawValue }
    }

    private static func dao(_ entity: Entity) -> String {
        "\(entity.variable) = DAO(storage: try database.storage(for: \(entity.typeName).self))"
    }

    private mutating func line(_ text: String) { lines.append(String(repeating: "    ", count: depth) + text) }

    private mutating func add(_ texts: [String]) { for text in texts { line(text) } }

    /// Adds lines within braces.
    private mutating func block(_ opening: String, _ closing: String = "}", _ body: (inout RowScriptPrinter) -> Void) {
        line(opening)
        depth += 1
        body(&self)
        depth -= 1
        line(closing)
    }

    /// Adds a step.
    ///
    /// - Parameter isLast: The position of the step inside the last one; nil inside another.
    private mutating func add(_ operation: RowStep, isLast path: [Int]?) {
        let isFailing = path == failure.path
        if isFailing {
            line("// expected: \(Self.short(failure.expected))")
            line("// got:      \(Self.short(failure.got))")
        }
        switch operation.verb {
        case .second, .neighbour:
            block("do {") { printer in
                printer.useDatabase(operation.verb == .second ? "try open()" : "neighbour", of: operation)
                printer.add(operation.inner, path, from: 0)
            }
        case .race: addRace(operation, path)
        case .outlive, .outside:
            let opening =
                operation.verb == .outside
                ? "PropertyTesting.elsewhere {" : "try PropertyTesting.inherit(in: database, whileItRuns: \(operation.flag)) {"
            block(opening) { $0.add(operation.inner, path, from: 0) }
        case .compact: line("_ = try database.compact()")
        case .reopen: add(["database = try PropertyTesting.reopen(database, open)"] + daos)
        case .leave:
            if hasNeighbour { line("try neighbour.close()") }
            add(["try database.close()", "database = try open()"])
            if hasNeighbour { line("neighbour = try openNeighbour()") }
            add(daos)
        case .partition, .inclusion, .indexless, .windows, .reversal, .agreement:
            line("// \(operation.verb) of \(SwiftLiteral.query(operation.query, operation.entity))")
        default:
            let source = operation.source
            let expectation = isFailing ? " == ##\"\(Self.oneLine(failure.expected))\"##)" : ""
            let opening = isFailing ? "#expect(PropertyTesting.outcome" : "PropertyTesting.outcome"
            if source.count == 1, operation.nested.isEmpty {
                line("\(opening) { \(source[0]) }\(expectation)")
                return
            }
            block("\(opening) { () throws -> \(operation.resultType) in", "}\(expectation)") { printer in
                for text in source {
                    if text.hasSuffix(RowStep.nestedSteps), text.drop(while: { $0 == " " }) == RowStep.nestedSteps {
                        let levels = (text.count - RowStep.nestedSteps.count) / 4
                        printer.depth += levels
                        printer.addNested(of: operation, path)
                        printer.depth -= levels
                    } else {
                        printer.line(text)
                    }
                }
            }
        }
    }

    /// Declares a database and its DAOs, which hide the outer ones.
    private mutating func useDatabase(_ source: String, of operation: RowStep) {
        add((["database = \(source)"] + Self.all(\.used, in: [operation]).map(Self.dao)).map { "let \($0)" })
    }

    private mutating func addRace(_ operation: RowStep, _ path: [Int]?) {
        let count = max(1, operation.number ?? 2)
        line("try PropertyTesting.atOnce(")
        depth += 1
        for thread in 0..<count {
            block("{", thread == count - 1 ? "})" : "},") { printer in
                if operation.flag, thread % 2 == 1 { printer.useDatabase("try open()", of: operation) }
                for index in stride(from: thread, to: operation.inner.count, by: count) {
                    printer.add(operation.inner[index], isLast: path.map { $0 + [index] })
                }
            }
        }
        depth -= 1
    }

    /// The steps of a translator, each before its row.
    private mutating func addTranslated(_ operation: RowStep, _ path: [Int]?) {
        for index in operation.rows.indices {
            if index == operation.number { line("if index == \(index) { throw PropertyTesting.Abort() }") }
            guard operation.inner.indices.contains(index) else { continue }
            block("if index == \(index) {") { $0.add(operation.inner[index], isLast: path.map { $0 + [index] }) }
        }
    }

    private mutating func addNested(of operation: RowStep, _ path: [Int]?) {
        if operation.verb == .translate { return addTranslated(operation, path) }
        if operation.verb == .watch {
            for (index, step) in operation.inner.enumerated() {
                add(step, isLast: path.map { $0 + [index] })
                if operation.flag { line("_ = try watcher.latest()") }
            }
            return
        }
        add(operation.before, path, from: 0)
        if operation.verb == .snapshot {
            block("PropertyTesting.elsewhere {") { $0.add(operation.inner, path, from: operation.before.count) }
        } else {
            add(operation.inner, path, from: operation.before.count)
        }
        add(operation.after, path, from: operation.before.count + operation.inner.count)
    }

    private mutating func add(_ operations: [RowStep], _ path: [Int]?, from first: Int) {
        for (index, operation) in operations.enumerated() { add(operation, isLast: path.map { $0 + [first + index] }) }
    }

    private static func oneLine(_ text: String) -> String { text.replacingOccurrences(of: "\n", with: " ") }

    private static func short(_ text: String) -> String {
        let line = oneLine(text)
        return line.count <= 400 ? line : line.prefix(400) + "…"
    }
}

extension RowStep {
    /// The models that the step asks for: those of DAOs, and those that cannot be stored.
    fileprivate var declared: Set<Entity> {
        nested.reduce(into: verb == .invalid ? [entity] : used) { $0.formUnion($1.declared) }
    }

    /// The entities whose DAOs the step uses.
    fileprivate var used: Set<Entity> {
        switch verb {
        case .transaction, .snapshot, .outside, .second, .race, .outlive, .neighbour:
            nested.reduce(into: []) { $0.formUnion($1.used) }
        case .reopen, .compact, .invalid, .leave, .unpromised, .closeInside: []
        default: nested.reduce(into: [entity]) { $0.formUnion($1.used) }
        }
    }

    /// Whether the step, or a nested step, uses another location.
    fileprivate var hasNeighbour: Bool { verb == .neighbour || nested.contains(where: \.hasNeighbour) }
}
