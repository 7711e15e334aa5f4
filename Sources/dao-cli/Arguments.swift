import DAORedaction

// The parsing of the command line. Nothing else in this program reads words of it.

/// A command of the program: its words, its help and what it does.
struct Command: Sendable {
    /// A word after the name of the command.
    struct Parameter: Sendable {
        var name: String
        var isOptional = false
        var help: String
    }

    /// A word that begins with two dashes.
    struct Option: Sendable {
        var name: String
        /// What follows it; nil for nothing.
        var value: String?
        var help: String
    }

    var name: String
    /// One line for the list of commands.
    var summary: String
    var parameters: [Parameter]
    var options: [Option]
    /// What else there is to know.
    var discussion = ""
    /// What the command does.
    ///
    /// - Returns: The exit code of the program.
    var run: @Sendable (Arguments) async throws -> Int32

    var help: String {
        let words = parameters.map { $0.isOptional ? "[\($0.name)]" : $0.name }
        var text = "usage: dao \(([name] + words).joined(separator: " ")) [options]\n\n\(summary)\n"
        let rows =
            parameters.map { ($0.name, $0.help) } + options.map { ("--\($0.name)" + ($0.value.map { " \($0)" } ?? ""), $0.help) }
            + [("--help", "shows this text")]
        let width = rows.map(\.0.count).max() ?? 0
        for (word, help) in rows { text += "\n  \(word.padding(to: width))  \(help)" }
        return text + (discussion.isEmpty ? "" : "\n\n\(discussion)")
    }
}

/// The words after the name of a command.
struct Arguments: Sendable {
    private var values: [String: String] = [:]
    private var options: [String: String] = [:]
    /// Whether the help of the command is asked for.
    private(set) var asksForHelp = false

    /// Assigns words to the parameters and options of a command.
    init(_ words: some Sequence<String>, of command: Command) throws(UsageError) {
        var rest = Array(words)[...]
        var positional: [String] = []
        var takesOptions = true
        while let word = rest.popFirst() {
            guard takesOptions, word.hasPrefix("-"), word != "-", Double(word) == nil else {
                positional.append(word)
                continue
            }
            if word == "--" {
                takesOptions = false
                continue
            }
            let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            if ["--help", "-h"].contains(word) {
                asksForHelp = true
                continue
            }
            guard let option = command.options.first(where: { "--\($0.name)" == parts[0] }) else {
                throw UsageError("'dao \(command.name)' has no option '\(redacted(parts[0]))'", command)
            }
            var value = parts.count == 2 ? parts[1] : nil
            if option.value == nil, value != nil { throw UsageError("--\(option.name) takes no value", command) }
            if let placeholder = option.value, value == nil {
                value = rest.popFirst()
                if value == nil { throw UsageError("--\(option.name) needs a value: \(placeholder)", command) }
            }
            guard options.updateValue(value ?? "", forKey: option.name) == nil else {
                throw UsageError("--\(option.name) is given twice", command)
            }
        }
        if asksForHelp { return }
        for (index, parameter) in command.parameters.enumerated() {
            if positional.indices.contains(index) {
                values[parameter.name] = positional[index]
            } else if !parameter.isOptional {
                throw UsageError("'dao \(command.name)' needs \(parameter.name): \(parameter.help)", command)
            }
        }
        if positional.count > command.parameters.count {
            let word = redacted(positional[command.parameters.count])
            throw UsageError("'dao \(command.name)' does not expect '\(word)'; put quotes around a predicate", command)
        }
    }

    /// The word of a parameter that is not optional.
    func word(_ name: String) -> String { values[name] ?? "" }

    /// The word of an optional parameter; nil when it is missing.
    func optionalWord(_ name: String) -> String? { values[name] }

    /// Whether an option is given.
    func has(_ option: String) -> Bool { options[option] != nil }

    /// The value of an option; nil when it is missing.
    func value(of option: String) -> String? { options[option] }

    /// The value of an option as a count; nil when it is missing.
    func count(of option: String) throws(UsageError) -> Int? {
        guard let text = options[option] else { return nil }
        guard let count = Int(text), count >= 0 else {
            throw UsageError("--\(option) needs a number from zero, not '\(redacted(text))'")
        }
        return count
    }

    /// The value of an option that is one of some words; nil when it is missing.
    func choice<Choice: RawRepresentable & CaseIterable>(of option: String) throws(UsageError) -> Choice?
    where Choice.RawValue == String {
        guard let text = options[option] else { return nil }
        if let choice = Choice(rawValue: text) { return choice }
        let known = Choice.allCases.map(\.rawValue).joined(separator: ", ")
        throw UsageError("--\(option) has no '\(redacted(text))'; use one of these: \(known)")
    }

    /// The words of an option, separated by commas; empty when it is missing.
    func list(of option: String) -> [String] {
        options[option].map { $0.split(separator: ",").map { $0.trimmingPrefix(" ") }.map(String.init) } ?? []
    }
}

/// Words that are no command.
struct UsageError: Error {
    let message: String
    /// The command, once it is known.
    let command: String?

    init(_ message: String, _ command: Command? = nil) { (self.message, self.command) = (message, command?.name) }
}

extension String {
    /// The text with spaces behind it up to a width in characters.
    func padding(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
}
