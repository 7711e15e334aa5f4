import DAOSearch
import Foundation

// The command line of swift-dao: reads and keeps databases from their own catalogs, without the application's types.
//
//   swift run dao inspect sqlite:app.db

signal(SIGPIPE, SIG_IGN)
// Rows without types can be in an index for searches.
TextIndexer.register()
// The work begins when interruptions reach it: it may make files at once.
let (isReady, ready) = AsyncStream<Void>.makeStream()
let work = Task {
    for await _ in isReady { break }
    return await Program.run(Array(CommandLine.arguments.dropFirst()))
}
let interruptions = [SIGINT, SIGTERM].map { number in
    signal(number, SIG_IGN)
    let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
    source.setEventHandler {
        if work.isCancelled { Program.end() }
        work.cancel()
        // A command that only reads, or that is one transaction, can end anywhere.
        let patience = Program.patience.load(ordering: .relaxed)
        if patience == .max { return }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(patience)) { Program.end() }
    }
    source.resume()
    return source
}
ready.yield()
let code = await work.value
withExtendedLifetime(interruptions) {}
exit(code)
