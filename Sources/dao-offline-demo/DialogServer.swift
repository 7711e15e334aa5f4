import Foundation

/// A web server on this machine, in a separate process that ends with this process.
final class DialogServer {
    /// The address of the server, with a trailing slash.
    let url: URL
    /// The identifier of its process.
    var processIdentifier: Int32 { process.processIdentifier }

    private let process = Process()

    /// Starts the server and waits until it listens.
    init() throws {
        process.executableURL = try Self.findPython()
        process.arguments = ["-c", Self.script]
        let (output, errors) = (Pipe(), Pipe())
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte != Data("\n".utf8) { line.append(byte) }
        guard let port = UInt16(String(decoding: line, as: UTF8.self)), let url = URL(string: "http://127.0.0.1:\(port)/") else {
            process.terminate()
            process.waitUntilExit()
            let words = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
            throw DemoError("python3 could not start the server: \(words.isEmpty ? "no error output" : words)")
        }
        self.url = url
    }

    /// Stops the server. Requests to it cannot connect afterwards.
    func stop() {
        guard process.isRunning else { return }
        process.terminate()
        process.waitUntilExit()
    }

    private static func findPython() throws -> URL {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        let candidates = directories.map { "\($0)/python3" }
        guard let found = candidates.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else {
            throw DemoError(
                "there is no python3 on the PATH. The server of this program needs it: install Python 3 "
                    + "(apt-get install python3, brew install python3) and run this again.")
        }
        return URL(fileURLWithPath: found)
    }

    /// Listens on 127.0.0.1 only, on a free port that it prints.
    private static let script = """
        import json, os, signal, threading, time
        from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

        DIALOGS = [
            {"id": "7", "title": "Climbing on Sunday", "is_pinned": True, "messages": [
                {"id": "70", "author": "Ann", "text": "Who brings the rope?"},
                {"id": "71", "author": "Ben", "text": "I do. And the tea."}]},
            {"id": "8", "title": "Parents", "is_pinned": False, "messages": [
                {"id": "80", "author": "Mother", "text": "Call us when you are back."}]},
            {"id": "9", "title": "Library", "is_pinned": False, "messages": [
                {"id": "90", "author": "Desk", "text": "Your book is here."},
                {"id": "91", "author": "You", "text": "I will be there at five."},
                {"id": "92", "author": "Desk", "text": "We close at four."}]},
        ]

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            def log_message(self, *arguments): pass
            def do_GET(self):
                found = self.path == "/dialogs/"
                body = json.dumps({"data": {"dialog_list": DIALOGS}} if found else {}).encode()
                self.send_response(200 if found else 404)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

        class Server(ThreadingHTTPServer):
            daemon_threads = True

        # A parent that starts this from a worker thread passes on the blocked signals of that thread.
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        parent = os.getppid()
        server = Server(("127.0.0.1", 0), Handler)
        threading.Thread(target=server.serve_forever, daemon=True).start()
        print(server.server_address[1], flush=True)
        while os.getppid() == parent:
            time.sleep(0.2)
        """
}
