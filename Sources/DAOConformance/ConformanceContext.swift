import DAOCore

/// What a case works with: databases of the kind under test, and expectations that say what came and what was expected.
public final class ConformanceContext: Sendable {
    private let target: ConformanceTarget
    /// Where this case's database is; every case has its own.
    public let location: ConformanceTarget.Location

    init(target: ConformanceTarget, location: ConformanceTarget.Location) {
        self.target = target
        self.location = location
    }

    /// Opens this case's database; opening it again while it is open gives a second handle on the same data.
    public func open() throws -> any Database { try target.open(location) }

    /// A storage in a freshly opened database.
    public func storage<Record: Model>(_ model: Record.Type) throws -> any Storage<Record> { try open().storage(for: model) }

    /// A DAO of a type that is both value and record, in a freshly opened database.
    public func dao<Record: Model & Plain>(_ model: Record.Type) throws -> DAO<IdentityTranslator<Record>> {
        DAO(storage: try storage(model))
    }
}

/// What a case found wrong.
public struct ConformanceFailure: Error, Sendable, CustomStringConvertible {
    /// What was expected and what came.
    public let description: String
    /// Where in the suite.
    public let location: String

    init(_ description: String, file: StaticString, line: UInt) {
        self.description = description
        location = "\(file):\(line)"
    }
}

/// Fails the case unless two values are equal.
func expectEqual<Value: Equatable>(
    _ got: @autoclosure () throws -> Value, _ expected: Value, _ what: @autoclosure () -> String = "the result",
    file: StaticString = #fileID, line: UInt = #line
) throws {
    let got = try got()
    guard got != expected else { return }
    throw ConformanceFailure(
        "\(what()): expected \(shortened(expected)), got \(shortened(got))", file: file, line: line)
}

/// Fails the case unless a condition holds.
func expect(
    _ condition: @autoclosure () throws -> Bool, _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line
) throws {
    guard try condition() else { throw ConformanceFailure("expected: \(what())", file: file, line: line) }
}

/// Fails the case unless a body throws a `StorageError` of a kind; gives the error to look at.
@discardableResult
func expectError(
    _ kind: StorageError.Kind, _ what: @autoclosure () -> String = "the call", file: StaticString = #fileID, line: UInt = #line,
    _ body: () throws -> some Any
) throws -> StorageError {
    do {
        let result = try body()
        throw ConformanceFailure(
            "\(what()): expected a StorageError of kind \(kind.rawValue), got \(shortened(result))", file: file, line: line)
    } catch let error as StorageError {
        guard error.kind == kind else {
            throw ConformanceFailure("\(what()): expected a StorageError of kind \(kind.rawValue), got \(error)", file: file, line: line)
        }
        return error
    }
}

private func shortened(_ value: some Any) -> String {
    let text = String(describing: value)
    return text.count > 400 ? "\(text.prefix(400))… (\(text.count) characters)" : text
}
