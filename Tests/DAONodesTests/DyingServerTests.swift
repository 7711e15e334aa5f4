import DAOCore
import DAOCurl
import DAOLoopbackServer
import DAONodes
import DAOTransport
import Foundation
import Testing

@testable import DAOExamples

/// The chain of the README, where stored values exist and the server dies while it answers, at any byte, or says nothing
/// of use with any status.
@Suite(.timeLimit(.minutes(10))) struct DyingServerTests {
    @Test(arguments: ["memory:", "sqlite:"])
    func serverThatDiesWhileItAnswersChangesNothing(_ kind: String) async throws {
        let answers =
            kind == "memory:"
            ? Answers.brokenOff + Answers.statuses + Answers.strange
            : Answers.brokenOff.enumerated().filter { $0.offset % 10 == 0 }.map(\.element)
        let stored = dialog(3, isPinned: true, [31, 32])
        let server = try HostileServer(answers)
        let client = CurlClient(baseURL: server.url, limits: TransferLimits(deadline: .seconds(30)))
        try await withDialogs(kind) { _, dialogs in
            var counts = (fetched: 0, offline: 0, refused: 0)
            try await dialogs.persist(stored)
            let before = try dump(dialogs)
            for (index, answer) in answers.enumerated() {
                let wire = EndpointNode(client: client) { (_: Json) in DialogsEndpoint(path: "\(index)") }
                let fetched = ModelInputNode<Json, [Dialog]>(next: DTOMapperNode<Json, [DialogEntry]>(next: wire))
                let synced = PersistNode(dialogs, next: fetched, replacing: .all)
                let load = FallbackToStoreNode(network: synced, stored: ReadNode(dialogs))
                let chain = ErrorMapperNode(next: VoidInputNode(next: load)) { LoadError($0) }
                do {
                    let shown = try await chain.value()
                    if shown == [stored] {
                        counts.offline += 1
                    } else {
                        // The complete answer: the server's dialog in place of the stored one.
                        #expect(shown.map(\.id) == [7], "\(answer)")
                        #expect(answer.hasWholeBody && !answer.isPartial, "\(answer)")
                        counts.fetched += 1
                        try await dialogs.translator.messages.erase()
                        try await dialogs.erase()
                        try await dialogs.persist(stored)
                    }
                } catch {
                    #expect(error is LoadError, "\(answer): \(error)")
                    counts.refused += 1
                }
                #expect(try dump(dialogs) == before, "\(answer)")
            }
            if kind == "memory:" {
                // Broken-off answers show the stored values.
                #expect(counts.offline >= Answers.brokenOff.count { !$0.hasWholeBody })
                #expect(counts.fetched >= Answers.brokenOff.count { $0.isComplete && !$0.isPartial })
                #expect(counts.refused > 2000)
            }
        }
    }

    /// Nothing tells the client that such an answer is broken off, and mapping does. The guide says how to show stored values then.
    @Test func brokenOffAnswerWithoutALengthIsUnreadable() async throws {
        let answers = Answers.withoutLength
        let stored = dialog(3, isPinned: true, [31, 32])
        let server = try HostileServer(answers)
        let client = CurlClient(baseURL: server.url, limits: TransferLimits(deadline: .seconds(30)))
        try await withDialogs("memory:") { _, dialogs in
            for (index, answer) in answers.enumerated() {
                try await dialogs.translator.messages.erase()
                try await dialogs.erase()
                try await dialogs.persist(stored)
                let wire = EndpointNode(client: client) { (_: Json) in DialogsEndpoint(path: "\(index)") }
                let fetched = ModelInputNode<Json, [Dialog]>(next: DTOMapperNode<Json, [DialogEntry]>(next: wire))
                let synced = VoidInputNode(next: PersistNode(dialogs, next: fetched, replacing: .all))
                let read = ReadNode<Void, DialogTranslator>(dialogs)
                let usual = ErrorMapperNode(next: FallbackToStoreNode(network: synced, stored: read)) { LoadError($0) }
                let lenient = FallbackToStoreNode(
                    network: synced, stored: read, when: { [.offline, .unreadable].contains(LoadError($0)) })
                if answer.hasWholeBody {
                    #expect(try await usual.value().map(\.id) == [7], "\(answer)")
                } else {
                    await #expect(throws: LoadError.unreadable, "\(answer)") { try await usual.value() }
                    #expect(try await lenient.value() == [stored], "\(answer)")
                }
            }
        }
    }
}
