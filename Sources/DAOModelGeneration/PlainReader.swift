import DAOCore
import Foundation

/// Finds the values of an application in a symbol graph, and says how each is stored.
struct PlainReader {
    /// The models, by their names.
    private(set) var models: [ModelDeclaration] = []
    /// What cannot be generated.
    private(set) var findings: [Finding] = []

    private let types: TypeTable
    /// The model and the translator of every value, by the value's identifier.
    private var counterparts: [String: Counterpart] = [:]

    private struct Counterpart {
        /// The model; nil when the value is the model.
        var model: String?
        var translator = ""
    }

    /// Reads the graph of a module.
    ///
    /// - Parameters:
    ///   - graph: The symbols of the module without generated files, private ones included.
    ///   - source: The text of a file, by its path.
    init(_ graph: SymbolGraph, source: (String) -> String?) {
        types = TypeTable(graph)
        let plains = types.conforming(to: .plain).filter { $0.kind.identifier != "swift.protocol" }
        var generated: [SymbolGraph.Symbol] = []
        for plain in plains {
            if types.conforms(plain.id, to: .model) {
                counterparts[plain.id] = Counterpart()
            } else if let (model, translator) = types.translator(of: plain.id) {
                counterparts[plain.id] = Counterpart(model: model, translator: translator)
            } else {
                let name = Self.modelName(plain)
                counterparts[plain.id] = Counterpart(model: name, translator: ModelDeclaration.translator(of: name))
                if StoredOptions(plain.docComment).has("never") { continue }
                guard let namesake = types.symbol(path: name) else {
                    generated.append(plain)
                    continue
                }
                // A model that somebody has written stays theirs.
                if !types.conforms(namesake.id, to: .model) {
                    report("'\(name)' is taken, so '\(plain.path)' cannot have a model of this name; rename '\(name)'", namesake)
                }
            }
        }
        for member in types.plainsOfOtherModules {
            report(
                "'\(member.pathComponents.dropLast().joined(separator: "."))' is declared in another module; generate its model there, or "
                    + "write its model, schema and translator by hand", member)
        }
        for plain in generated {
            let before = findings.count
            let model = model(of: plain, source: source)
            if let model, findings.count == before { models.append(model) }
        }
        models.sort { $0.name < $1.name }
    }

    /// The name of the model of a value, as in `SpaceMessageModel`.
    static func modelName(_ plain: SymbolGraph.Symbol) -> String { plain.pathComponents.joined() + "Model" }

    private mutating func report(_ message: String, _ symbol: SymbolGraph.Symbol, line: Int? = nil) {
        var place = symbol.place ?? Place(path: "", line: 0)
        if let line { place.line = line }
        findings.append(Finding(place: place, message: message))
    }

    private mutating func model(of plain: SymbolGraph.Symbol, source: (String) -> String?) -> ModelDeclaration? {
        let path = plain.path
        guard ["swift.struct", "swift.class"].contains(plain.kind.identifier) else {
            report("'\(path)' is neither a struct nor a class; write its model, schema and translator by hand", plain)
            return nil
        }
        guard plain.swiftGenerics == nil else {
            report(
                "'\(path)' is generic, and an entity stores one type; write a model, a schema and a translator by hand for each "
                    + "type that you store, or say '- Stored: never' above '\(path)'", plain)
            return nil
        }
        guard types.isReachable(plain) else {
            report(
                "'\(path)' is private, so no other file can use it; remove 'private', or write its model in the same file", plain)
            return nil
        }
        guard let initializer = initializer(of: plain) else { return nil }
        let options = StoredOptions(plain.docComment)
        for word in options.words where !["named", "Index", "dropped", "never"].contains(word.name) {
            report(
                "'\(word.text)' is not known above a type; use named(\"…\"), Index(…) or dropped(\"…\"), and put options of a field "
                    + "above its property",
                plain, line: word.line)
        }
        let key = keyProperty(of: plain, among: initializer.fields.map(\.property), source: source)
        guard let key else { return nil }
        var fields: [ModelDeclaration.Field] = []
        var imports: Set<String> = []
        for (property, label) in initializer.fields {
            guard let field = field(property, label, isKey: property.id == key.id) else { continue }
            fields.append(field)
            imports.formUnion(types.type(of: property).ids.compactMap(Mangling.module))
        }
        let entity = options.quoted("named") ?? Self.lowercased(plain.pathComponents.joined())
        checkNames(entity, of: plain)
        let names = Dictionary(grouping: fields) { $0.stored.lowercased() }.values.filter { $0.count > 1 }
        for twins in names {
            findings.append(
                Finding(
                    place: twins[1].place,
                    message: "'\(twins[0].stored)' and '\(twins[1].stored)' are one name to a database, which ignores case; say "
                        + "'- Stored: named(\"…\")' above one of them"))
        }
        return ModelDeclaration(
            plain: path, origin: path, place: plain.place ?? Place(path: "", line: 0), name: Self.modelName(plain),
            entity: entity,
            access: types.access(plain), fields: fields, indexes: options.all("Index").map(\.text),
            dropped: options.all("dropped").compactMap(\.arguments), imports: imports.subtracting([types.module, "Swift"]),
            initializerThrows: initializer.doesThrow)
    }

    // MARK: Initializer

    private struct Initializer {
        /// The properties that it takes, in its order, and their labels.
        var fields: [(property: SymbolGraph.Symbol, label: String)]
        var doesThrow: Bool
    }

    /// The initializer that takes most properties; nil, with a finding, when there is none.
    private mutating func initializer(of plain: SymbolGraph.Symbol) -> Initializer? {
        let properties = types.members(of: plain.id, kind: "swift.property")
        let byName = Dictionary(properties.map { ($0.name, $0) }, uniquingKeysWith: { first, _ in first })
        var best: Initializer?
        var reasons: [String] = []
        for candidate in types.members(of: plain.id, kind: "swift.init") {
            let text = candidate.text
            // The decoder of Codable.
            if candidate.name == "init(from:)" { continue }
            guard candidate.isVisible else {
                let hidden = properties.filter { !$0.isVisible }.map { "'\($0.name)'" }
                reasons.append(
                    "\(candidate.name) is private" + (hidden.isEmpty ? "" : " because of \(hidden.joined(separator: ", "))"))
                continue
            }
            guard !text.hasPrefix("init?"), !text.hasPrefix("init!"), !text.contains(") async"), candidate.swiftGenerics == nil
            else {
                reasons.append("\(candidate.name) can fail, is asynchronous or generic")
                continue
            }
            var fields: [(SymbolGraph.Symbol, String)] = []
            var stranger: String?
            let labels = Self.labels(of: candidate)
            for (index, parameter) in (candidate.functionSignature?.parameters ?? []).enumerated() {
                let (label, hasDefault) = labels.indices.contains(index) ? labels[index] : (parameter.name, false)
                let names = [parameter.name, parameter.internalName ?? parameter.name].map(Self.plainName)
                if let property = names.lazy.compactMap({ byName[$0] }).first, property.isVisible, types.isReadable(property),
                    types.type(of: property) == types.type(of: parameter), !StoredOptions(property.docComment).has("never")
                {
                    fields.append((property, label))
                } else if !hasDefault {
                    let isUnknown = types.type(of: parameter) == .named("_", id: nil)
                    let fault =
                        isUnknown
                        ? "the type of which is unknown" : "which is no stored property of that type, and has no default"
                    stranger = stranger ?? "'\(names[0])', \(fault)"
                }
            }
            if let stranger {
                reasons.append(
                    "\(candidate.name) takes \(stranger)")
            } else if best == nil || best!.fields.count < fields.count {
                best = Initializer(
                    fields: fields, doesThrow: (candidate.declarationFragments ?? []).contains { $0.spelling == "throws" })
            }
        }
        let wanted = properties.filter { $0.isVisible && types.isStoredForSure($0) }.map {
            "\($0.name): \(types.type(of: $0).text)"
        }
        guard let best else {
            let reason = reasons.isEmpty ? "it has none" : reasons.joined(separator: "; ")
            report(
                "'\(plain.path)' has no initializer for its stored values (\(reason)); write init(\(wanted.joined(separator: ", ")))",
                plain)
            return nil
        }
        let taken = Set(best.fields.map(\.property.id))
        for property in properties
        where types.isStoredForSure(property) && !property.text.contains("let ") && !taken.contains(property.id)
            && !StoredOptions(property.docComment).has("never")
        {
            report(
                "no initializer takes '\(property.name)' together with the others, so a stored value would lose it; add the parameter "
                    + "'\(property.name): \(types.type(of: property).text)', or say '- Stored: never' above '\(property.name)'",
                property)
        }
        return best
    }

    /// The labels of an initializer's parameters, and whether each has a default.
    private static func labels(of initializer: SymbolGraph.Symbol) -> [(label: String, hasDefault: Bool)] {
        var labels: [(label: String, hasDefault: Bool)] = []
        for fragment in initializer.declarationFragments ?? [] {
            if fragment.kind == "externalParam" {
                labels.append((fragment.spelling, false))
            } else if !labels.isEmpty, fragment.spelling.contains(" = ") {
                labels[labels.count - 1].hasDefault = true
            }
        }
        return labels
    }

    private static func plainName(_ name: String) -> String { name.replacing("`", with: "") }

    // MARK: Key

    /// The property that is the primary key; nil, with a finding, when nothing says which.
    private mutating func keyProperty(
        of plain: SymbolGraph.Symbol, among properties: [SymbolGraph.Symbol], source: (String) -> String?
    ) -> SymbolGraph.Symbol? {
        if let said = properties.first(where: { StoredOptions($0.docComment).has("primaryKey") }) { return said }
        let help = "say '- Stored: primaryKey' above the property that identifies a row"
        guard let uniqueId = types.members(of: plain.id, kind: "swift.property").first(where: { $0.name == "uniqueId" }),
            let place = uniqueId.place
        else {
            report("'\(plain.path)' does not declare 'uniqueId' itself, so its key is not known; \(help)", plain)
            return nil
        }
        let lines = (source(place.path) ?? "").split(separator: "\n", omittingEmptySubsequences: false)
        let body = lines.dropFirst(place.line - 1).prefix(4).joined(separator: "\n")
        let name = body.firstMatch(
            of: /UniqueID\(\s*(?:value:|rawValue:)?\s*(?:self\.)?`?(\w+)`?(?:\.rawValue|\.uuidString)?\s*\)/)?.output.1
        guard let name, let property = properties.first(where: { $0.name == name }) else {
            report("it is not known which property of '\(plain.path)' the 'uniqueId' is made of; \(help)", uniqueId)
            return nil
        }
        return property
    }

    // MARK: Fields

    private mutating func field(
        _ property: SymbolGraph.Symbol, _ label: String, isKey: Bool
    ) -> ModelDeclaration.Field? {
        let before = findings.count
        let name = property.name
        let type = types.type(of: property)
        let options = StoredOptions(property.docComment)
        for word in options.words where !Self.options.contains(word.name) {
            report(
                "'\(word.text)' is not an option of a field; use \(Self.options.sorted().joined(separator: ", "))", property,
                line: word.line)
        }
        var words = options.words.filter { !["named", "primaryKey"].contains($0.name) }.map(\.text)
        if isKey { words.insert("primaryKey", at: 0) }
        var stored = type
        var conversion = ModelDeclaration.Conversion.none
        checkNames(options.quoted("named") ?? name, of: property)
        if case .named(_, let id?, _) = type.element, let counterpart = counterparts[id] {
            checkRelationship(property, type, options)
            if let model = counterpart.model {
                stored = type.replacingElement(with: model)
                conversion = .each(translator: counterpart.translator)
            }
        } else if type.element.isReference {
            checkReference(property, type, options)
        } else {
            if options.has("indexed") || options.has("unique"), types.isEmbedded(type) {
                report("'\(name)' is stored as JSON, which has no order; remove 'indexed' and 'unique'", property)
            }
            switch types.storability(of: type, asKey: isKey) {
            case .storable: break
            case .unstorable(let reason): report("'\(name)' \(reason)", property)
            case .unstorableType(let message, let place):
                findings.append(Finding(place: place ?? property.place ?? Place(path: "", line: 0), message: message))
            }
            if isKey, case .optional = type {
                report("the primary key '\(name)' is optional; make it required", property)
            }
        }
        guard findings.count == before else { return nil }
        return ModelDeclaration.Field(
            property: name, label: label == "_" ? nil : Self.plainName(label),
            stored: options.quoted("named") ?? name, type: stored.text, options: words, access: types.access(property),
            conversion: conversion, place: property.place ?? Place(path: "", line: 0))
    }

    /// Checks a name that a database stores.
    private mutating func checkNames(_ name: String, of symbol: SymbolGraph.Symbol) {
        let isReserved = ["dao_", "sqlite_"].contains { name.lowercased().hasPrefix($0) }
        if !SchemaCheck.isName(name) || isReserved {
            report(
                "'\(name)' cannot be a name in a database; say '- Stored: named(\"…\")' and \(SchemaCheck.nameRule)", symbol)
        }
    }

    /// Checks a field of values that have their own rows.
    private mutating func checkRelationship(_ property: SymbolGraph.Symbol, _ type: SwiftType, _ options: StoredOptions) {
        let name = property.name
        switch type {
        case .array(.named), .optional(.array(.named)), .optional(.named): break
        case .named:
            report(
                "'\(name)' is a required '\(type.text)', and a related row can be missing; make it '\(type.text)?', or store its key",
                property)
        default:
            report("'\(name)' is '\(type.text)'; a relationship is a list, or an optional value", property)
        }
        let ownsRows = options.has("owned") || options.has("cascade")
        if ownsRows == options.has("linked") {
            report(
                "'\(name)' leads to rows of '\(type.element.text)'; say one of these above it: '- Stored: owned' when they are parts of "
                    + "this value and written with it, '- Stored: cascade' when they are also erased with it, '- Stored: linked' when "
                    + "they exist on their own",
                property)
        }
        if options.has("indexed") || options.has("unique") {
            report("'\(name)' is a relationship, which has its own index; remove 'indexed' and 'unique'", property)
        }
    }

    /// Checks a field with the key of another row.
    private mutating func checkReference(_ property: SymbolGraph.Symbol, _ type: SwiftType, _ options: StoredOptions) {
        let name = property.name
        switch type {
        case .optional(.named): break
        case .named where options.has("restricted") || options.has("cascade"): break
        case .named:
            report(
                "'\(name)' is a required Reference; say '- Stored: restricted' above it when the row that it leads to must not be "
                    + "erased, or '- Stored: cascade' when this value is erased with it",
                property)
        default:
            report(
                "'\(name)' is '\(type.text)'; a list of keys has no meaning for a database, so store a list of values", property)
        }
        if options.has("owned") || options.has("linked") {
            report("writing the Reference '\(name)' writes no row; remove 'owned' and 'linked'", property)
        }
        if options.has("indexed") || options.has("unique") {
            report("'\(name)' is a relationship, which has its own index; remove 'indexed' and 'unique'", property)
        }
    }

    private static let options: Set<String> = [
        "primaryKey", "indexed", "unique", "owned", "linked", "cascade", "restricted", "renamed", "default", "member", "named",
        "never",
    ]

    // MARK: Names

    /// A name with its first word in lower case: `message`, `urlEntry`, `httpRequest2`.
    static func lowercased(_ name: String) -> String {
        let initials = name.prefix { $0.isUppercase }
        if initials.count <= 1 { return initials.lowercased() + name.dropFirst(initials.count) }
        if initials.count == name.count { return name.lowercased() }
        return initials.dropLast().lowercased() + name.dropFirst(initials.count - 1)
    }
}

extension SwiftType {
    /// The same optionals and arrays around a model.
    func replacingElement(with name: String) -> SwiftType {
        switch self {
        case .optional(let type): .optional(type.replacingElement(with: name))
        case .array(let type): .array(type.replacingElement(with: name))
        case .named, .other: .named(name, id: nil)
        }
    }
}
