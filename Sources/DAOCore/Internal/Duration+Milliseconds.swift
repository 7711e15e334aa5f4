extension Duration {
    /// The number of milliseconds, rounded up: from 0 to the largest `Int32`, which is more than three weeks.
    package var milliseconds: Int32 {
        Int32(max(0, min((self / .milliseconds(1)).rounded(.up), Double(Int32.max))))
    }
}
