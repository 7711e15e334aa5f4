import DAOLMDB
import DAOMemory
import DAOPostgres
import DAOSQLite
import DAOTestSupport
import Foundation

@testable import DAOConformance
@testable import DAOCore

/// The working databases in which faults are planted.
enum FaultyBase {
    /// The kind of database with a fault: arrays, or what DAO_FAULTS_URL names. Faults of servers need a server.
    static func of(_ fault: Fault) -> ConformanceTarget {
        if fault.chapter == .servers { return (fault.hasConcurrentWriters ? concurrent : server) ?? arrays(fault) }
        return chosen ?? arrays(fault)
    }

    /// Whether faults are planted in the database that DAO_FAULTS_URL names.
    static var isChosen: Bool { chosen != nil }
    static var hasServer: Bool { server != nil }
    /// Whether asynchronous calls share commits.
    static let sharesCommits: Bool = {
        guard let chosen, let location = try? ConformanceTarget.Location.make() else { return true }
        defer { chosen.remove(location) }
        guard let database = try? chosen.open(location) else { return true }
        defer { try? database.close() }
        return database.engineState.sharesCommits
    }()

    private static func arrays(_ fault: Fault) -> ConformanceTarget {
        ConformanceTarget(name: "array") { try ArrayDatabase($0.name, limits: fault.limits) }
    }

    private static let chosen = target(environment("DAO_FAULTS_URL"))
    private static let server = target(environment("DAO_POSTGRES_URL").map { "\($0)?pool=40" })
    private static let concurrent = target(environment("DAO_POSTGRES_URL").map { "\($0)?pool=40&writers=many" })

    private static func environment(_ name: String) -> String? { ProcessInfo.processInfo.environment[name] }

    private static func target(_ url: String?) -> ConformanceTarget? {
        guard let url else { return nil }
        return try? ConformanceTarget(
            url: url, drivers: [.memory, .sqlite, .lmdb, .postgres], program: Process.built("dao-conformance"))
    }
}

/// Connections to the server of a working database, with one planted fault.
final class FaultyNetwork: ConformanceNetwork {
    private let base: any ConformanceNetwork
    private let fault: Fault
    private let location: ConformanceTarget.Location
    private var place: FaultyPlace { .of(location.name) }

    init(base: any ConformanceNetwork, _ fault: Fault, at location: ConformanceTarget.Location) {
        self.base = base
        self.fault = fault
        self.location = location
    }

    func open() throws -> any Database { try FaultyDatabase(location, fault, on: base.open()) }

    func openAsStranger() throws -> any Database {
        do {
            return try base.openAsStranger()
        } catch let error as StorageError where fault == .strangersAreUnreachable {
            throw StorageError(.unreachable, error.message)
        }
    }

    func cut() {
        base.cut()
        place.didCut()
    }

    func disturb(next message: ConformanceMessage, _ disturbance: ConformanceDisturbance) {
        if message == .answer { place.didLoseAnswer() }
        base.disturb(next: message, disturbance)
    }

    func refuse(_ isRefusing: Bool) { base.refuse(isRefusing) }
    func stop() { base.stop() }
}
