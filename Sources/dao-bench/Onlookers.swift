import DAOCore
import Foundation

/// Tasks that consume observations during a measurement.
final class Onlookers {
    private let tasks: [Task<Void, Never>]
    private let ended = DispatchGroup()

    /// Begins to consume the observations, and waits until each has delivered its first result.
    init<Value>(_ observations: [ValueObservation<Value>]) {
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

    /// Ends the tasks, and waits for their end.
    func stop() {
        for task in tasks { task.cancel() }
        ended.wait()
    }
}
