import DAOCore
import Foundation

/// A failing script as a test in Swift.
struct ScriptPrinter {
    private var lines: [String] = []
    private var depth = 2
    private let divergence: Replay.Divergence

    /// The script as source text that compiles in a test target where `target` is the target it failed on.
    static func text(of divergence: Replay.Divergence, target: String, seed: UInt64, operations: Int) -> String {
        var printer = ScriptPrinter(divergence: divergence)
        for (index, operation) in divergence.script.enumerated() {
            printer.add(operation, isLast: index == divergence.script.count - 1 ? [] : nil)
        }
        let body = printer.lines.joined(separator: "\n")
        let declarations = printer.declarations(isChanging: body.contains("reopen(") || body.contains("leave("))
        let open = printer.hasNeighbour ? "open, openNeighbour" : "open"
        return """
            import DAOConformance
            import DAOCore
            import Foundation
            import Testing
            \(printer.models)
            // Made by RandomProof.run(on: target, seed: \(seed), operations: \(operations)), where target is \(target).
            @Test func seed\(seed)() throws {
                try RandomProof.script(on: target) { \(open) in
            \(declarations)
            \(body)
                }
            }

            """
    }

    private init(divergence: Replay.Divergence) { self.divergence = divergence }

    private func declarations(isChanging: Bool) -> String {
        let keyword = isChanging ? "var" : "let"
        let entities = divergence.script.reduce(into: Set<Entity>()) { $0.formUnion($1.used) }
        return
            (["        \(keyword) database = try open()"]
            + (hasNeighbour ? ["        \(keyword) neighbour = try openNeighbour()"] : [])
            + entities.sorted { $0.rawValue < $1.rawValue }.map { "        \(keyword) \(Self.dao($0))" })
            .joined(separator: "\n")
    }

    /// The models that were made for the script.
    private var models: String {
        let models = divergence.script.reduce(into: Set<MadeModel>()) { $0.formUnion($1.models) }
        return models.sorted { $0.number < $1.number }.map { "\n" + MadeSource.declaration(of: $0) }.joined()
    }

    /// Whether the script is about two locations.
    private var hasNeighbour: Bool { divergence.script.contains(where: \.hasNeighbour) }

    private static func dao(_ entity: Entity) -> String {
        "\(entity.variable) = DAO(storage: try database.storage(for: \(entity.typeName).self))"
    }

    private mutating func line(_ text: String) { lines.append(String(repeating: "    ", count: depth) + text) }

    private mutating func indented(_ body: (inout ScriptPrinter) -> Void) {
        depth += 1
        body(&self)
        depth -= 1
    }

    /// Adds a step.
    ///
    /// - Parameter isLast: The way to this step inside the last one; nil in another.
    private mutating func add(_ operation: Step, isLast path: [Int]?) {
        let isFailing = path == divergence.path
        if isFailing {
            line("// expected: \(Self.short(divergence.expected.text))")
            line("// got:      \(Self.short(divergence.got.text))")
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
            line("try RandomProof.inherit(in: database, whileItRuns: \(operation.flag)) {")
            indented { $0.add(operation.inner, path, from: 0) }
            line("}")
        case .outside:
            line("RandomProof.elsewhere {")
            indented { $0.add(operation.inner, path, from: 0) }
            line("}")
        case .reopen:
            line("database = try RandomProof.reopen(database, open)")
            addDAOs()
        case .leave:
            if hasNeighbour { line("try neighbour.close()") }
            line("database = try RandomProof.leave(database, open)")
            if hasNeighbour { line("neighbour = try openNeighbour()") }
            addDAOs()
        case .partition, .inclusion, .indexless, .windows, .reversal, .agreement:
            line("// \(operation.verb) of \(SwiftLiteral.query(operation.query, operation.entity))")
        default:
            let source = operation.source
            let function = operation.verb == .total ? "total" : "outcome"
            let expectation = isFailing ? " == ##\"\(Self.oneLine(divergence.expected.text))\"##)" : ""
            let opening = isFailing ? "#expect(RandomProof.\(function)" : "RandomProof.\(function)"
            if source.count == 1, operation.nested.isEmpty {
                line("\(opening) { \(source[0]) }\(expectation)")
                return
            }
            line("\(opening) { () throws -> \(operation.resultType) in")
            indented { printer in
                for text in source {
                    if text.hasSuffix(Step.nestedSteps), text.drop(while: { $0 == " " }) == Step.nestedSteps {
                        let levels = (text.count - Step.nestedSteps.count) / 4
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
        let entities = divergence.script.reduce(into: Set<Entity>()) { $0.formUnion($1.used) }
        for entity in entities.sorted(by: { $0.rawValue < $1.rawValue }) { line(Self.dao(entity)) }
    }

    /// Declares a database and its DAOs in place of those around.
    private mutating func useDatabase(_ source: String, _ entities: Set<Entity>) {
        line("let database = \(source)")
        for entity in entities.sorted(by: { $0.rawValue < $1.rawValue }) { line("let \(Self.dao(entity))") }
    }

    private mutating func addRace(_ operation: Step, _ path: [Int]?) {
        let count = max(1, operation.number ?? 2)
        line("try RandomProof.atOnce(")
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
    private mutating func addTranslated(_ operation: Step, _ path: [Int]?) {
        for index in operation.rows.indices {
            if index == operation.number { line("if index == \(index) { throw RandomProof.Abort() }") }
            guard operation.inner.indices.contains(index) else { continue }
            line("if index == \(index) {")
            indented { $0.add(operation.inner[index], isLast: path.map { $0 + [index] }) }
            line("}")
        }
    }

    private mutating func addNested(of operation: Step, _ path: [Int]?) {
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
            line("RandomProof.elsewhere {")
            indented { $0.add(operation.inner, path, from: operation.before.count) }
            line("}")
        } else {
            add(operation.inner, path, from: operation.before.count)
        }
        add(operation.after, path, from: operation.before.count + operation.inner.count)
    }

    private mutating func add(_ operations: [Step], _ path: [Int]?, from first: Int) {
        for (index, operation) in operations.enumerated() { add(operation, isLast: path.map { $0 + [first + index] }) }
    }

    private static func oneLine(_ text: String) -> String { text.replacingOccurrences(of: "\n", with: " ") }

    private static func short(_ text: String) -> String {
        let line = oneLine(text)
        return line.count <= 400 ? line : line.prefix(400) + "…"
    }
}

extension Step {
    /// The models that were made for the step, and for those inside.
    fileprivate var models: Set<MadeModel> {
        var models = nested.reduce(into: Set<MadeModel>()) { $0.formUnion($1.models) }
        if case .made(let model) = entity { models.insert(model) }
        return models
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
