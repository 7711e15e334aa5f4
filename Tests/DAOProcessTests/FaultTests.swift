#if os(Linux)
    import DAOChildProcesses
    import DAOTestSupport
    import Testing

    /// Contract L4: calls on the files of a database fail. Set `ROUNDS=100000` in the environment so that each call fails.
    @Suite(.serialized, .timeLimit(.minutes(120))) struct FaultTests {
        @Test(
            arguments: Place.Kind.allCases + Place.Kind.encrypted, ["io", "space", "descriptors", "interrupt", "short", "delay"])
        func failingCallLosesNothing(_ kind: Place.Kind, _ fault: String) async throws {
            try await onThread {
                for often in ["once", "forever"] {
                    let (seed, runs) = (Rounds.seed, Rounds.count(6))
                    let name = "SEED=\(seed) \(kind) \(fault) \(often)"
                    let child = try Child("faults", kind.rawValue, "full", fault, often, "\(runs)", "\(seed)")
                    let (last, isDone) = try child.linesUntilDone { Issue.record("\(name): \($0)") }
                    #expect(child.wait() == 0 && isDone, "\(name): \(last)")
                    print("\(kind), \(fault), \(often): \(last)")
                }
            }
        }

        /// Each call of an opening, whose first failure must not leave a file of another form.
        @Test(arguments: Place.Kind.allCases + Place.Kind.encrypted) func failingCallOfAnOpening(_ kind: Place.Kind) async throws
        {
            try await onThread {
                let child = try Child("faults", kind.rawValue, "full", "io", "once", "50", "1", "50")
                let (last, isDone) = try child.linesUntilDone { Issue.record("\(kind): \($0)") }
                #expect(child.wait() == 0 && isDone, "\(last)")
                print("\(kind), opening: \(last)")
            }
        }

        /// A page that the operating system fails to read need not be damaged, and nobody is told to restore a backup.
        @Test(arguments: [(Place.Kind.sqlite, ""), (.sqlite, "checksums=true"), (.lmdb, ""), (.lmdb, "check=true")])
        func failingReadIsNoDamage(_ kind: Place.Kind, _ options: String) async throws {
            try await onThread {
                let child = try Child("reads", kind.rawValue, options)
                let (last, isDone) = try child.linesUntilDone { Issue.record("\(kind) \(options): \($0)") }
                #expect(child.wait() == 0 && isDone, "\(last)")
                print("\(kind) \(options): \(last)")
            }
        }
    }
#endif
