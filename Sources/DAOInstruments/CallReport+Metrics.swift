#if SwiftMetrics
    import DAOCore
    import Metrics

    extension CallReport {
        /// Records the call with swift-metrics: its time in the timer `dao.call`, its rows in the counter `dao.rows`, and a
        /// failure in the counter `dao.errors`.
        ///
        /// ```swift
        /// configuration.instrument = Instrument { call in call.recordMetrics() }
        /// ```
        ///
        /// The dimensions are `operation` and `entity`; the latter is empty for a call that concerns the whole database.
        public func recordMetrics() {
            let dimensions = [("operation", operation.rawValue), ("entity", entity ?? "")]
            Timer(label: "dao.call", dimensions: dimensions).record(duration: duration)
            if let rows { Counter(label: "dao.rows", dimensions: dimensions).increment(by: rows) }
            if error != nil { Counter(label: "dao.errors", dimensions: dimensions).increment() }
        }
    }
#endif
