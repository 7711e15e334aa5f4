/// Returns the error that a closure throws; nil when it throws none.
func error<Content>(_ body: () async throws -> Content) async -> (any Error)? {
    do {
        _ = try await body()
        return nil
    } catch {
        return error
    }
}
