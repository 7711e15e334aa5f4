import DAOCore
import Foundation

/// Tasks that follow observations while something else is measured.
final class Onlookers {
    private let tasks: [Task<Void, Never>]
    private let ended = DispatchGroup()

    /// Begins to follow, and waits until every observation has given its first result.
    init<Mapping: Translator>(_ observations: [QueryObservation<Mapping>]) {
        let (begun, ended) = (DispatchGroup(), ended)
        tasks = observations.map { observation in
            begun.enter()
            ended.enter()
            return Task.detached {
                var isFirst = true
                do {
                    for try await _ in observation {
                        if isFirst { begun.leave() }
                        isFirst = false
                    }
                } catch {}
                if isFirst { begun.leave() }
                ended.leave()
            }
        }
        begun.wait()
    }

    /// Ends them, and waits for that.
    func stop() {
        for task in tasks { task.cancel() }
        ended.wait()
    }
}
