import DAOChildProcesses
import DAOConformance
import Testing

/// The conformance cases about processes must detect every planted fault in sharing.
@Suite(.serialized, .timeLimit(.minutes(30))) struct BrokenSharingTests {
    @Test(arguments: SharingFault.allCases) func plantedFaultIsDetected(_ fault: SharingFault) async throws {
        @Sendable func path(_ location: ConformanceTarget.Location) -> String {
            location.directory.appendingPathComponent("test.db").path
        }
        let target = ConformanceTarget(name: fault.rawValue, driver: BrokenSharing.driver(fault), path: path)
            .withProcesses { try Child("broken", "sqlite://\(path($0))?durability=relaxed", fault.rawValue) }
        var finders: Set<String> = []
        for test in Conformance.cases(for: target, timeLimit: .seconds(10), where: { fault.finders.contains($0.id) }) {
            if await test.result().status != .passed { finders.insert(test.id) }
        }
        #expect(!finders.isEmpty, "none of \(fault.finders) detects the fault \(fault)")
    }
}
