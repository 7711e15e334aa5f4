/// What came of one case on one target.
public struct ConformanceResult: Sendable, Codable, Identifiable {
    /// How a case ended.
    public enum Status: String, Sendable, Codable, CaseIterable {
        /// As expected.
        case passed
        /// Otherwise.
        case failed
        /// It did not end within its time limit.
        case hung
        /// It was not run, for a reason.
        case skipped
    }

    /// The case's id.
    public let id: String
    /// The rules it proves.
    public let rules: [String]
    /// What it expects, as a sentence.
    public let title: String
    /// How it ended.
    public let status: Status
    /// What went wrong, or why it was skipped.
    public let message: String?
    /// What was expected, where it is a value.
    public let expected: String?
    /// What came, where it is a value.
    public let got: String?
    /// Where in the suite the failure is.
    public let location: String?
    /// How long it took.
    public let seconds: Double

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
            let limit = timeLimit.components.seconds
            (status, expected, got, location) = (.hung, nil, nil, nil)
            message = "did not end within \(limit) seconds: a call blocks or loops, and its thread is left behind"
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
