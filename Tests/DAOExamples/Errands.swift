// The code of Docs/Apple.md, compiled, and run except for the views.

import DAOCore
import DAOMemory
import DAOSQLite
import Foundation

struct Errand: Model, Equatable {
    var id: UUID
    var title: String
    var isDone: Bool

    static let schema = Schema(
        "errand", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title), Field("isDone", \.isDone, .indexed))
}

/// What the application, its widgets and its background tasks do with errands.
final class Errands: Sendable {
    let database: any Database
    let all: DAO<Errand>

    init(_ database: any Database) throws {
        self.database = database
        all = DAO(storage: try database.storage(for: Errand.self))
    }

    /// Opens the file in a directory, which a widget or a share extension can open at the same time.
    static func stored(in directory: URL) throws -> Errands {
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
        let path = directory.appendingPathComponent("errands.db").path
        return try Errands(SQLiteDatabase(DatabaseConfiguration(scheme: "sqlite", path: path)))
    }

    /// For previews and tests.
    static func inMemory(_ titles: String...) throws -> Errands {
        let errands = try Errands(DatabaseDrivers(.memory).open("memory:"))
        try errands.all.persist(titles.map { Errand(id: UUID(), title: $0, isDone: false) })
        return errands
    }

    func add(_ title: String) async throws { try await all.persist(Errand(id: UUID(), title: title, isDone: false)) }

    func toggle(_ errand: Errand) async throws {
        var changed = errand
        changed.isDone.toggle()
        try await all.persist(changed)
    }

    /// What a background task does: it works, and then holds no locks when the system freezes the process again.
    func refresh(_ fetched: [Errand]) async throws {
        try await database.transaction { [all] in try all.persist(fetched) }
        try await database.suspend()
    }
}

#if canImport(SwiftUI)
    import SwiftUI

    // In an application it is marked with `@main`.
    struct ErrandsApp: App {
        @State private var errands: Errands?
        @State private var failure: String?
        @Environment(\.scenePhase) private var phase

        var body: some Scene {
            WindowGroup {
                if let errands {
                    ErrandList(errands: errands)
                } else {
                    Text(failure ?? "").task { open() }
                }
            }
            .onChange(of: phase) { _, phase in
                guard phase == .background, let errands else { return }
                Task { try? await errands.database.suspend() }
            }
        }

        private func open() {
            do {
                errands = try Errands.stored(in: sharedDirectory())
            } catch {
                failure = "\(error)"
            }
        }
    }

    struct ErrandList: View {
        let errands: Errands
        @State private var list: ObservedList<Errand>
        @State private var title = ""
        @State private var failure: String?

        init(errands: Errands) {
            self.errands = errands
            _list = State(initialValue: ObservedList(errands.all, orderedBy: .ascending(\.title)) { !$0.isDone })
        }

        var body: some View {
            List {
                TextField("New errand", text: $title).onSubmit { change { try await errands.add(title) } }
                ForEach(list.elements, id: \.id) { errand in
                    Button(errand.title) { change { try await errands.toggle(errand) } }
                }
            }
            .overlay {
                if list.isLoading { ProgressView() }
                if list.isEmpty { Text("All done") }
                if let failure { Text(failure) }
                if list.error != nil { Button("Try again") { list.retry() } }
            }
        }

        private func change(_ body: @escaping () async throws -> Void) {
            Task {
                do {
                    try await body()
                    (title, failure) = ("", nil)
                } catch {
                    failure = "\(error)"
                }
            }
        }
    }

    /// The directory that an application shares with its extensions; the group is one of its entitlements.
    func sharedDirectory() throws -> URL {
        let group = "group.com.example.errands"
        guard let container = FileManager.default.containerURL(forSecurityApplicationGroupIdentifier: group) else {
            throw CocoaError(.fileNoSuchFile)
        }
        return container.appendingPathComponent("Library/Application Support/Errands")
    }

    /// Keeps a directory of what can be fetched again out of backups.
    func excludeFromBackup(_ directory: URL) throws {
        var directory = directory
        var values = URLResourceValues()
        values.isExcludedFromBackup = true
        try directory.setResourceValues(values)
    }

    /// Lets new files in a directory be read while the device is locked, once it was unlocked after its start.
    func protect(_ directory: URL) throws {
        let attributes: [FileAttributeKey: Any] = [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication]
        try FileManager.default.setAttributes(attributes, ofItemAtPath: directory.path)
    }

    struct ErrandListPreview: PreviewProvider {
        static var previews: some View {
            if let errands = try? Errands.inMemory("Milk", "Stamps") { ErrandList(errands: errands) }
        }
    }
#endif
