import DAOChildProcesses
import DAOTestSupport
import Testing

/// Contract L4: the disk is full.
@Suite(.timeLimit(.minutes(30))) struct SpaceTests {
    @Test(arguments: Place.Kind.allCases, ["full", "relaxed"])
    func outOfSpaceIsTypedAndLeavesNoWrites(_ kind: Place.Kind, _ durability: String) async throws {
        try await onThread {
            let place = Place(kind)
            let child = try Child("fill", place.url("durability=\(durability)"))
            for round in 1...3 { try child.expect("round \(round): outOfSpace whole works on") }
            try child.expect("whole")
            #expect(child.wait() == 0)
        }
    }
}
