import DAOCore
import DAOSQL
import DAOSystemPostgres

/// The types of the parameters and columns of statements, which the connections of an engine share where a connection of the server
/// cannot keep prepared statements.
final class PooledStatements: Sendable {
    /// More statements than this are not kept. The texts of an application's queries are far fewer.
    private static let maximum = 10_000

    struct Types {
        let parameters: [UInt32]
        let columns: [UInt32]

        /// The types in a description of a statement.
        init(_ description: PostgresResult) {
            parameters = (0..<PQnparams(description.pointer)).map { PQparamtype(description.pointer, $0) }
            columns = (0..<description.columnCount).map { description.types[$0] }
        }
    }

    private let types = Lock<[String: Types]>([:])

    /// The types of a statement; nil when they are not known.
    func types(of text: String) -> Types? { types.withLock { $0[text] } }

    func keep(_ new: Types, of text: String) {
        types.withLock {
            if $0.count >= Self.maximum { $0.removeAll() }
            $0[text] = new
        }
    }

    /// Forgets all types, when the tables have changed.
    func removeAll() { types.withLock { $0.removeAll() } }
}

/// A statement that the server has prepared. Behind a pooler it has no name: it is sent whole, with the types of its parameters.
final class PreparedStatement {
    private let name: String
    private let text: String
    /// The types of its parameters.
    var parameterTypes: [UInt32] { types.parameters }
    private let types: PooledStatements.Types
    private let epoch: Int
    private let connection: PostgresConnection

    /// Prepares a statement, in one round trip at most.
    init(_ text: String, _ connection: PostgresConnection, entity: String) throws {
        self.connection = connection
        self.text = text
        let pooled = connection.settings.pooled
        name = pooled == nil ? connection.newName() : ""
        if let known = pooled?.types(of: text) {
            types = known
        } else {
            types = .init(try connection.run([.prepare(name, text), .describe(name)], text, entity: entity)[1])
            pooled?.keep(types, of: text)
        }
        // What has failed before may have changed it.
        epoch = connection.epoch
    }

    deinit { connection.discard(name, epoch) }

    /// Checks that rows have the columns that were described. A server that has the statement prepared refuses to run it when it would
    /// have others.
    ///
    /// - Throws: ``SQLMissingTable``, so that the call looks at the stored tables, and runs again or says what has changed.
    func check(_ result: PostgresResult?, entity: String) throws {
        guard name.isEmpty, let result, !result.hasColumns(types.columns) else { return }
        connection.forgetStatements()
        throw SQLMissingTable(.outdated(entity, path: connection.path), isStatement: true)
    }

    /// Whether it has to be prepared again.
    var isOutdated: Bool { epoch != connection.epoch }

    /// The command that runs it.
    func command(_ parameters: Parameters) -> PostgresConnection.Command {
        name.isEmpty ? .typed(text, parameterTypes, parameters) : .run(name, parameters)
    }
}
