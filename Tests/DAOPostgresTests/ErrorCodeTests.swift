import DAOCore
import Foundation
import Testing

@testable import DAOPostgres

@Suite("L5 · Every code of PostgreSQL has a decided kind, and only damage is called so")
struct ErrorCodeTests {
    /// The codes of the table that comes with the server, by class; empty where it is not installed.
    private static let table: [(state: String, isError: Bool)] = {
        let root = "/usr/share/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        return versions.flatMap { version -> [(String, Bool)] in
            let text = (try? String(contentsOfFile: "\(root)/\(version)/errcodes.txt", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").compactMap { line in
                guard let found = line.firstMatch(of: /^([0-9A-Z]{5})\s+([EWS])\s+ERRCODE_/) else { return nil }
                return (String(found.1), found.2 == "E")
            }
        }
    }()

    @Test(.enabled(if: !table.isEmpty, "the table of a server is not installed")) func everyCodeOfTheServersTableIsDecided() {
        #expect(Self.table.count > 200)
        for (state, isError) in Self.table {
            #expect(ServerErrorCode.classes[String(state.prefix(2))] != nil, "the class of \(state) has a meaning")
            let error = ServerError(state: state, message: "").storageError(path: "p")
            #expect((error.kind == .corrupted) == ["XX001", "XX002"].contains(state), "\(state) is \(error.kind)")
            if !isError { #expect(error.kind == .io, "\(state) is no error") }
        }
        for state in ServerErrorCode.codes.keys {
            // Versions add codes.
            #expect(Self.table.contains { $0.state == state } || state == "25P04", "\(state) is a code of PostgreSQL")
        }
    }

    @Test(arguments: [
        ("26000", StorageError.Kind.unreachable), ("25P03", .unreachable), ("25P04", .unreachable), ("57P01", .unreachable),
        ("57P05", .unreachable), ("08006", .unreachable), ("", .unreachable), ("40003", .unreachable), ("57014", .busy),
        ("55P03", .busy), ("55006", .busy), ("53300", .busy), ("53100", .outOfSpace), ("53400", .outOfSpace),
        ("40001", .conflict), ("40P01", .conflict), ("40002", .schemaMismatch), ("23514", .schemaMismatch),
        ("P0001", .schemaMismatch), ("22001", .schemaMismatch), ("42703", .schemaMismatch), ("42501", .notPermitted),
        ("28P01", .notPermitted), ("3D000", .notFound), ("25006", .readOnly), ("25P02", .invalidTransaction),
        ("34000", .invalidTransaction), ("54000", .unsupported), ("72000", .snapshotTooOld), ("58030", .io), ("XX000", .io),
        ("XX001", .corrupted), ("XX002", .corrupted), ("ZZ999", .io),
    ])
    func kind(_ state: String, _ kind: StorageError.Kind) {
        #expect(ServerError(state: state, message: "").storageError(path: "p").kind == kind)
    }

    @Test func anErrorThatEndsTheConnectionIsALoss() {
        var error = ServerError(state: "XX000", message: "")
        #expect(!error.isLoss)
        error.isFatal = true
        #expect(error.isLoss)
        #expect(error.storageError(path: "p").kind == .unreachable)
        // Damage stays damage.
        error.state = "XX001"
        #expect(error.storageError(path: "p").kind == .corrupted)
    }
}
