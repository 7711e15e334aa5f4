/// The result of one case on one target.
public struct ConformanceResult: Sendable, Codable, Identifiable {
    /// How a case ended.
    public enum Status: String, Sendable, Codable, CaseIterable {
        /// The case passed.
        case passed
        /// The case failed.
        case failed
        /// The case did not end within its time limit.
        case hung
        /// The case ended the process that ran it.
        case ended
        /// The case was not run; the message gives the reason.
        case skipped
    }

    /// The id of the case.
    public let id: String
    /// The rules that the case proves.
    public let rules: [String]
    /// The expectation of the case, as a sentence.
    public let title: String
    /// How the case ended.
    public let status: Status
    /// The failure, or the reason for a skip.
    public let message: String?
    /// The expected value, when the failure compares values.
    public let expected: String?
    /// The actual value, when the failure compares values.
    public let got: String?
    /// The location of the failure in the suite.
    public let location: String?
    /// How long the case took.
    public let seconds: Double

    /// Whether the case failed, did not end in time, or ended its process.
    public var isFailure: Bool { status != .passed && status != .skipped }

    /// The failure or the reason in one line.
    public var explanation: String {
        (message ?? status.rawValue) + (location.map { " (\($0))" } ?? "")
    }

    init(_ conformanceCase: ConformanceCase, _ ending: CaseRunner.Ending, timeLimit: Duration, duration: Duration) {
        id = conformanceCase.id
        rules = conformanceCase.rules
        title = conformanceCase.title
        seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        switch ending {
        case .passed:
            (status, message, expected, got, location) = (.passed, nil, nil, nil, nil)
        case .hung:
            let seconds = timeLimit / .seconds(1)
            (status, expected, got, location) = (.hung, nil, nil, nil)
            message =
                "did not end within \(Int(exactly: seconds).map { "\($0)" } ?? "\(seconds)") s: a call blocks or loops, and its thread is left behind"
        case .processEnded(let status, let written):
            (self.status, expected, got, location) = (.ended, nil, nil, nil)
            message = "ended its process: \(CaseRunner.words(status, written))"
        case .failed(let failure as ConformanceFailure):
            (status, message) = (.failed, failure.description)
            (expected, got, location) = (failure.expected, failure.got, failure.location)
        case .failed(let error):
            (status, message, expected, got, location) = (.failed, "an unexpected error: \(error)", nil, "\(error)", nil)
        }
    }

    init(_ conformanceCase: ConformanceCase, skipped reason: String) {
        id = conformanceCase.id
        rules = conformanceCase.rules
        title = conformanceCase.title
        (status, message, expected, got, location, seconds) = (.skipped, reason, nil, nil, nil, 0)
    }
}
