import DAOConformance
import DAOCore
import Foundation

/// What came of a step, on the reference or on a database.
indirect enum Outcome: Sendable {
    case done
    case flag(Bool)
    case number(Int)
    case value(Value)
    case keys([Value])
    case row(Row?)
    case rows([Row])
    case batches([[Row]])
    case failed(Failure)
    /// The error that application code threw, come out unchanged.
    case thrown
    /// A sentence about something that is not as it should be.
    case wrong(String)
    /// Steps inside a step, and what came of that itself.
    case nested([Outcome], Outcome)

    /// A typed error: what the contract says about it, and not its words.
    struct Failure: Sendable, Equatable {
        var kind: StorageError.Kind
        var entity: String?
        var key: UniqueID?
        var conflictingKey: UniqueID?
        var field: String?
    }
}

extension Outcome.Failure {
    /// Takes from an error what its kind promises.
    init(_ error: StorageError) {
        kind = error.kind
        switch error.kind {
        case .uniqueViolation: (entity, key, conflictingKey, field) = (error.entity, error.key, error.conflictingKey, error.field)
        case .keyChanged: (entity, key, field) = (error.entity, error.key, error.field)
        case .duplicateKey: (entity, key) = (error.entity, error.key)
        case .arithmeticOverflow: (entity, field) = (error.entity, error.field)
        case .invalidSchema: (entity, field) = (error.entity, error.field)
        case .invalidKey, .invalidPredicate, .invalidQuery: entity = error.entity
        default: break
        }
    }

    var text: String {
        var text = kind.rawValue
        if let entity { text += " of \(entity)" }
        if let key { text += ", key \(Dump.text(of: key.rawValue))" }
        if let conflictingKey { text += ", conflicting key \(Dump.text(of: conflictingKey.rawValue))" }
        if let field { text += ", field \(field)" }
        return text
    }
}

extension Outcome {
    /// What a body gives, or the error it throws.
    static func of(_ body: () throws -> Outcome) -> Outcome {
        do {
            return try body()
        } catch is PropertyTesting.Abort {
            return .thrown
        } catch let error as StorageError {
            return .failed(Failure(error))
        } catch let error as ConformanceFailure {
            return .wrong(error.description)
        } catch {
            return .wrong("an error of another type: \(error)")
        }
    }

    /// The outcome of a call that is made again while it meets other writers, as an application does where they run side by
    /// side (T4). Nothing of a call that met one stays.
    static func retrying(_ body: () -> Outcome) -> Outcome {
        for _ in 0..<10_000 {
            let outcome = body()
            guard case .failed(let failure) = outcome, failure.kind == .conflict else { return outcome }
        }
        return body()
    }

    /// What a call of a printed test gives.
    init(_ result: Any) {
        switch result {
        case is Void: self = .done
        case let keys as [Key]: self = .keys(keys.map(\.value))
        case let rows as [any PropertyTestModel]: self = .rows(rows.map(\.values))
        case let batches as [[any PropertyTestModel]]: self = .batches(batches.map { $0.map(\.values) })
        case let row as any PropertyTestModel: self = .row(row.values)
        case let value as any ExactlyStored: self = .value(ReferenceState.stored(value.exactValue))
        default: self = .row(nil)
        }
    }

    /// Whether both are the same to the last bit.
    static func same(_ left: Outcome, _ right: Outcome) -> Bool {
        switch (left, right) {
        case (.done, .done), (.thrown, .thrown): true
        case (.flag(let left), .flag(let right)): left == right
        case (.number(let left), .number(let right)): left == right
        case (.value(let left), .value(let right)): Exact.same(left, right)
        case (.keys(let left), .keys(let right)): Exact.same(left, right)
        case (.row(let left), .row(let right)):
            if let left, let right { Exact.same(left, right) } else { left == nil && right == nil }
        case (.rows(let left), .rows(let right)): left.count == right.count && zip(left, right).allSatisfy { Exact.same($0, $1) }
        case (.batches(let left), .batches(let right)):
            left.count == right.count && zip(left, right).allSatisfy { same(.rows($0), .rows($1)) }
        case (.failed(let left), .failed(let right)): left == right
        case (.wrong(let left), .wrong(let right)): left == right
        case (.nested(let left, let leftOwn), .nested(let right, let rightOwn)):
            left.count == right.count && zip(left, right).allSatisfy { same($0, $1) } && same(leftOwn, rightOwn)
        default: false
        }
    }

    /// The outcome as text that shows every bit.
    var text: String {
        switch self {
        case .done: "done"
        case .flag(let flag): "\(flag)"
        case .number(let number): "\(number)"
        case .value(let value): Exact.text(value)
        case .keys(let keys): "[" + keys.map(Exact.text).joined(separator: ", ") + "]"
        case .row(let row): row.map(Exact.text) ?? "nil"
        case .rows(let rows): "[" + rows.map(Exact.text).joined(separator: ", ") + "]"
        case .batches(let batches): "[" + batches.map { Outcome.rows($0).text }.joined(separator: ", ") + "]"
        case .failed(let failure): failure.text
        case .thrown: "Abort"
        case .wrong(let sentence): sentence
        case .nested(let outcomes, let own): own.text + " {" + outcomes.map(\.text).joined(separator: "; ") + "}"
        }
    }
}

/// Values compared and shown to the last bit.
enum Exact {
    static func same(_ left: Value, _ right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.double(let left), .double(let right)): left.bitPattern == right.bitPattern
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        case (.decimal(let left), .decimal(let right)): left == right || (left.isNaN && right.isNaN)
        case (.string(let left), .string(let right)): Array(left.utf8) == Array(right.utf8)
        case (.data(let left), .data(let right)): left == right
        case (.uuid(let left), .uuid(let right)): left == right
        default: false
        }
    }

    static func same(_ left: [Value], _ right: [Value]) -> Bool {
        left.count == right.count && zip(left, right).allSatisfy { same($0, $1) }
    }

    static func text(_ value: Value) -> String {
        switch value {
        case .null: "nil"
        case .bool(let value): "\(value)"
        case .integer(let value): "\(value)"
        case .unsigned(let value): "\(value)"
        case .double(let value): Dump.text(of: value)
        case .decimal(let value): Dump.text(of: value)
        case .string(let value): Dump.text(of: value)
        case .data(let value): Dump.text(of: value)
        case .uuid(let value): Dump.text(of: value)
        case .date(let value): Dump.text(of: value)
        }
    }

    static func text(_ row: Row) -> String { "(" + row.map(text).joined(separator: ", ") + ")" }
}
