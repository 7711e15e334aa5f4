import DAOCore
import Foundation

/// A script of steps on models that refer to each other, run on a database and on plain dictionaries side by side.
struct RelationRound {
    let target: ConformanceTarget

    /// Where database and reference parted.
    struct Divergence: FailedScript {
        /// The steps up to there.
        var script: [RelationStep]
        let expected: String
        let got: String
    }

    /// Runs steps on a fresh database; everything is compared after each.
    ///
    /// - Returns: Where they part; nil when they agree to the end.
    func run(_ script: [RelationStep]) throws -> Divergence? {
        let location = try ConformanceTarget.Location.make()
        defer { location.remove() }
        let database = try target.open(location)
        defer { try? database.close() }
        let runner = try RelationRunner(database)
        var reference = RelationReference()
        for (index, step) in script.enumerated() {
            let done = Array(script[...index])
            let expected = reference.run(step)
            do {
                let got = try runner.run(step)
                if got != expected { return Divergence(script: done, expected: expected, got: got) }
                let content = try runner.content()
                if content != reference.content {
                    return Divergence(script: done, expected: Self.text(of: reference.content), got: Self.text(of: content))
                }
            } catch {
                return Divergence(script: done, expected: expected, got: "\(error)")
            }
        }
        return nil
    }

    /// The smallest script that still fails, found by leaving out steps for as long as there is time.
    func shrink(_ divergence: Divergence, limit: Duration) -> Divergence { divergence.shrunk(limit: limit, run) }

    /// Dictionaries in a readable order.
    private static func text(of content: RelationReference.Content) -> String {
        func rows(_ rows: [Int: Int]) -> String { rows.sorted { $0.key < $1.key }.map { "\($0)=\($1)" }.joined(separator: " ") }
        func lists(_ lists: [Int: [Int]]) -> String {
            lists.sorted { $0.key < $1.key }.map { "\($0)\($1)" }.joined(separator: " ")
        }
        return """
            topics \(rows(content.topics)); owners \(rows(content.owners)); posts \(lists(content.topicPosts)) of \(rows(content.posts)) \
            by \(rows(content.authors)); labels \(lists(content.topicLabels)) of \(rows(content.labels)); \
            people \(rows(content.people)); folders \(rows(content.folders)) with \(lists(content.children))
            """
    }
}

extension RandomProof {
    /// Runs steps on models that refer to each other, and on plain dictionaries: what a failure's script calls.
    ///
    /// - Throws: What differs, as ``ConformanceFailure``.
    public static func replay(_ script: [RelationStep], on target: ConformanceTarget) throws {
        guard let divergence = try RelationRound(target: target).run(script) else { return }
        throw ConformanceFailure(
            "the last of \(divergence.script.count) steps", expected: divergence.expected, got: divergence.got, file: #fileID,
            line: #line)
    }
}

extension RelationRound.Divergence {
    /// The script, as Swift to paste into a test.
    var source: String {
        "try RandomProof.replay(\n    [\n" + script.map { "        \($0.source),\n" }.joined() + "    ], on: target)"
    }
}
