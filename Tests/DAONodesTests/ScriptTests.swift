import DAONodes
import DAOTestSupport
import Foundation
import Testing

/// Generated orders of events, against reference models: operators and stores, pagers, the response cache and tokens. `MINUTES=10` in
/// the environment runs each for longer, `SEED=1` repeats a run.
@Suite(.timeLimit(.minutes(600))) struct ScriptTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = environment["SEED"].flatMap { UInt64($0) } ?? .random(in: 0...UInt64.max)
    private static let limit = environment["MINUTES"].flatMap { Double($0) }.map { Duration.seconds($0 * 60) }

    @Test func operatorsAndStoresKeepTheirOrder() {
        run("operators", 3000) { random in
            let script = EventScript(using: &random)
            return script.difference() == nil ? nil : script.shrunk().difference()
        }
    }

    @Test(arguments: OperatorFault.allCases) func faultOfAnOperatorIsDetected(_ fault: OperatorFault) {
        #expect(finds { EventScript(using: &$0).difference(fault: fault) }, "\(fault)")
    }

    @Test func pagersKeepTheirPlace() {
        run("pagers", 3000) { PagerScript(using: &$0).difference { OffsetPager(provider: $0, pageSize: $1, startIndex: $2) } }
        // The double that has the planted faults does the same without one.
        run("doubled pagers", 1000) { PagerScript(using: &$0).difference { DoubledPager($0, $1, $2, fault: nil) } }
    }

    @Test(arguments: PagerFault.allCases) func faultOfAPagerIsDetected(_ fault: PagerFault) {
        #expect(finds { PagerScript(using: &$0).difference { DoubledPager($0, $1, $2, fault: fault) } }, "\(fault)")
    }

    @Test func cachedResponsesAreThoseOfTheServer() {
        run("caches", 2000) { CacheScript(using: &$0).difference() }
    }

    @Test(arguments: CacheFault.allCases) func faultOfACacheIsDetected(_ fault: CacheFault) {
        #expect(finds { CacheScript(using: &$0).difference(fault: fault) }, "\(fault)")
    }

    @Test func refusedCallsShareARefresh() {
        run("tokens", 3000) { TokenScript(using: &$0).difference() }
    }

    @Test(arguments: TokenFault.allCases) func faultOfATokenIsDetected(_ fault: TokenFault) {
        #expect(finds { TokenScript(using: &$0).difference(fault: fault) }, "\(fault)")
    }

    /// Runs so many scripts, or as many as the minutes of the environment allow.
    private func run(_ name: String, _ usual: Int, _ difference: (inout SeededGenerator) -> String?) {
        var random = SeededGenerator(seed: Self.seed)
        var rounds = 0
        let began = ContinuousClock.now
        while Self.limit.map({ ContinuousClock.now - began < $0 }) ?? (rounds < usual) {
            rounds += 1
            if let difference = difference(&random) {
                Issue.record("SEED=\(Self.seed), \(name), script \(rounds): \(difference)")
                return
            }
        }
        if Self.limit != nil { print("\(name): \(rounds) scripts, SEED=\(Self.seed)") }
    }

    private func finds(_ difference: (inout SeededGenerator) -> String?) -> Bool {
        var random = SeededGenerator(seed: 1)
        return (0..<20_000).contains { _ in difference(&random) != nil }
    }
}
