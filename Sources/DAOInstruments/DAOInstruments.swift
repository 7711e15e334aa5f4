// What an instrument is told, for swift-log, swift-metrics and swift-distributed-tracing. Each file is compiled with its trait only.
