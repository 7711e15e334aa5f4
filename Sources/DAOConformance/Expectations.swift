import DAOCore

/// The failure of a case.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// The expected and the actual value, in a sentence.
    public let description: String
    /// The expected value, when the failure compares values.
    public let expected: String?
    /// The actual value, when the failure compares values.
    public let got: String?
    /// The location of the failure in the suite.
    public let location: String

    package init(_ description: String, file: StaticString, line: UInt) {
        self.description = description
        expected = nil
        got = nil
        location = "\(file):\(line)"
    }

    package init(_ what: String, expected: String, got: String, file: StaticString, line: UInt) {
        description = "\(what): expected \(expected), got \(got)"
        self.expected = expected
        self.got = got
        location = "\(file):\(line)"
    }
}

/// Fails the case unless two values are equal. Strings are compared by `==`; see the overloads for text.
package func expectEqual<Value: Equatable>(
    _ got: @autoclosure () throws -> Value, _ expected: Value, _ what: @autoclosure () -> String = "the result",
    file: StaticString = #fileID, line: UInt = #line
) throws {
    let got = try got()
    guard got != expected else { return }
    throw ConformanceFailure(what(), expected: shortened(expected), got: shortened(got), file: file, line: line)
}

/// Fails the case unless two texts have the same bytes.
func expectEqual(
    _ got: @autoclosure () throws -> String, _ expected: String, _ what: @autoclosure () -> String = "the text",
    file: StaticString = #fileID, line: UInt = #line
) throws {
    let got = try got()
    guard !got.utf8.elementsEqual(expected.utf8) else { return }
    throw ConformanceFailure(what(), expected: Dump.text(of: expected), got: Dump.text(of: got), file: file, line: line)
}

/// Fails the case unless two lists hold the same texts, byte by byte.
func expectEqual(
    _ got: @autoclosure () throws -> [String], _ expected: [String], _ what: @autoclosure () -> String = "the texts",
    file: StaticString = #fileID, line: UInt = #line
) throws {
    let got = try got()
    guard !got.elementsEqual(expected, by: { $0.utf8.elementsEqual($1.utf8) }) else { return }
    throw ConformanceFailure(
        what(), expected: shortened(expected.map(Dump.text)), got: shortened(got.map(Dump.text)), file: file, line: line)
}

/// Fails the case unless two lists hold the same values bit by bit; the failure shows the first difference.
func expectSame<Element>(
    _ got: @autoclosure () throws -> [Element], _ expected: [Element], _ what: @autoclosure () -> String = "the rows",
    file: StaticString = #fileID, line: UInt = #line
) throws {
    let (got, expected) = (try got().map(Dump.text), expected.map(Dump.text))
    guard got != expected else { return }
    let index = zip(got, expected).enumerated().first { $1.0 != $1.1 }?.offset ?? min(got.count, expected.count)
    func row(_ rows: [String]) -> String { rows.indices.contains(index) ? rows[index] : "no more" }
    throw ConformanceFailure(
        "\(what()), \(index) (of \(expected.count) expected, \(got.count) got)", expected: shortened(row(expected)),
        got: shortened(row(got)), file: file, line: line)
}

/// Fails the case unless two values are the same bit by bit.
func expectSame<Value>(
    _ got: @autoclosure () throws -> Value, _ expected: Value, _ what: @autoclosure () -> String = "the value",
    file: StaticString = #fileID, line: UInt = #line
) throws {
    let (got, expected) = (Dump.text(of: try got()), Dump.text(of: expected))
    guard got != expected else { return }
    throw ConformanceFailure(what(), expected: shortened(expected), got: shortened(got), file: file, line: line)
}

/// Fails the case unless a condition holds.
package func expect(
    _ condition: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID,
    line: UInt = #line
) throws {
    guard try condition() else { throw ConformanceFailure("expected: \(what())", file: file, line: line) }
}

extension Database {
    /// Fails the case when a verification finds a problem. A database without rows without types cannot verify itself.
    func expectVerified(_ what: @autoclosure () -> String = "the problems", file: StaticString = #fileID, line: UInt = #line)
        throws
    {
        guard capabilities.hasEvolution else { return }
        try expectEqual(try verify().problems.map(\.description), [], what(), file: file, line: line)
    }
}

/// Fails the case with a sentence.
package func fail(_ what: String, file: StaticString = #fileID, line: UInt = #line) -> ConformanceFailure {
    ConformanceFailure(what, file: file, line: line)
}

/// Returns the value; fails the case when it is nil.
package func require<Value>(
    _ value: @autoclosure () throws -> Value?, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) throws -> Value {
    guard let value = try value() else { throw ConformanceFailure("expected: \(what())", file: file, line: line) }
    return value
}

/// Fails the case unless a closure throws exactly the expected `StorageError`; returns the error for further
/// checks.
///
/// - Parameters:
///   - kind: The kind of the fault.
///   - what: The call that throws, for the failure.
///   - entity: The entity in the error; nil for an error without an entity.
///   - key: The key in the error.
///   - conflictingKey: The key of the conflicting row in the error.
///   - field: The field in the error.
///   - path: The path in the error; nil when the path is not compared (contract L7).
///   - message: The message, when the code that makes it serves all databases.
@discardableResult
func expectError(
    _ kind: StorageError.Kind, _ what: @autoclosure () -> String = "the call", entity: String? = nil, key: UniqueID? = nil,
    conflictingKey: UniqueID? = nil, field: String? = nil, path: String? = nil, message: String? = nil,
    file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> some Any
) throws -> StorageError {
    let result: any Sendable
    do {
        result = shortened(try body())
    } catch let error as StorageError {
        let isExpected =
            error.kind == kind && error.entity == entity && error.key == key && error.conflictingKey == conflictingKey
            && error.field == field && (path == nil || error.path == path) && (message == nil || error.message == message)
        if isExpected { return error }
        result = error
    } catch let failure as ConformanceFailure {
        throw failure
    } catch {
        result = "another error: \(error)"
    }
    let expected = StorageError(
        kind, message ?? "…", entity: entity, key: key, conflictingKey: conflictingKey, field: field, path: path)
    throw ConformanceFailure(what(), expected: "\(expected)", got: "\(result)", file: file, line: line)
}

/// The same as ``expectError(_:_:entity:key:conflictingKey:field:path:message:file:line:_:)``, for an
/// asynchronous closure.
@discardableResult
func expectAsyncError(
    _ kind: StorageError.Kind, _ what: @autoclosure () -> String = "the call", entity: String? = nil, key: UniqueID? = nil,
    conflictingKey: UniqueID? = nil, field: String? = nil, path: String? = nil, message: String? = nil,
    file: StaticString = #fileID, line: UInt = #line, _ body: () async throws -> Void
) async throws -> StorageError {
    let caught: Result<Void, any Error>
    do {
        caught = .success(try await body())
    } catch {
        caught = .failure(error)
    }
    return try expectError(
        kind, what(), entity: entity, key: key, conflictingKey: conflictingKey, field: field, path: path, message: message,
        file: file, line: line
    ) { try caught.get() }
}

/// An error of the application, which a case throws through a database and expects unchanged.
package struct DeliberateError: Error, Equatable {
    var number: Int

    package init(number: Int = 0) { self.number = number }
}

/// Fails the case unless a closure throws exactly this error.
func expectDeliberate(
    _ expected: DeliberateError = DeliberateError(), _ what: @autoclosure () -> String = "the call",
    file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> some Any
) throws {
    let result: String
    do {
        result = shortened(try body())
    } catch let error as DeliberateError where error == expected {
        return
    } catch let failure as ConformanceFailure {
        throw failure
    } catch {
        throw ConformanceFailure(what(), expected: "\(expected), unchanged", got: "\(error)", file: file, line: line)
    }
    throw ConformanceFailure(what(), expected: "\(expected), unchanged", got: result, file: file, line: line)
}

/// Runs a body in a transaction that the application ends with an error, and expects that error.
func expectRollback(
    of database: any Database, file: StaticString = #fileID, line: UInt = #line, _ body: () throws -> Void
) throws {
    try expectDeliberate(file: file, line: line) {
        try database.transaction {
            try body()
            throw DeliberateError()
        }
    }
}

func shortened(_ value: some Any) -> String {
    let text = String(describing: value)
    return text.count > 400 ? "\(text.prefix(400))… (\(text.count) characters)" : text
}
