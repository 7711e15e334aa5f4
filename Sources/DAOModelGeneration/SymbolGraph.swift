import Foundation

/// The declarations of a module, as the Swift compiler describes them.
struct SymbolGraph: Decodable {
    var symbols: [Symbol]
    var relationships: [Relationship]

    /// A declaration.
    struct Symbol: Decodable {
        var kind: Kind
        var identifier: Identifier
        /// The names from the outermost type to this declaration.
        var pathComponents: [String]
        var accessLevel: String
        var declarationFragments: [Fragment]?
        var functionSignature: Signature?
        var docComment: Comment?
        var location: Location?
        var swiftGenerics: Generics?
    }

    struct Kind: Decodable { var identifier: String }
    struct Identifier: Decodable { var precise: String }
    struct Generics: Decodable {}
    struct Signature: Decodable { var parameters: [Parameter]? }

    /// A parameter of a function or an initializer.
    struct Parameter: Decodable {
        var name: String
        var internalName: String?
        var declarationFragments: [Fragment]
    }

    /// A piece of a declaration's text.
    struct Fragment: Decodable, Equatable {
        var kind: String
        var spelling: String
        var preciseIdentifier: String?
    }

    struct Comment: Decodable {
        var lines: [Line]

        struct Line: Decodable {
            var range: Range?
            var text: String
        }
        struct Range: Decodable { var start: Position }
    }

    struct Location: Decodable {
        var uri: String
        var position: Position
    }

    /// A place in a file. Lines and characters begin with zero.
    struct Position: Decodable { var line: Int }

    struct Relationship: Decodable {
        var kind: String
        var source: String
        var target: String
    }

    /// The union of graphs: a module has one for its own types, and one for each module whose types it extends.
    init(joining graphs: [SymbolGraph]) {
        symbols = graphs.flatMap(\.symbols)
        relationships = graphs.flatMap(\.relationships)
    }
}

extension SymbolGraph.Symbol {
    var id: String { identifier.precise }
    /// The name with those of the types around it, as in `Space.Message`.
    var path: String { pathComponents.joined(separator: ".") }
    var name: String { pathComponents.last ?? "" }
    var text: String { (declarationFragments ?? []).map(\.spelling).joined() }
    /// Whether other files of the module can use the declaration.
    var isVisible: Bool { !["private", "fileprivate"].contains(accessLevel) }

    /// The place of the declaration; nil for one that the compiler has made.
    var place: Place? { location.map { Place(uri: $0.uri, line: $0.position.line + 1) } }
}

/// A line of a file, for people.
struct Place: Hashable, Comparable {
    var path: String
    var line: Int

    init(path: String, line: Int) { (self.path, self.line) = (path, line) }

    init(uri: String, line: Int) {
        let path = uri.hasPrefix("file://") ? String(uri.dropFirst("file://".count)) : uri
        self.init(path: path.removingPercentEncoding ?? path, line: line)
    }

    static func < (left: Place, right: Place) -> Bool { (left.path, left.line) < (right.path, right.line) }
}

/// What cannot be generated, where, and what to write by hand.
struct Finding: Hashable {
    var place: Place
    var message: String
}
