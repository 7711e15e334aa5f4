import DAOModelGeneration
import Foundation

// Generates the models of a target. The command plugin writes the request:
//
//   dao-generate-models REQUEST.json

do {
    guard CommandLine.arguments.count == 2 else {
        FileHandle.standardError.write(Data("dao-generate-models: run 'swift package generate-models'\n".utf8))
        exit(64)
    }
    let request = try JSONDecoder().decode(
        GenerationRequest.self, from: Data(contentsOf: URL(fileURLWithPath: CommandLine.arguments[1])))
    let outcome = try Generation.run(request)
    print(outcome.lines.joined(separator: "\n"))
    exit(outcome.isClean ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("generate-models: \(error)\n".utf8))
    exit(1)
}
