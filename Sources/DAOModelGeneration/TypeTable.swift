/// What a symbol graph says about types.
struct TypeTable {
    /// A protocol of DAOCore or of Swift.
    enum ProtocolName: String {
        case plain = "s:7DAOCore5PlainP"
        case model = "s:7DAOCore5ModelP"
        case fieldValue = "s:7DAOCore10FieldValueP"
        case primaryKeyValue = "s:7DAOCore15PrimaryKeyValueP"
        case rawRepresentable = "s:SY"
    }

    /// Whether a field can have a type.
    enum Storability {
        case storable
        /// It cannot; what to do instead.
        case unstorable(String)
        /// The declaration of the type lacks a conformance.
        case unstorableType(String, Place?)
    }

    /// The name of the module.
    let module: String
    private let symbols: [SymbolGraph.Symbol]
    private let byID: [String: SymbolGraph.Symbol]
    private let memberIDs: [String: [String]]
    private let protocols: [String: Set<String>]
    private let names: [String: String]
    private var aliases: [String: SwiftType] = [:]

    init(_ graph: SymbolGraph) {
        symbols = graph.symbols
        byID = Dictionary(graph.symbols.map { ($0.id, $0) }, uniquingKeysWith: { first, _ in first })
        var (memberIDs, protocols): ([String: [String]], [String: Set<String>]) = ([:], [:])
        for relationship in graph.relationships {
            switch relationship.kind {
            case "memberOf": memberIDs[relationship.target, default: []].append(relationship.source)
            case "conformsTo": protocols[relationship.source, default: []].insert(relationship.target)
            default: break
            }
        }
        (self.memberIDs, self.protocols) = (memberIDs, protocols)
        let kinds: Set = ["swift.struct", "swift.class", "swift.enum", "swift.actor", "swift.protocol", "swift.typealias"]
        let declared = graph.symbols.filter { kinds.contains($0.kind.identifier) }
        names = Dictionary(declared.map { ($0.id, $0.path) }, uniquingKeysWith: { first, _ in first })
        module = graph.symbols.lazy.compactMap { Mangling.module($0.id) }.first ?? ""
        // An alias can stand for another one.
        for _ in 0..<4 {
            for alias in declared where alias.kind.identifier == "swift.typealias" {
                guard let fragments = alias.declarationFragments,
                    let start = fragments.firstIndex(where: { $0.spelling.contains("=") })
                else { continue }
                aliases[alias.id] = SwiftType(Array(fragments[(start + 1)...]), names: names, aliases: aliases)
            }
        }
    }

    func conforming(to name: ProtocolName) -> [SymbolGraph.Symbol] {
        symbols.filter { names[$0.id] != nil && conforms($0.id, to: name) }.sorted { $0.path < $1.path }
    }

    /// A member of each value that the module declares to be a ``Plain`` and another module declares.
    var plainsOfOtherModules: [SymbolGraph.Symbol] {
        protocols.filter { $0.value.contains(ProtocolName.plain.rawValue) && !$0.value.contains(ProtocolName.model.rawValue) }
            .filter { names[$0.key] == nil }.compactMap { plain in
                (memberIDs[plain.key] ?? []).compactMap { byID[$0] }.first { $0.place != nil }
            }
    }

    func conforms(_ id: String, to name: ProtocolName) -> Bool { protocols[id]?.contains(name.rawValue) == true }

    func symbol(path: String) -> SymbolGraph.Symbol? { symbols.first { $0.path == path } }

    /// The members of a type that have a kind, in the order of the source.
    func members(of id: String, kind: String) -> [SymbolGraph.Symbol] {
        (memberIDs[id] ?? []).compactMap { byID[$0] }.filter { $0.kind.identifier == kind }
    }

    /// The model and the translator that somebody has written for a value; nil when there are none.
    func translator(of plain: String) -> (model: String, translator: String)? {
        for method in symbols where method.name == "translate(model:)" {
            guard let fragments = method.declarationFragments,
                let arrow = fragments.lastIndex(where: { $0.spelling.contains("->") }),
                fragments[arrow...].contains(where: { $0.preciseIdentifier == plain }),
                let parameter = method.functionSignature?.parameters?.first
            else { continue }
            return (type(of: parameter).text, method.pathComponents.dropLast().joined(separator: "."))
        }
        return nil
    }

    // MARK: Types

    func type(of property: SymbolGraph.Symbol) -> SwiftType {
        let fragments = property.declarationFragments ?? []
        guard let name = fragments.firstIndex(where: { $0.kind == "identifier" }) else { return .other(property.text) }
        return type(after: name, in: fragments)
    }

    func type(of parameter: SymbolGraph.Parameter) -> SwiftType {
        guard let name = parameter.declarationFragments.firstIndex(where: { $0.kind == "identifier" }) else { return .other("") }
        return type(after: name, in: parameter.declarationFragments)
    }

    /// The type after a name and a colon, without the accessors.
    private func type(after name: Int, in fragments: [SymbolGraph.Fragment]) -> SwiftType {
        var rest = Array(fragments[(name + 1)...])
        if let brace = rest.firstIndex(where: { $0.spelling.contains("{") }) {
            rest[brace].spelling = String(rest[brace].spelling.prefix { $0 != "{" })
            rest.removeSubrange((brace + 1)...)
        }
        if let first = rest.first, let colon = first.spelling.firstIndex(of: ":") {
            rest[0].spelling = String(first.spelling[first.spelling.index(after: colon)...])
        }
        rest.removeAll { $0.kind == "attribute" || $0.spelling.isEmpty }
        return SwiftType(rest, names: names, aliases: aliases)
    }

    func isReadable(_ property: SymbolGraph.Symbol) -> Bool {
        !["mutating get", "lazy ", "get async", "get throws"].contains { property.text.contains($0) }
    }

    /// Whether a property is stored: one that is observed or wrapped looks like a computed one.
    func isStoredForSure(_ property: SymbolGraph.Symbol) -> Bool { !property.text.contains("{") }

    /// Whether other files can name a type: it and the types around it are not private.
    func isReachable(_ symbol: SymbolGraph.Symbol) -> Bool {
        let parents = (1..<max(1, symbol.pathComponents.count)).compactMap { count in
            self.symbol(path: symbol.pathComponents.prefix(count).joined(separator: "."))
        }
        return ([symbol] + parents).allSatisfy(\.isVisible)
    }

    /// The word before a declaration with the access of another one.
    func access(_ symbol: SymbolGraph.Symbol) -> String {
        switch symbol.accessLevel {
        case "public", "open": "public "
        case "package": "package "
        default: ""
        }
    }

    // MARK: Storability

    private static let scalars: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "Bool", "Double", "Float",
        "Decimal",
        "String", "Data", "UUID", "URL", "Date", "Duration",
    ]
    private static let keys: Set = [
        "Int", "Int8", "Int16", "Int32", "Int64", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "String", "UUID",
    ]

    /// Whether a field of a type is stored as JSON, as far as the module knows.
    func isEmbedded(_ type: SwiftType) -> Bool {
        switch type {
        case .array: true
        case .optional(let wrapped): isEmbedded(wrapped)
        case .named(_, let id?, _): byID[id] != nil && !conforms(id, to: .rawRepresentable)
        case .named, .other: false
        }
    }

    /// Whether a field can have a type that is not a relationship.
    func storability(of type: SwiftType, asKey isKey: Bool) -> Storability {
        guard case .named(let name, let id, _) = type.element else {
            return .unstorable(
                "is '\(type.text)', which a field cannot be; put it into a Codable struct that is a FieldValue, and store that")
        }
        guard let id else {
            return .unstorable("is '\(type.text)', which the compiler does not know; mend the errors of its file first")
        }
        let short = name.split(separator: ".").last.map(String.init) ?? name
        let origin = Mangling.module(id)
        if origin != module, Self.scalars.contains(short) {
            if !isKey || Self.keys.contains(short) { return .storable }
            return .unstorable("is '\(type.text)', which cannot be a primary key; use an integer, a String or a UUID")
        }
        if conforms(id, to: isKey ? .primaryKeyValue : .fieldValue) { return .storable }
        switch origin {
        case "DAOCore" where short == "UniqueID":
            return .unstorable(
                "is a UniqueID, which has no stored form; store an integer, a String or a UUID, and make the UniqueID of it")
        case "Swift", "Foundation":
            return .unstorable(
                "is '\(type.text)', which is not a FieldValue; put it into a Codable struct that is one, and store that")
        case module: return storability(ofOwn: name, id, isKey)
        // Only the compiler knows the conformances of another module.
        default: return .storable
        }
    }

    private func storability(ofOwn name: String, _ id: String, _ isKey: Bool) -> Storability {
        guard let symbol = byID[id], isReachable(symbol) else {
            return .unstorable("is the private type '\(name)'; remove 'private'")
        }
        let wanted = isKey ? "PrimaryKeyValue" : "FieldValue"
        var raw: SwiftType?
        if conforms(id, to: .rawRepresentable) {
            let initializers = members(of: id, kind: "swift.init").filter { $0.name == "init(rawValue:)" }
            raw = initializers.first?.functionSignature?.parameters?.first.map(type(of:))
        }
        let isEnumeration = symbol.kind.identifier == "swift.enum"
        let parents: String
        if isEnumeration, raw != nil || isKey {
            parents = raw?.text ?? "String"
        } else if raw != nil || isKey {
            parents = "RawRepresentable"
        } else {
            parents = "Codable"
        }
        return .unstorableType(
            "'\(name)' has to be a \(wanted) to be stored; declare it '\(symbol.text): \(parents), \(wanted)'", symbol.place)
    }
}

/// What the compiler's identifiers of declarations say.
enum Mangling {
    /// The module that a declaration is imported from; nil when the identifier does not say.
    static func module(_ id: String) -> String? {
        // Declarations of C and Objective-C that fields have are those of Foundation.
        if id.hasPrefix("c:") { return "Foundation" }
        guard id.hasPrefix("s:") else { return nil }
        let rest = id.dropFirst(2)
        let digits = rest.prefix { $0.isNumber }
        guard !digits.isEmpty else { return rest.first == "s" || rest.first == "S" ? "Swift" : nil }
        let name = String(rest.dropFirst(digits.count).prefix(Int(digits) ?? 0))
        return name.hasPrefix("Foundation") ? "Foundation" : name
    }
}
