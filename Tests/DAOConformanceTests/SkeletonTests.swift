import DAOConformance
import DAOCore
import DAOStorageSkeletons
import Testing

/// What `swift package new-storage` makes, before anything is implemented.
@Suite(.timeLimit(.minutes(30))) struct SkeletonTests {
    @Test(arguments: [DatabaseDriver.keyvalueskeleton, .sqlskeleton, .databaseskeleton])
    func onlyWhatIsUnfinishedFails(_ driver: DatabaseDriver) async {
        let target = ConformanceTarget(name: driver.scheme) { location in
            try DatabaseDrivers(driver).open("\(driver.scheme):\(location.name)")
        }
        let report = await Conformance.run(on: target, chapters: [.keys, .queries], timeLimit: .seconds(5))
        #expect(!report.failures.isEmpty)
        let others = report.failures.filter { $0.message?.contains("still to be implemented") != true }
        #expect(others.isEmpty, "\(others.map { "\($0.id): \($0.message ?? "")" }.joined(separator: "\n"))")
    }
}
