#if SwiftLog
    import DAOCore
    import Logging

    extension CallReport {
        /// Logs the call with swift-log: a failed call as an error, a slow one as a warning, every other one as `debug`.
        ///
        /// ```swift
        /// let logger = Logger(label: "database")
        /// configuration.instrument = Instrument { call in call.log(to: logger) }
        /// ```
        ///
        /// The metadata has the operation, the entity, the number of rows, the milliseconds, and the statements of slow calls
        /// and of failed ones.
        ///
        /// - Parameters:
        ///   - logger: The logger.
        ///   - slow: From this duration on a call is slow. Waiting for other writers does not count.
        public func log(to logger: Logger, slow: Duration = .milliseconds(100)) {
            let isSlow = duration - waited >= slow
            let level: Logger.Level = error != nil ? .error : isSlow ? .warning : .debug
            guard level >= logger.logLevel else { return }
            var metadata: Logger.Metadata = [
                "dao.operation": "\(operation.rawValue)", "dao.milliseconds": "\(duration / .milliseconds(1))",
            ]
            if let entity { metadata["dao.entity"] = "\(entity)" }
            if let rows { metadata["dao.rows"] = "\(rows)" }
            if let error { metadata["dao.error"] = "\(error)" }
            if level > .debug { metadata["dao.statements"] = .array(statements.map { "\($0)" }) }
            logger.log(level: level, "\(operation.rawValue)\(entity.map { " \($0)" } ?? "")", metadata: metadata)
        }
    }
#endif
