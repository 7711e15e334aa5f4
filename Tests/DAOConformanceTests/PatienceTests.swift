import Testing

@testable import DAOConformance

/// When a case hangs, on an idle and on a busy machine.
@Suite struct PatienceTests {
    private static let start = Patience.Reading(time: .seconds(1000), processor: .seconds(50))

    /// The seconds after which a case with a limit of 60 s is given up; nil when it may go on after 2000.
    ///
    /// - Parameter processor: The processor time of the process, in seconds, so many seconds after the case has begun.
    private func end(cases: Int = 1, _ processor: (Double) -> Double) -> Int? {
        var patience = Patience(.seconds(60), now: Self.start)
        return (1...2000).first { second in
            let now = Patience.Reading(
                time: Self.start.time + .seconds(second), processor: Self.start.processor + .seconds(processor(Double(second))))
            return patience.isOver(cases: cases, now: now)
        }
    }

    @Test func aBlockedCaseHangsAtItsLimit() {
        #expect(end { _ in 0 } == 60)
        #expect(end { min($0, 20) } == 60)
        // Waiting threads that look for commits.
        #expect(end { $0 * 0.0005 } == 60)
    }

    @Test func aLoopHangsAtItsLimit() {
        #expect(end { $0 } == 60)
        #expect(end { $0 * 2 } == 60)
    }

    /// Other work leaves the case a tenth or a quarter of a processor: it has not used its time yet.
    @Test func aBusyMachineIsNoHang() {
        #expect(end { $0 / 4 } == 240)
        #expect(end { min($0 / 4, 45) } == 185, "it is blocked after 180 s")
        #expect(end { $0 < 50 ? 0 : $0 - 50 } == 110, "it loops after 50 s")
        #expect(end { $0 / 20 } == 240, "four limits are enough")
    }

    @Test func casesShareTheProcessorTimeOfAProcess() {
        #expect(end(cases: 4) { $0 * 2 } == 120)
        #expect(end(cases: 3) { _ in 0 } == 60)
    }

    @Test func theClocksOfTheSystem() {
        let before = Patience.Reading.now
        var sum = 0
        while Patience.Reading.now.processor - before.processor < .milliseconds(20) { sum &+= 1 }
        let after = Patience.Reading.now
        #expect(after.time > before.time && after.processor - before.processor >= .milliseconds(20))
    }
}
