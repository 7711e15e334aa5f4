#if os(Linux)
    import DAOLoopbackServer
    import DAOTestSupport
    import DAOTransport
    import Foundation
    import Testing

    /// What Foundation's client on Linux makes of the answers of ``AnswerTests``, in child processes, since some end them.
    /// `DAO_ALL_ANSWERS=1` asks for all of them, and prints how many did.
    @Suite(.timeLimit(.minutes(30))) struct SessionAnswerTests {
        /// What happened to each answer: the line that the child wrote, or nil for the one that ended it.
        private func outcomes(of answers: [Answer], _ kind: String, environment: [String: String] = [:]) async throws -> [String?]
        {
            let server = try HostileServer(answers)
            var outcomes: [String?] = []
            while outcomes.count < answers.count {
                let child = Process()
                child.executableURL = Process.built("dao-answer-child")
                child.arguments = [kind, server.url.absoluteString, "\(outcomes.count)", "\(answers.count)"]
                child.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
                let ended = try await child.runToEnd()
                outcomes += ended.output.split(separator: "\n").map { String($0) }
                guard ended.status != 0 else { break }
                outcomes.append(nil)
            }
            return outcomes
        }

        /// What the guide says: only these kinds of answers end the process.
        @Test func answersThatEndTheProcessAreOfTheListedKinds() async throws {
            let isWhole = ProcessInfo.processInfo.environment["DAO_ALL_ANSWERS"] != nil
            var answers = Answers.strange
            answers +=
                isWhole
                ? Answers.statuses + Answers.brokenOff
                : Answers.brokenOff.enumerated().filter { $0.offset % 40 == 0 }.map(\.element)
            let outcomes = try await outcomes(of: answers, "session")
            #expect(outcomes.count == answers.count)
            for (answer, outcome) in zip(answers, outcomes) where outcome == nil {
                let text = String(decoding: answer.bytes, as: UTF8.self)
                let isCutInHeaders = !text.contains("\r\n\r\n")
                let hasTrailer = text.contains("Transfer-Encoding: chunked") && text.contains("0\r\nX-")
                let hasBadHost = text.contains("Location: //")
                #expect(isCutInHeaders || hasTrailer || hasBadHost, "\(answer)")
            }
            if isWhole { print("\(outcomes.count { $0 == nil }) of \(outcomes.count) answers ended the process") }
        }

        /// Neither the answers nor a proxy of the environment reach the process with the other client.
        @Test func noAnswerEndsTheProcessWithTheCurlClient() async throws {
            let answers = Answers.strange
            let proxy = [
                "http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1",
            ]
            let outcomes = try await outcomes(of: answers, "curl", environment: proxy)
            #expect(outcomes.count == answers.count)
            #expect(outcomes.allSatisfy { $0 != nil })
            #expect(outcomes.compactMap(\.self).count { $0.contains(" status ") } > 20)
        }
    }
#endif
