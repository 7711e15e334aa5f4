import DAOCore
import DAOSystemPostgres

/// The types of the parameters of statements, which the connections of an engine share where a connection of the server cannot keep
/// prepared statements.
final class PooledStatements: Sendable {
    /// More statements than this are not kept. The texts of an application's queries are far fewer.
    private static let maximum = 10_000

    private let types = Lock<[String: [UInt32]]>([:])

    /// The types of a statement's parameters; nil when they are not known.
    func types(of text: String) -> [UInt32]? { types.withLock { $0[text] } }

    func keep(_ new: [UInt32], of text: String) {
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
    let parameterTypes: [UInt32]
    private let epoch: Int
    private let connection: PostgresConnection

    /// Prepares a statement, in one round trip at most.
    init(_ text: String, _ connection: PostgresConnection, entity: String) throws {
        self.connection = connection
        self.text = text
        let pooled = connection.settings.pooled
        name = pooled == nil ? connection.newName() : ""
        if let known = pooled?.types(of: text) {
            parameterTypes = known
        } else {
            let description = try connection.run([.prepare(name, text), .describe(name)], text, entity: entity)[1]
            parameterTypes = (0..<PQnparams(description.pointer)).map { PQparamtype(description.pointer, $0) }
            pooled?.keep(parameterTypes, of: text)
        }
        // What has failed before may have changed it.
        epoch = connection.epoch
    }

    deinit { connection.discard(name, epoch) }

    /// Whether it has to be prepared again.
    var isOutdated: Bool { epoch != connection.epoch }

    /// The command that runs it.
    func command(_ parameters: Parameters) -> PostgresConnection.Command {
        name.isEmpty ? .typed(text, parameterTypes, parameters) : .run(name, parameters)
    }
}
