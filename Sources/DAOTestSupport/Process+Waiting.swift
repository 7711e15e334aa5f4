#if os(Linux) || os(macOS)
    import Foundation

    extension Process {
        /// The executable of a program of this package. Programs are built in the same directory as the tests.
        package static func built(_ name: String) -> URL {
            #if os(macOS)
                // The program that runs the tests has loaded their bundle by its path, and need not list it.
                var information = Dl_info()
                let isKnown = dladdr(#dsohandle, &information) != 0
                let image = isKnown ? String(cString: information.dli_fname) : CommandLine.arguments[0]
            #else
                let bundle = Bundle.allBundles.map(\.bundleURL).first { $0.pathExtension == "xctest" }
                let image = bundle?.path ?? CommandLine.arguments[0]
            #endif
            return products(of: URL(fileURLWithPath: image)).appendingPathComponent(name)
        }

        /// The directory of the programs beside an image: a program, or the code in a bundle of tests.
        package static func products(of image: URL) -> URL {
            var bundle = image.standardizedFileURL
            while bundle.pathExtension != "xctest", bundle.path != "/" { bundle.deleteLastPathComponent() }
            return (bundle.path == "/" ? image : bundle).deletingLastPathComponent()
        }

        /// Waits until the process has ended.
        ///
        /// `waitUntilExit` waits for a socket to close, which every process inherits that another thread starts at
        /// the same moment. It can wait for the end of those too, and spins meanwhile.
        ///
        /// - Returns: The exit status; the negated number of the signal when a signal ended the process.
        @discardableResult package func waitForEnd() -> Int32 {
            var information = siginfo_t()
            // The process is left for Foundation to reap.
            while waitid(P_PID, id_t(processIdentifier), &information, WEXITED | WNOWAIT) != 0 {
                if errno == EINTR { continue }
                // Foundation has reaped it already.
                waitUntilExit()
                return terminationReason == .uncaughtSignal ? -terminationStatus : terminationStatus
            }
            #if os(Linux)
                let status = information._sifields._sigchld.si_status
            #else
                let status = information.si_status
            #endif
            return information.si_code == CLD_EXITED ? status : -status
        }

        /// What a process gave that has ended.
        package struct Ended: Sendable {
            package let status: Int32
            package let output: String
            package let errors: String
        }

        /// Starts the process, and returns what it has written when it has ended.
        package func runToEnd() async throws -> Ended {
            let (output, errors) = (Pipe(), Pipe())
            (standardOutput, standardError) = (output, errors)
            return try await withCheckedThrowingContinuation { continuation in
                Thread.detachNewThread {
                    do {
                        try self.run()
                    } catch {
                        return continuation.resume(throwing: error)
                    }
                    let text = output.fileHandleForReading.readDataToEndOfFile()
                    let complaints = errors.fileHandleForReading.readDataToEndOfFile()
                    let status = self.waitForEnd()
                    continuation.resume(
                        returning: Ended(
                            status: status, output: String(decoding: text, as: UTF8.self),
                            errors: String(decoding: complaints, as: UTF8.self)))
                }
            }
        }
    }
#endif
