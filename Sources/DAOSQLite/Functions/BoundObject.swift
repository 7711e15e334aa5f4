import DAOCore
import DAOSystemSQLite

// Patterns, filters and sets are bound by reference: SQLite keeps the object for as long as it is bound, and
// hands it to the functions below.

/// A class around a value that is bound by reference.
final class BoundObject<Content> {
    let content: Content
    init(_ content: Content) { self.content = content }
}

/// A filter with the columns that the function is given.
struct BoundFilter {
    let filter: Filter
    let columns: [(field: Int, kind: ValueKind)]
}

/// The names that SQLite tells bound references apart by. They are compared as text, and have to stay where
/// they are: literals do.
enum BoundType {
    static let pattern: StaticString = "dao-pattern"
    static let filter: StaticString = "dao-filter"
    static let values: StaticString = "dao-values"
    static let list: StaticString = "dao-list"
}

extension StaticString {
    fileprivate func withCName<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        // A literal of ASCII text has a pointer, to bytes that are never moved and end with a zero.
        body(UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self))
    }
}

extension Bind {
    /// Binds an object by reference: the statement holds it until the parameter is bound anew or cleared.
    static func object<Content>(
        _ statement: OpaquePointer, _ position: Int32, _ object: BoundObject<Content>, _ type: StaticString
    ) -> Int32 {
        // Also when binding fails SQLite calls the destructor, which takes back the one count given here.
        let pointer = Unmanaged.passRetained(object).toOpaque()
        return type.withCName { name in
            sqlite3_bind_pointer(statement, position, pointer, name) { Unmanaged<AnyObject>.fromOpaque($0!).release() }
        }
    }
}

/// The object bound to a function's argument; nil when it is something else, as in a statement typed by hand.
func boundObject<Content>(_ value: OpaquePointer?, _ type: StaticString, as content: Content.Type) -> Content? {
    let pointer = type.withCName { sqlite3_value_pointer(value, $0) }
    // The name was given to objects around this type only. The statement keeps it alive during the call.
    return pointer.map { Unmanaged<BoundObject<Content>>.fromOpaque($0).takeUnretainedValue().content }
}
