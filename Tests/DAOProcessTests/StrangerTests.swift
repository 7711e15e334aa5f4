#if os(Linux)
    import DAOChildProcesses
    import DAOTestSupport
    import Foundation
    import Testing

    /// Contract L8: strangers act on a file that three processes have open, before any call of one of them. Set
    /// `ROUNDS=100000` in the environment for an act before each call.
    @Suite(.serialized, .timeLimit(.minutes(120))) struct StrangerTests {
        @Test(
            arguments: Place.Kind.allCases + Place.Kind.encrypted,
            ["rename", "remove", "replace", "truncate", "permissions", "lock", "close"])
        func strangerDoesNoHarm(_ kind: Place.Kind, _ hand: String) async throws {
            try await onThread {
                let (seed, runs) = (Rounds.seed, Rounds.count(5))
                let name = "SEED=\(seed) \(kind) \(hand)"
                var (next, ended) = (0, 0)
                repeat {
                    let child = try Child("hands", kind.rawValue, hand, "\(runs)", "\(seed)", "\(next)")
                    let (last, isDone) = try child.linesUntilDone { Issue.record("\(name): \($0)") }
                    let status = child.wait()
                    if status == 0, isDone {
                        print("\(kind), \(hand): \(last); \(ended) processes ended by the system")
                        break
                    }
                    // LMDB reads through a map, and trusts what it reads. A process ends when a part was cut off.
                    let isExpected = kind == .lmdb && hand == "truncate" && [-SIGBUS, -SIGSEGV, -SIGABRT].contains(status)
                    #expect(isExpected, "\(name): \(last): the process ended with \(status)")
                    let words = last.split(separator: " ").map(String.init)
                    guard isExpected, words.count == 3, let number = Int(words[1]) else { break }
                    try? FileManager.default.removeItem(atPath: words[2])
                    (next, ended) = (number + 1, ended + 1)
                } while true
            }
        }
    }
#endif
