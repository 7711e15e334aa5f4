import DAOConformance
import Foundation

// The random proof for as long as one likes: `make soak MINUTES=20`.

do {
    let options = try SoakOptions(Array(CommandLine.arguments.dropFirst()))
    exit(await Soak(options).run() ? 0 : 1)
} catch {
    FileHandle.standardError.write(Data("dao-soak: \(error)\n".utf8))
    exit(2)
}
