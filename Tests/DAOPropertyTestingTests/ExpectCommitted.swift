import Foundation
import Testing

@testable import DAOPropertyTesting

/// Expects a committed file, which is compiled and run with the tests, to be what is printed for a failure.
func expectCommitted<Test: ModelBasedTest>(
    _ test: Test, _ failure: FailedScript<Test.Step>, _ name: String, seed: UInt64
) throws {
    let source = test.source(of: failure).test(of: Round(seed: seed, operations: 250), target: test.target.name)
    let expected = "// swift-format-ignore-file\n" + source
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent(name)
    if (try? String(contentsOf: file, encoding: .utf8)) == expected { return }
    let copy = FileManager.default.temporaryDirectory.appendingPathComponent(name)
    try expected.write(to: copy, atomically: true, encoding: .utf8)
    Issue.record("\(name) is not what is printed; that is in \(copy.path)")
}
