import DAOCore
import Foundation

extension Command {
    static let browse = Command(
        name: "browse", summary: "shows a database as a page in the web browser, until Ctrl-C", parameters: [.url],
        options: [
            Option(name: "write", help: "lets the page change fields of rows"),
            Option(name: "port", value: "N", help: "listens to this port of 127.0.0.1; to any free one when missing"), .json,
        ],
        discussion: """
            The address of the page is written when it can be opened. It contains a token: without it, from other hosts, and
            for other pages nothing is answered.
            """
    ) { arguments in
        let number = try arguments.count(of: "port") ?? 0
        guard let port = UInt16(exactly: number) else { throw UsageError("--port needs a number up to 65535, not '\(number)'") }
        let canWrite = arguments.has("write")
        let url = try Databases.configuration(of: arguments.word("URL"))
        // It ends when its server and its database are closed, so that no file stays that was not there. Only a question that
        // takes long keeps it.
        Program.patience.store(10, ordering: .relaxed)
        @Sendable func show(_ database: any Database) async throws -> Int32 {
            let browser = Browser(content: BrowsedDatabase(database, url: url, canWrite: canWrite))
            let server = try HTTPServer(port: port) { await browser.answer(to: $0) }
            defer { server.stop() }
            let address = browser.address(port: server.port)
            try Output.write(arguments.has("json") ? JSON.object(["address": JSON.text(address)]) : address)
            try Output.flush()
            Program.complain("the page \(canWrite ? "reads and writes" : "only reads"); press Ctrl-C to end")
            while true { try await Task.sleep(for: .seconds(3600)) }
        }
        if canWrite { return try await Databases.using(arguments, .writes, show) }
        return try await Databases.reading(arguments, show)
    }
}
