#if os(Linux)
    import DAOChildProcesses
    import DAOTestSupport
    import Testing

    /// Contract T6, L3, L10 and L11: what a power cut leaves. Every call of a program on its files is recorded, and
    /// states that a power cut at each of them can leave are opened. Set `ROUNDS=10000` in the environment for more
    /// states.
    @Suite(.serialized, .timeLimit(.minutes(120))) struct CrashStateTests {
        @Test(arguments: Place.Kind.allCases + Place.Kind.encrypted, ["full", "relaxed"])
        func powerCutLeavesWhatWasPromised(_ kind: Place.Kind, _ durability: String) async throws {
            try await onThread {
                let (seed, wanted) = (Rounds.seed, Rounds.count(100))
                let child = try Child("states", kind.rawValue, durability, "\(wanted)", "\(seed)")
                let (last, isDone) = try child.linesUntilDone { Issue.record("SEED=\(seed) \(kind) \(durability): \($0)") }
                #expect(child.wait() == 0, "SEED=\(seed) \(kind) \(durability): \(last)")
                let count = isDone ? last.split(separator: " ").dropFirst().first.flatMap { Int($0) } : nil
                #expect(try #require(count, "\(last)") >= wanted)
                print("\(kind), \(durability): \(last)")
            }
        }
    }
#endif
