import DAOCore

/// What counting led to for the last queries of a shape, and whether the next ones repeat it without counting.
struct RepeatedChoices: ~Copyable, Sendable {
    /// The limits within which the steps of a run that repeats a choice are learned.
    private static let learnedSteps = 1_000...16_000
    /// After how many runs that repeat a choice rows are counted again, since another choice may have become better.
    private static let repetitions = 256
    /// How often in a row counting had one result, and then how many queries have repeated it.
    private let streak = Atomic(0)
    private let steps = Atomic(learnedSteps.lowerBound)
    private let lastPath = Atomic(-1)
    /// The number of the path that was chosen last; nil when none was.
    var last: Int? {
        let number = lastPath.load(ordering: .relaxed)
        return number < 0 ? nil : number
    }

    /// Runs a closure with the choices that counting led to for the last queries of the shape, when all of these led to the same.
    ///
    /// A query that takes far more steps than those is given up, since the values of this one lead to more rows.
    ///
    /// - Returns: False when rows have to be counted.
    func repeating(on connection: any SQLConnection, _ body: () throws -> Void) throws -> Bool {
        let streak = self.streak.load(ordering: .relaxed)
        if streak <= 0 { return false }
        let limits = LimitedReading.current
        if streak < limits.streak { return false }
        let isLast = streak >= limits.streak + Self.repetitions
        self.streak.store(isLast ? limits.streak - 1 : streak + 1, ordering: .relaxed)
        let steps = self.steps.load(ordering: .relaxed)
        if try connection.interrupting(afterSteps: min(steps, limits.steps), body) != nil { return true }
        // To count costs little beside a query that takes more steps than the largest number.
        let isLong = steps == Self.learnedSteps.upperBound
        self.streak.store(isLong ? -1_000 : 0, ordering: .relaxed)
        self.steps.store(min(steps * 2, Self.learnedSteps.upperBound), ordering: .relaxed)
        return false
    }

    /// Remembers the number of the path that was chosen by counting.
    func learn(_ number: Int) { learn(isAsBefore: lastPath.exchange(number, ordering: .relaxed) == number) }

    /// Remembers whether counting had the result that repeated runs rely on.
    func learn(isAsBefore: Bool) {
        if isAsBefore {
            streak.add(1, ordering: .relaxed)
        } else {
            streak.store(0, ordering: .relaxed)
            steps.store(Self.learnedSteps.lowerBound, ordering: .relaxed)
        }
    }
}
