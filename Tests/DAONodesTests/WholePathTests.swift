import DAOCore
import DAOCurl
import DAOLoopbackServer
import DAONodes
import DAOTransport
import Foundation
import Testing

@testable import DAOExamples

// A single chain from a server on loopback to a database and back, on every backend.

@Suite(.timeLimit(.minutes(30))) struct WholePathTests {
    /// A server, a client, a DAO, and the chain between them.
    private struct Path {
        let database: any Database
        let dialogs: DAO<DialogTranslator>
        let server: LoopbackServer
        var client: CurlClient { CurlClient(baseURL: server.url, configuration: .patient) }

        /// The chain up to the application's values.
        func fetched(_ path: String) -> any Node<Json, [Dialog]> {
            let wire = EndpointNode(client: client) { (_: Json) in DialogsEndpoint(path: path) }
            return ModelInputNode<Json, [Dialog]>(next: DTOMapperNode<Json, [DialogEntry]>(next: wire))
        }

        /// The complete chain, with a fallback to the stored values.
        func chain<T: Translator>(
            _ path: String = "dialogs/", to dao: DAO<T>,
            through step: (any Node<Json, [Dialog]>) -> any Node<Json, [Dialog]> = { $0 }
        ) -> any Node<Void, [Dialog]> where T.Plain == Dialog {
            let load = FallbackToStoreNode(
                network: PersistNode(dao, next: step(fetched(path))), stored: ReadNode(dao), isUsable: { !$0.isEmpty })
            return ErrorMapperNode(next: VoidInputNode(next: load)) { LoadError($0) }
        }

        func chain(_ path: String = "dialogs/") -> any Node<Void, [Dialog]> { chain(path, to: dialogs) }
    }

    /// Runs a test on a path to an empty database.
    private func withPath(_ kind: String, _ body: (Path) async throws -> Void) async throws {
        try await withDialogs(kind) { try await body(Path(database: $0, dialogs: $1, server: LoopbackServer())) }
    }

    /// A path that responds with these dialogs.
    private func path(_ dialogs: [Json]) -> String { path(body: ["data": ["dialog_list": .array(dialogs)]]) }

    private func path(body: Json) -> String {
        "body?is=" + (body.serialized().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? "")
    }

    private func entry(_ dialog: Dialog) throws -> Json { try dialog.toDTO().toRaw() }

    private func error(of node: any Node<Void, [Dialog]>) async -> LoadError? {
        do {
            _ = try await node.value()
            return nil
        } catch {
            return error as? LoadError
        }
    }

    // MARK: Result and state

    @Test(arguments: backends) func dialogsAreFetchedStoredAndReadBack(_ kind: String) async throws {
        try await withPath(kind) { (path) async throws in
            let expected = Dialog(
                id: 7, isPinned: true, messages: [DialogMessage(id: 1, dialog: 7, position: 0, text: "hi")])
            #expect(try await path.chain().value() == [expected])
            #expect(try await path.chain().process().value == [expected])
            #expect(try await ReadNode<Void, _>(path.dialogs).value() == [expected])
            #expect(
                try dump(path.dialogs) == [
                    "\(DialogModel(id: 7, isPinned: true, isMuted: false))",
                    "\(DialogMessage(id: 1, dialog: 7, position: 0, text: "hi"))",
                ])
            #expect(Set(try path.database.entities().map(\.name)) == ["dialog", "dialog_message"])
        }
    }

    @Test(arguments: backends) func chainOfTheReadmeWorksWithAndWithoutItsServer(_ kind: String) async throws {
        try await withPath(kind) { path in
            let online = try await loadDialogs(server: path.server.url, dialogs: path.dialogs)
            #expect(online.map(\.id) == [7])
            path.server.stop()
            #expect(try await loadDialogs(server: path.server.url, dialogs: path.dialogs) == online)
        }
    }

    @Test(arguments: backends) func secondRunLeavesTheSameDatabase(_ kind: String) async throws {
        try await withPath(kind) { path in
            let arriving = [dialog(9, [91, 90]), dialog(3, isPinned: true), dialog(5, [50, 51, 52])]
            let chain = path.chain(self.path(try arriving.map(entry)))
            #expect(try await chain.value() == arriving, "in the order of the server")
            try await path.dialogs.update(where: { $0.id == 5 }) { $0.isMuted = true }
            let first = try dump(path.dialogs)
            #expect(try await chain.value() == arriving)
            #expect(try dump(path.dialogs) == first)
            #expect(try await path.chain(self.path(try arriving.reversed().map(entry))).value() == arriving.reversed())
            #expect(try dump(path.dialogs) == first)

            // Messages that are removed, moved and reordered.
            let changed = [dialog(9, [90, 50]), dialog(5, [52, 51])]
            #expect(try await path.chain(self.path(try changed.map(entry))).value().map(\.id) == [9, 5])
            #expect(try await path.dialogs.read(byPrimaryKeys: [9, 5]).map { $0.messages.map(\.id) } == [[90, 50], [52, 51]])
            #expect(try await path.dialogs.translator.messages.count() == 4)
        }
    }

    // MARK: Errors

    @Test(arguments: backends) func errorsOfEveryStageAreMappedAndChangeNothing(_ kind: String) async throws {
        try await withPath(kind) { path in
            _ = try await path.chain().value()
            let before = try dump(path.dialogs)
            let good = try entry(dialog(1, [10]))
            let stages: [(String, String, LoadError)] = [
                ("request", "http://[", .other),
                ("status", "status/503", .server(status: 503)),
                ("API", self.path(body: ["error": ["code": "gone"]]), .refused(.init(rawValue: "gone"))),
                ("JSON", "body?is=%3Chtml%3E", .unreadable),
                ("envelope", self.path(body: ["data": ["list": []]]), .unreadable),
                ("list", self.path(body: ["data": ["dialog_list": ["other": []]]]), .unreadable),
                ("entry", self.path([good, ["id": "2", "is_pinned": true]]), .unreadable),
                ("model", self.path([good, ["id": "x", "is_pinned": true, "messages": []]]), .unreadable),
            ]
            for (stage, response, expected) in stages {
                #expect(await error(of: path.chain(response)) == expected, "\(stage)")
                #expect(try dump(path.dialogs) == before, "\(stage)")
            }
            let failing = path.dialogs.watched(willStore: { _ in throw Failure("translator") })
            #expect(await error(of: path.chain(to: failing)) == .other)
            #expect(try dump(path.dialogs) == before)
            let unreadable = path.dialogs.watched(willRead: { _ in throw StorageError(.corruptedValue, "a test") })
            #expect(await error(of: path.chain(self.path([good]), to: unreadable)) == .storage(.undefined), "reading back")
            #expect(try dump(path.dialogs) == before, "values that cannot be read back are not stored")
            try path.database.close()
            #expect(await error(of: path.chain()) == .storage(.cantConnect))
        }
    }

    @Test(arguments: backends) func badElementLeavesTheDatabaseUnchanged(_ kind: String) async throws {
        try await withPath(kind) { path in
            _ = try await path.chain().value()
            let before = try dump(path.dialogs)
            let good = try (1...4).map { try entry(dialog($0, isPinned: true, [$0 * 10, $0 * 10 + 1])) }
            for index in good.indices {
                var (missing, mistyped, nested, unknown) = (good, good, good, good)
                missing[index]["messages"] = nil
                mistyped[index]["is_pinned"] = "yes"
                nested[index]["messages"] = [["id": "10", "text": "ok"], ["id": "11"]]
                unknown[index]["id"] = "seven"
                for response in [missing, mistyped, nested, unknown] {
                    #expect(await error(of: path.chain(self.path(response))) == .unreadable)
                }
                let failing = path.dialogs.watched(willStore: { if $0.id == index + 1 { throw StorageError(.io, "a test") } })
                #expect(await error(of: path.chain(self.path(good), to: failing)) == .storage(.cantConnect))
                #expect(try dump(path.dialogs) == before)
            }
        }
    }

    // MARK: Offline

    @Test(arguments: backends) func storedDialogsAreUsedWithoutTheServer(_ kind: String) async throws {
        try await withPath(kind) { path in
            let dialogs = try await path.chain().value()
            let before = try dump(path.dialogs)
            path.server.stop()
            #expect(try await path.chain().value() == dialogs)
            #expect(try dump(path.dialogs) == before)

            let first = FirstCacheNode(
                stored: ReadNode(path.dialogs), network: PersistNode(path.dialogs, next: path.fetched("dialogs/")))
            var seen: [[Dialog]] = []
            await #expect(throws: URLError.self) { for try await page in first.values(for: [:]) { seen.append(page) } }
            #expect(seen == [dialogs])

            try await path.dialogs.erase()
            #expect(await error(of: path.chain()) == .offline, "there is no stored result to fall back to")
        }
    }

    // MARK: Cancellation

    /// A node that waits for its cancellation before it passes on the output of the next node, and then
    /// passes it on regardless.
    private func ignoringCancellation(_ next: any Node<Json, [Dialog]>, _ reached: Counter) -> any Node<Json, [Dialog]> {
        ClosureNode(async: { input in
            let dialogs = try await next.value(for: input)
            reached.increment()
            try? await Task.sleep(for: .seconds(60))
            return dialogs
        })
    }

    /// Starts a chain as an observer and as a task, cancels each at the intended point, and checks that
    /// neither fails with an error.
    private func cancel(
        _ chain: any Node<Void, [Dialog]>, once isThere: @escaping @Sendable (Int) -> Bool, release: () -> Void = {}
    )
        async throws
    {
        let log = Log()
        let observer = chain.process()
        log.follow(observer)
        #expect(await eventually { isThere(1) })
        observer.cancel()
        release()
        #expect(log.all == ["cancelled", "defer"])

        let task = Task { try await chain.value() }
        #expect(await eventually { isThere(2) })
        task.cancel()
        release()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.all == ["cancelled", "defer"])
    }

    @Test(arguments: backends) func cancellingBeforeTheTransactionWritesNothing(_ kind: String) async throws {
        try await withPath(kind) { path in
            let start = ContinuousClock.now
            // During the transfer.
            try await cancel(path.chain("slow"), once: { _ in ContinuousClock.now - start > .milliseconds(200) })
            // Between the mapping and the transaction, in a node that ignores cancellation.
            let reached = Counter()
            try await cancel(
                path.chain(to: path.dialogs, through: { ignoringCancellation($0, reached) }), once: { reached.value == $0 })
            // Before the start.
            let early = Task {
                withUnsafeCurrentTask { $0?.cancel() }
                return try await path.chain().value()
            }
            await #expect(throws: CancellationError.self) { try await early.value }
            // While waiting for the writer.
            let busy = try await BusyWriter(path.database)
            let arrived = Counter()
            let counted: @Sendable (any Node<Json, [Dialog]>) -> any Node<Json, [Dialog]> = { next in
                ClosureNode { input in
                    next.process(input).map { (dialogs: [Dialog]) in
                        arrived.increment()
                        return dialogs
                    }
                }
            }
            try await cancel(path.chain(to: path.dialogs, through: counted), once: { arrived.value == $0 })
            try await busy.end()
            try await path.database.engineState.executor.write {}
            #expect(try dump(path.dialogs).isEmpty)
        }
    }

    @Test(arguments: backends) func cancellingInsideTheTransactionUndoesIt(_ kind: String) async throws {
        try await withPath(kind) { path in
            let arriving = [dialog(1, [10, 11]), dialog(2, [20]), dialog(3)]
            let (inside, gate) = (Counter(), DispatchSemaphore(value: 0))
            let watched = path.dialogs.watched(willStore: { dialog in
                guard dialog.id == 2 else { return }
                inside.increment()
                gate.wait()
            })
            let log = Log()
            let observer = path.chain(self.path(try arriving.map(entry)), to: watched).process()
            log.follow(observer)
            #expect(await eventually { inside.value == 1 })
            #expect(try dump(path.dialogs).isEmpty, "readers see nothing of a running transaction")
            observer.cancel()
            gate.signal()
            try await path.database.engineState.executor.write {}
            #expect(try dump(path.dialogs).isEmpty, "nothing of a cancelled transaction is stored")
            #expect(log.all == ["cancelled", "defer"])
        }
    }

    @Test(arguments: backends) func cancellingTheFallbackReadIsNotAnError(_ kind: String) async throws {
        try await withPath(kind) { path in
            let dialogs = try await path.chain().value()
            path.server.stop()
            let (inside, gate) = (Counter(), DispatchSemaphore(value: 0))
            let watched = path.dialogs.watched(willRead: { _ in
                inside.increment()
                gate.wait()
            })
            let log = Log()
            let observer = path.chain(to: watched).process()
            log.follow(observer)
            #expect(await eventually { inside.value == 1 })
            observer.cancel()
            gate.signal()
            #expect(log.all == ["cancelled", "defer"])
            #expect(try await path.dialogs.read() == dialogs)
        }
    }
}
