import DAOCore
import DAOSystemSQLite

// Patterns, filters and sets are bound by reference. SQLite keeps the object as long as it is bound, and
// passes it to the functions of the suite.

/// A class around a value that is bound by reference.
final class BoundObject<Content> {
    let content: Content
    init(_ content: Content) { self.content = content }
}

/// A filter with the columns that are the arguments of the function.
struct BoundFilter {
    let filter: Filter
    let columns: [(field: Int, kind: ValueKind, content: EmbeddedContent?)]
}

/// The names by which SQLite distinguishes bound references. SQLite compares them as text and keeps their
/// pointers, so they have to be literals, which never move.
enum BoundType {
    static let pattern: StaticString = "dao-pattern"
    static let filter: StaticString = "dao-filter"
    static let values: StaticString = "dao-values"
    static let list: StaticString = "dao-list"
}

extension StaticString {
    fileprivate func withCName<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        // A literal of ASCII text has a pointer to bytes that never move and end with a zero.
        body(UnsafeRawPointer(utf8Start).assumingMemoryBound(to: CChar.self))
    }
}

extension Bind {
    /// Binds an object by reference. The statement keeps it until the parameter is bound again or cleared.
    static func object<Content>(
        _ statement: OpaquePointer, _ position: Int32, _ object: BoundObject<Content>, _ type: StaticString
    ) -> Int32 {
        // SQLite calls the destructor also when binding fails. The destructor releases the count that is
        // retained here.
        let pointer = Unmanaged.passRetained(object).toOpaque()
        return type.withCName { name in
            sqlite3_bind_pointer(statement, position, pointer, name) { Unmanaged<AnyObject>.fromOpaque($0!).release() }
        }
    }
}

/// Returns the object bound to a function's argument; nil when the argument is something else, as in a
/// statement typed by hand.
func boundObject<Content>(_ value: OpaquePointer?, _ type: StaticString, as content: Content.Type) -> Content? {
    let pointer = type.withCName { sqlite3_value_pointer(value, $0) }
    // Only objects of this type have the name. The statement keeps the object alive during the call.
    return pointer.map { Unmanaged<BoundObject<Content>>.fromOpaque($0).takeUnretainedValue().content }
}
