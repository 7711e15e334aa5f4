/// A section of a list in a view: the elements that have a key in common. See ``ObservedList/sections(by:)``.
public struct ListSection<Key: Hashable, Element>: Identifiable {
    /// What the elements have in common.
    public let key: Key
    /// The elements, in the order of the list. There is at least one.
    public fileprivate(set) var elements: [Element]
    /// The key.
    public var id: Key { key }
}

extension ListSection: Sendable where Key: Sendable, Element: Sendable {}
extension ListSection: Equatable where Element: Equatable {}

extension ObservedList {
    /// Returns the elements in sections: those with equal keys together. Sections come in the order of their first elements, so sort
    /// by the key first.
    ///
    /// ```swift
    /// ForEach(list.sections(by: \.priority)) { section in
    ///     Section("\(section.key)") { ForEach(section.elements, id: \.uniqueId) { Text($0.title) } }
    /// }
    /// ```
    ///
    /// - Parameter key: A closure that returns the key of an element.
    /// - Complexity: O(n) in the number of elements.
    public func sections<Key: Hashable>(
        by key: (DAO<Subject>.Plain) throws -> Key
    ) rethrows -> [ListSection<Key, DAO<Subject>.Plain>] {
        var sections: [ListSection<Key, DAO<Subject>.Plain>] = []
        var places: [Key: Int] = [:]
        for element in elements {
            let key = try key(element)
            if let place = places[key] {
                sections[place].elements.append(element)
            } else {
                places[key] = sections.count
                sections.append(ListSection(key: key, elements: [element]))
            }
        }
        return sections
    }
}
