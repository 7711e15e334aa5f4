#if SwiftDistributedTracing
    import DAOCore
    import Tracing

    extension CallReport {
        /// Records the call with swift-distributed-tracing, as a span of the kind `client` that ends now.
        ///
        /// ```swift
        /// configuration.instrument = Instrument { call in call.trace() }
        /// ```
        ///
        /// The parent is the span of the task on whose thread the call ran. An asynchronous call runs on a thread of the
        /// database, without a parent.
        public func trace() {
            let end = DefaultTracerClock.now.nanosecondsSinceEpoch
            let length = UInt64(max(0, duration / .nanoseconds(1)))
            let start = DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end - min(end, length))
            let span = startSpan("\(operation.rawValue)\(entity.map { " \($0)" } ?? "")", at: start, ofKind: .client)
            span.attributes["db.operation.name"] = operation.rawValue
            if let entity { span.attributes["db.collection.name"] = entity }
            if let rows { span.attributes["db.response.returned_rows"] = rows }
            if let error {
                span.recordError(error)
                span.setStatus(SpanStatus(code: .error))
            }
            span.end(at: DefaultTracerClock.Timestamp(nanosecondsSinceEpoch: end))
        }
    }
#endif
