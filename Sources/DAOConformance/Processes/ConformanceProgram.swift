#if os(Linux) || os(macOS)
    import DAOCore
    import DAORedaction
    import DAOTestSupport
    import Foundation

    /// The conformance suite as a program, for drivers of one's own. It is the main file of an executable target:
    ///
    /// ```swift
    /// import DAOConformance
    /// import MyStorage
    ///
    /// await ConformanceProgram.run(.myStorage)
    /// ```
    ///
    /// `swift package conformance --target NAME` builds and runs it. `--help` lists its options.
    public enum ConformanceProgram {
        /// Runs the suite as the command line asks, prints its table, and ends the program.
        ///
        /// The exit code is 0 when all cases passed, 1 when one failed, and 2 for words that are not understood and for a
        /// file that cannot be written. SIGINT and SIGTERM end the run with the report so far, and 128 and the signal's number.
        ///
        /// - Parameter drivers: The drivers there are. `--url` chooses among them; without it, the suite runs on each.
        public static func run(_ drivers: DatabaseDriver...) async -> Never {
            await run(drivers, urls: drivers.map { "\($0.scheme):" })
        }

        /// Runs the suite as the command line asks.
        ///
        /// - Parameters:
        ///   - drivers: The drivers there are.
        ///   - urls: The kinds of database without `--url`.
        ///   - dropSchema: Drops the schema of a configuration on a server.
        package static func run(
            _ drivers: [DatabaseDriver], urls: [String], dropSchema: (@Sendable (DatabaseConfiguration) throws -> Void)? = nil
        ) async -> Never {
            do {
                // The other process of cases that need one is this program too.
                try ConformanceProcesses.serveIfAsked(drivers)
                let words = Array(CommandLine.arguments.dropFirst())
                if words.count == 2, words[0] == "--worker" {
                    try await ConformanceProcesses.runCases { try Options.target(words[1], drivers, dropSchema) }
                }
                if words.contains("--help") || words.contains("-h") {
                    print(help(urls))
                    exit(0)
                }
                exit(try await run(Options(words, drivers, urls, dropSchema)) ? 0 : 1)
            } catch {
                let name = CommandLine.arguments.first.map { URL(fileURLWithPath: $0).lastPathComponent } ?? "conformance"
                FileHandle.standardError.write(Data("\(name): \(error)\n".utf8))
                exit(2)
            }
        }

        private static func run(_ options: Options) async throws -> Bool {
            if options.isList {
                for target in try options.targets {
                    for test in Conformance.cases(for: target, chapters: options.chapters, where: options.contains) {
                        print(test)
                    }
                }
                return true
            }
            // A path that cannot be written is told before the cases run.
            for path in options.paths {
                guard let file = fopen(path, "a") else { throw UsageError.unwritable(path) }
                fclose(file)
            }
            // Words that are not understood are told too.
            for url in options.urls { _ = try ConformanceTarget(url: url, drivers: options.drivers) }
            let soFar = RunSoFar()
            Interruption.handle { signal in
                guard let reports = soFar.interrupt() else { return }
                try? publish(reports, options)
                exit(128 + signal)
            }
            var reports: [ConformanceReport] = []
            for url in options.urls {
                reports.append(try await report(of: url, options, soFar))
                soFar.end(reports[reports.count - 1])
            }
            // The report of a run that a signal has ended is being written.
            if !soFar.finish() { while true { try await Task.sleep(for: .seconds(60)) } }
            guard reports.contains(where: { !$0.results.isEmpty }) else { throw UsageError("no case was chosen") }
            try publish(reports, options)
            return reports.allSatisfy(\.isConforming)
        }

        /// Prints the table, and writes the files that the command line asks for.
        private static func publish(_ reports: [ConformanceReport], _ options: Options) throws {
            print(ConformanceTable(reports))
            if let path = options.json { try write(ConformanceReport.json(reports), to: path) }
            if let path = options.html { try write(ConformanceReport.html(reports), to: path) }
            for path in options.paths { print("\nwritten to \(path)") }
        }

        /// Runs the cases on one kind of database. Each runs in another process, unless the command line says no.
        private static func report(of url: String, _ options: Options, _ soFar: RunSoFar) async throws -> ConformanceReport {
            let cases = Conformance.chosen(options.chapters, options.contains)
            let name = redacted(url)
            let done = ConformanceProgress(of: name, total: cases.count)
            let progress = ProgressLine { done.line }
            defer { progress.end() }
            let journal = ConformanceJournal(of: name)
            @Sendable func begin(_ id: String) {
                done.begin(id)
                journal.begin(id)
                soFar.begin(id)
            }
            @Sendable func tell(_ result: ConformanceResult) {
                guard soFar.end(result) else { return }
                done.end(result)
                journal.end(result)
                if options.isVerbose {
                    say("\(result.status.rawValue)  \(name)  \(result.id)  \(Int(result.seconds * 1000)) ms")
                } else if result.isFailure {
                    progress.say("\(result.status.rawValue)  \(name)  \(result.id)  \(result.explanation)")
                }
            }
            let program = options.isInProcess ? nil : Bundle.main.executableURL
            guard let program else {
                let target = try options.target(url)
                soFar.begin(name, cases, in: nil)
                return await Conformance.run(
                    on: target, chapters: options.chapters, timeLimit: options.timeLimit, where: options.contains,
                    onResult: tell, onBegin: begin)
            }
            let workers = CaseWorkers(program, url: url) { progress.pass($0) }
            defer { workers.end() }
            soFar.begin(name, cases, in: workers)
            let hangs = Hangs()
            let results = await Conformance.results(of: cases, tell) { conformanceCase in
                await workers.result(
                    of: conformanceCase, timeLimit: options.timeLimit ?? conformanceCase.timeLimit, hangs: hangs
                ) { begin(conformanceCase.id) }
            }
            return ConformanceReport(target: name, engine: workers.engine, results: results)
        }

        /// Writes a line at once, also to a pipe.
        private static func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

        private static func write(_ text: String, to path: String) throws {
            do {
                try Data(text.utf8).write(to: URL(fileURLWithPath: path))
            } catch {
                throw UsageError.unwritable(path)
            }
        }

        private static func help(_ urls: [String]) -> String {
            """
            Runs the conformance suite on databases and prints its table.

              --url URL        a kind of database, such as \(urls.joined(separator: ", ")), with options such as ?durability=relaxed;
                               each case gets a database of its own in a temporary directory. On a server, as in
                               postgres://user@host/database, each case gets a schema of its own. May be repeated; by
                               default the kinds are \(urls.joined(separator: ", ")).
              --chapter K      one chapter of the contract (\(ContractRule.Chapter.allNames)). May be repeated; all by default.
              --case ID        one case, or those whose ids begin so. May be repeated.
              --no-heavy       leaves out the cases that take seconds or much memory.
              --time-limit S   after so many seconds a case is reported as hung; otherwise each case has its own limit. A case
                               that the machine lets work only slowly has up to four times as long.
              --json PATH      also writes the results as JSON.
              --html PATH      also writes the results as a page: rules and databases, failures, skips, times.
              --verbose        prints every case as it ends.
              --in-process     runs the cases in this process, where a debugger sees them. Otherwise each runs in another one:
                               a case that ends its process is a line of the report, and the rest runs in a new one.
              --list           prints the cases that would run, and runs none.
            """
        }
    }

    /// What the command line asks for.
    private struct Options {
        var urls: [String] = []
        var chapters = Set(ContractRule.Chapter.allCases)
        var cases: [String] = []
        var json: String?
        var html: String?
        var timeLimit: Duration?
        var isVerbose = false
        var hasHeavy = true
        var isList = false
        var isInProcess = false
        let drivers: [DatabaseDriver]
        private let dropSchema: (@Sendable (DatabaseConfiguration) throws -> Void)?

        /// Whether a case is chosen.
        func contains(_ test: ConformanceCase) -> Bool {
            (hasHeavy || !test.isHeavy) && (cases.isEmpty || cases.contains { test.id.hasPrefix($0) })
        }

        /// The files to write.
        var paths: [String] { [json, html].compactMap { $0 } }

        init(
            _ words: [String], _ drivers: [DatabaseDriver], _ defaults: [String],
            _ dropSchema: (@Sendable (DatabaseConfiguration) throws -> Void)?
        ) throws {
            (self.drivers, self.dropSchema) = (drivers, dropSchema)
            var rest = words[...]
            var chosen: Set<ContractRule.Chapter> = []
            while let name = rest.popFirst() {
                switch name {
                case "--verbose": isVerbose = true
                case "--list": isList = true
                case "--no-heavy": hasHeavy = false
                case "--in-process": isInProcess = true
                case "--url", "--chapter", "--case", "--json", "--html", "--time-limit":
                    guard let value = rest.popFirst() else { throw UsageError("\(name) needs a value") }
                    switch name {
                    case "--url": urls.append(value)
                    case "--case": cases.append(value)
                    case "--json": json = value
                    case "--html": html = value
                    case "--time-limit":
                        guard let seconds = Double(value), seconds > 0, seconds < 1e6 else {
                            throw UsageError("--time-limit needs a number of seconds, not '\(value)'")
                        }
                        timeLimit = .seconds(seconds)
                    default:
                        guard let chapter = ContractRule.Chapter(rawValue: value.uppercased()) else {
                            throw UsageError("there is no chapter '\(value)'; there are: \(ContractRule.Chapter.allNames)")
                        }
                        chosen.insert(chapter)
                    }
                default: throw UsageError("there is no option '\(name)'; try --help")
                }
            }
            if !chosen.isEmpty { chapters = chosen }
            if urls.isEmpty { urls = defaults }
        }

        /// The kinds of database. They are opened, each once.
        var targets: [ConformanceTarget] { get throws { try urls.map(target) } }

        func target(_ url: String) throws -> ConformanceTarget { try Self.target(url, drivers, dropSchema) }

        /// The kind of database that a URL names. It is opened once.
        static func target(
            _ url: String, _ drivers: [DatabaseDriver], _ dropSchema: (@Sendable (DatabaseConfiguration) throws -> Void)?
        ) throws -> ConformanceTarget {
            let target = try ConformanceTarget(url: url, drivers: drivers, dropSchema: dropSchema)
            // A store in memory has no file, whatever its driver is given as a path.
            guard target.file != nil, let capabilities = Conformance.capabilities(of: target, within: nil),
                !capabilities.isPersistent
            else { return target }
            return try ConformanceTarget(url: url, drivers: drivers, isFile: false)
        }
    }

    extension UsageError {
        fileprivate static func unwritable(_ path: String) -> UsageError {
            UsageError("the file '\(path)' cannot be written; is its directory there?")
        }
    }

    extension ContractRule.Chapter {
        fileprivate static var allNames: String { allCases.map(\.rawValue).joined(separator: ", ") }
    }
#endif
