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
        let databases = printer.declarations(isChanging: failure.script.contains(where: \.isAboutAll))
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

    private func declarations(isChanging: Bool) -> String {
        let keyword = isChanging ? "var" : "let"
        let entities = failure.script.reduce(into: Set<Entity>()) { $0.formUnion($1.used) }
        return
            (["        \(keyword) database = try open()"]
            + (hasNeighbour ? ["        \(keyword) neighbour = try openNeighbour()"] : [])
            + entities.sorted { $0.rawValue < $1.rawValue }.map { "        \(keyword) \(Self.dao($0))" })
            .joined(separator: "\n")
    }

    /// The declarations of the models that the script uses.
    private var models: String {
        let entities = failure.script.reduce(into: Set<Entity>()) { $0.formUnion($1.used.union($1.invalid)) }
        return entities.sorted { $0.rawValue < $1.rawValue }.map { "\n" + ModelSource.declaration(of: $0) }.joined()
    }

    /// Whether the script is about two locations.
    private var hasNeighbour: Bool { failure.script.contains(where: \.hasNeighbour) }

    private static func dao(_ entity: Entity) -> String {
        "\(entity.variable) = DAO(storage: try database.storage(for: \(entity.typeName).self))"
    }

    private mutating func line(_ text: String) { lines.append(String(repeating: "    ", count: depth) + text) }

    private mutating func indented(_ body: (inout RowScriptPrinter) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Adds a step.
    ///
    /// - Parameter isLast: The way to this step inside the last one; nil in another.
    private mutating func add(_ operation: RowStep, isLast path: [Int]?) {
        let isFailing = path == failure.path
        if isFailing {
            line("// expected: \(Self.short(failure.expected))")
            line("// got:      \(Self.short(failure.got))")
        }
        switch operation.verb {
        case .second:
            line("do {")
            indented { printer in
                printer.useDatabase("try open()", operation.used)
                printer.add(operation.inner, path, from: 0)
            }
            line("}")
        case .neighbour:
            line("do {")
            indented { printer in
                printer.useDatabase("neighbour", operation.used)
                printer.add(operation.inner, path, from: 0)
            }
            line("}")
        case .race: addRace(operation, path)
        case .outlive:
            line("try PropertyTesting.inherit(in: database, whileItRuns: \(operation.flag)) {")
            indented { $0.add(operation.inner, path, from: 0) }
            line("}")
        case .outside:
            line("PropertyTesting.elsewhere {")
            indented { $0.add(operation.inner, path, from: 0) }
            line("}")
        case .reopen:
            line("database = try PropertyTesting.reopen(database, open)")
            addDAOs()
        case .leave:
            if hasNeighbour { line("try neighbour.close()") }
            line("try database.close()")
            line("database = try open()")
            if hasNeighbour { line("neighbour = try openNeighbour()") }
            addDAOs()
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
            line("\(opening) { () throws -> \(operation.resultType) in")
            indented { printer in
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
            line("}\(expectation)")
        }
    }

    /// Makes the DAOs anew.
    private mutating func addDAOs() {
        let entities = failure.script.reduce(into: Set<Entity>()) { $0.formUnion($1.used) }
        for entity in entities.sorted(by: { $0.rawValue < $1.rawValue }) { line(Self.dao(entity)) }
    }

    /// Declares a database and its DAOs in place of those around.
    private mutating func useDatabase(_ source: String, _ entities: Set<Entity>) {
        line("let database = \(source)")
        for entity in entities.sorted(by: { $0.rawValue < $1.rawValue }) { line("let \(Self.dao(entity))") }
    }

    private mutating func addRace(_ operation: RowStep, _ path: [Int]?) {
        let count = max(1, operation.number ?? 2)
        line("try PropertyTesting.atOnce(")
        for thread in 0..<count {
            indented { printer in
                printer.line("{")
                printer.indented { printer in
                    if operation.flag, thread % 2 == 1 { printer.useDatabase("try open()", operation.used) }
                    for index in stride(from: thread, to: operation.inner.count, by: count) {
                        printer.add(operation.inner[index], isLast: path.map { $0 + [index] })
                    }
                }
                printer.line(thread == count - 1 ? "})" : "},")
            }
        }
    }

    /// Steps that a translator does, each when it comes to a row.
    private mutating func addTranslated(_ operation: RowStep, _ path: [Int]?) {
        for index in operation.rows.indices {
            if index == operation.number { line("if index == \(index) { throw PropertyTesting.Abort() }") }
            guard operation.inner.indices.contains(index) else { continue }
            line("if index == \(index) {")
            indented { $0.add(operation.inner[index], isLast: path.map { $0 + [index] }) }
            line("}")
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
            line("PropertyTesting.elsewhere {")
            indented { $0.add(operation.inner, path, from: operation.before.count) }
            line("}")
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
    /// The models that the step, or one inside it, asks for and that cannot be stored.
    fileprivate var invalid: Set<Entity> {
        nested.reduce(into: verb == .invalid ? [entity] : []) { $0.formUnion($1.invalid) }
    }

    /// The entities whose DAOs the step uses.
    fileprivate var used: Set<Entity> {
        switch verb {
        case .transaction, .snapshot, .outside, .second, .race, .outlive, .neighbour:
            nested.reduce(into: []) { $0.formUnion($1.used) }
        case .reopen, .invalid, .leave, .unpromised, .closeInside: []
        default: nested.reduce(into: [entity]) { $0.formUnion($1.used) }
        }
    }

    /// Whether the step, or one inside it, is about another location.
    fileprivate var hasNeighbour: Bool { verb == .neighbour || nested.contains(where: \.hasNeighbour) }
}
