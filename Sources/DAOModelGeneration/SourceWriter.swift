/// Writes a model, its schema and its translator as a person would.
struct SourceWriter {
    private static let width = 110

    /// The text of a file without its header.
    static func text(of model: ModelDeclaration) -> String {
        var parts = [imports(of: model), modelText(model)]
        if let plain = model.plain { parts.append(translatorText(model, plain)) }
        return parts.joined(separator: "\n")
    }

    private static func imports(of model: ModelDeclaration) -> String {
        Set(["DAOCore"]).union(model.imports).sorted().map { "import \($0)\n" }.joined()
    }

    private static func modelText(_ model: ModelDeclaration) -> String {
        let declared = model.plain == nil ? "Plain, Model" : "Model"
        var text = ""
        if let plain = model.plain { text += "/// The stored record of ``\(plain)``.\n" }
        text += "\(model.access)struct \(escaped(model.name)): \(declared) {\n"
        for field in model.fields { text += "    \(field.access)var \(escaped(field.property)): \(field.type)\n" }
        for line in model.missing { text += "    // \(line)\n" }
        text += "\n    \(model.access)static let schema = Schema(\n        \"\(model.entity)\", Self.init"
        for field in model.fields {
            let options = field.options.map { ", .\($0)" }.joined()
            text += ",\n        Field(\"\(field.stored)\", \\.\(member(field.property))\(options))"
        }
        if !model.indexes.isEmpty {
            text += ",\n        indexes: [\n" + model.indexes.map { "            \($0)" }.joined(separator: ",\n") + "\n        ]"
        }
        text += "\n    )"
        if !model.dropped.isEmpty { text += ".dropped(\(model.dropped.joined(separator: ", ")))" }
        return text + "\n}\n"
    }

    private static func translatorText(_ model: ModelDeclaration, _ plain: String) -> String {
        var text = "/// Converts ``\(plain)`` to its stored record and back.\n"
        text += "\(model.access)struct \(model.translator): ReplacingTranslator {\n"
        if !model.access.isEmpty { text += "    \(model.access)init() {}\n\n" }
        let values = model.fields.map { field in
            (field.label, converted("model.\(member(field.property))", field, method: "model"))
        }
        text += "    \(model.access)func translate(model: \(model.name)) throws -> \(plain) {\n"
        text += call(plain, values, doesThrow: model.initializerThrows)
        text += "    }\n    \(model.access)func translate(plain: \(plain)) throws -> \(model.name) {\n"
        let stored = model.fields.map { field in
            (Optional(field.property), converted("plain.\(member(field.property))", field, method: "plain"))
        }
        text += call(model.name, stored, doesThrow: false)
        return text + "    }\n}\n"
    }

    /// The value of a field in the other form, and whether making it throws.
    private static func converted(_ value: String, _ field: ModelDeclaration.Field, method: String) -> (
        text: String, doesThrow: Bool
    ) {
        guard case .each(let translator) = field.conversion else { return (value, false) }
        let isList = field.type.hasPrefix("[")
        return field.type.hasSuffix("?")
            ? ("\(value).map(\(translator)().translate(\(method)\(isList ? "s" : ""):))", true)
            : ("\(translator)().translate(\(method)s: \(value))", true)
    }

    /// A call of an initializer, in one line where it fits.
    private static func call(
        _ name: String, _ arguments: [(label: String?, value: (text: String, doesThrow: Bool))], doesThrow: Bool
    ) -> String {
        let prefix = doesThrow || arguments.contains(where: \.value.doesThrow) ? "try " : ""
        let texts = arguments.map { argument in (argument.label.map { "\(label($0)): " } ?? "") + argument.value.text }
        let line = "        \(prefix)\(name)(\(texts.joined(separator: ", ")))\n"
        if line.count <= width { return line }
        return "        \(prefix)\(name)(\n" + texts.map { "            \($0)" }.joined(separator: ",\n") + "\n        )\n"
    }

    // MARK: Names

    /// A name that is declared: keywords are in backticks.
    static func escaped(_ name: String) -> String { keywords.contains(name) ? "`\(name)`" : name }

    /// A name after a dot, where most keywords are names.
    private static func member(_ name: String) -> String {
        ["init", "self", "Type", "Protocol"].contains(name) ? "`\(name)`" : name
    }

    /// A label of an argument, where most keywords are names.
    private static func label(_ name: String) -> String { ["inout", "let", "var"].contains(name) ? "`\(name)`" : name }

    private static let keywords: Set = [
        "Any", "Protocol", "Self", "Type", "as", "associatedtype", "break", "case", "catch", "class", "continue", "default",
        "defer", "deinit", "do",
        "else", "enum", "extension", "fallthrough", "false", "fileprivate", "for", "func", "guard", "if", "import", "in", "init",
        "inout", "internal", "is", "let", "nil", "operator", "precedencegroup", "private", "protocol", "public", "repeat",
        "rethrows",
        "return", "self", "static", "struct", "subscript", "super", "switch", "throw", "throws", "true", "try", "typealias",
        "var",
        "where", "while",
    ]
}
