import Foundation

/// The query of a URL, made of JSON values.
///
/// ```swift
/// URLQuery(["page": 2, "tags": ["new", "red"], "sort": ["by": "name"], "all": true]).items
/// // all=1, page=2, sort[by]=name, tags[]=new, tags[]=red
/// ```
///
/// Strings and numbers keep their text. `null` is omitted, at any depth. A list of lists and an object in a
/// list nest their names in the same way.
public struct URLQuery: Sendable, Hashable, ExpressibleByDictionaryLiteral {
    /// The naming of the elements of a list.
    public enum ListNames: Sendable, Hashable {
        /// `tags[]=new&tags[]=red`
        case brackets
        /// `tags=new&tags=red`
        case plain
    }

    /// The text of booleans.
    public enum Booleans: Sendable, Hashable {
        /// `1` and `0`
        case numeric
        /// `true` and `false`
        case literal
    }

    /// The values by name.
    public var parameters: [String: Json]
    /// The naming of the elements of a list.
    public var lists: ListNames
    /// The text of booleans.
    public var booleans: Booleans

    /// Creates a query of values by name.
    public init(_ parameters: [String: Json], lists: ListNames = .brackets, booleans: Booleans = .numeric) {
        self.parameters = parameters
        self.lists = lists
        self.booleans = booleans
    }

    /// Creates a query of values by name. When a name occurs twice, the last value is used.
    public init(dictionaryLiteral elements: (String, Json)...) {
        self.init(Dictionary(elements) { _, last in last })
    }

    /// Names and values, ordered by name. The elements of a list keep their order.
    public var items: [URLQueryItem] {
        items(of: parameters) { $0 }
    }

    private func items(of members: [String: Json], named name: (String) -> String) -> [URLQueryItem] {
        members.sorted { $0.key < $1.key }.flatMap { items(of: $0.value, named: name($0.key)) }
    }

    private func items(of value: Json, named name: String) -> [URLQueryItem] {
        switch value {
        case .null: []
        case .bool(let value): [URLQueryItem(name: name, value: text(of: value))]
        case .number(let number): [URLQueryItem(name: name, value: number.text)]
        case .string(let text): [URLQueryItem(name: name, value: text)]
        case .array(let elements): elements.flatMap { items(of: $0, named: lists == .brackets ? "\(name)[]" : name) }
        case .object(let members): items(of: members) { "\(name)[\($0)]" }
        }
    }

    private func text(of value: Bool) -> String {
        switch booleans {
        case .numeric: value ? "1" : "0"
        case .literal: value ? "true" : "false"
        }
    }
}

extension URL {
    /// The URL of an endpoint's text: a whole URL, or a path below the client's base URL. An empty path is the base
    /// URL itself.
    ///
    /// - Throws: `URLError(.badURL)`.
    package init(reference text: String) throws {
        var url = text.isEmpty ? URLComponents().url : URL(string: text)
        // No URL begins with a segment that has a colon and is no scheme, such as "1:batch".
        if url == nil, !text.contains("://"), !text.hasPrefix("//") { url = URL(string: "./" + text) }
        guard let url else { throw URLError(.badURL) }
        self = url
    }

    /// The same URL with these items as its query. Without items it keeps its query.
    package func replacingQuery(by items: [URLQueryItem]) -> URL {
        changingQuery { _ in Self.percentEncoded(items) }
    }

    /// The same URL with these items appended to its query.
    package func addingQuery(_ items: [URLQueryItem]) -> URL {
        items.isEmpty ? self : changingQuery { $0 + Self.percentEncoded(items) }
    }

    /// The same URL with its query items ordered by name and value, as they are spelled, to identify a resource: "+", which servers
    /// read as a space, is not "%2B".
    package var withSortedQuery: URL {
        changingQuery { items in items.sorted { ($0.name, $0.value ?? "") < ($1.name, $1.value ?? "") } }
    }

    /// The same URL with those items of another URL's query whose names this URL's query does not have, before its
    /// own.
    func addingMissingQuery(of other: URL) -> URL {
        guard let added = URLComponents(url: other, resolvingAgainstBaseURL: true)?.percentEncodedQueryItems,
            var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        else { return self }
        let own = components.percentEncodedQueryItems ?? []
        let missing = added.filter { item in !own.contains { $0.name == item.name } }
        guard !missing.isEmpty else { return self }
        components.percentEncodedQueryItems = missing + own
        return components.url ?? self
    }

    /// The same URL with other percent-encoded query items. Without items it keeps its query.
    private func changingQuery(_ change: ([URLQueryItem]) -> [URLQueryItem]) -> URL {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        let items = change(components.percentEncodedQueryItems ?? [])
        guard !items.isEmpty else { return self }
        components.percentEncodedQueryItems = items
        return components.url ?? self
    }

    private static func percentEncoded(_ items: [URLQueryItem]) -> [URLQueryItem] {
        var components = URLComponents()
        components.queryItems = items
        // Foundation does not encode "+", and servers read it as a space.
        components.percentEncodedQuery = components.percentEncodedQuery?.replacingOccurrences(of: "+", with: "%2B")
        return components.percentEncodedQueryItems ?? []
    }
}
