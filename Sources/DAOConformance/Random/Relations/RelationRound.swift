import DAOCore
import Foundation

/// A script of steps on models that refer to each other, run on a database and on plain dictionaries side by side.
struct RelationRound: ScriptedRound {
    let target: ConformanceTarget

    /// Runs steps on a fresh database; everything is compared after each.
    ///
    /// - Returns: Where they part; nil when they agree to the end.
    func run(_ script: [RelationStep]) throws -> FailedScript<RelationStep>? {
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
                if got != expected { return FailedScript(script: done, expected: expected, got: got) }
                let content = try runner.content()
                if content != reference.content {
                    return FailedScript(script: done, expected: Self.text(of: reference.content), got: Self.text(of: content))
                }
            } catch {
                return FailedScript(script: done, expected: expected, got: "\(error)")
            }
        }
        return nil
    }

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
        try RelationRound(target: target).replay(script)
    }
}
