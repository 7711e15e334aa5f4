// The code of Docs/Errors.md, compiled and run.

import DAOCore

/// Stores an errand, and says to its user what happened.
func save(_ errand: Errand, in errands: DAO<Errand>) async throws -> String {
    do {
        try await errands.create(errand)
        return "Saved."
    } catch let error as StorageError {
        switch error.kind {
        case .duplicateKey, .uniqueViolation: return "There is such an errand already (\(error.field ?? "its key"))."
        case .busy, .unreachable: return "The errands cannot be reached now. Try again in a moment."
        case .outOfSpace: return "There is no free space. Nothing was saved, and nothing was lost."
        case .outcomeUnknown: return "It is not known whether it was saved. Look for it before you save it again."
        default: throw error
        }
    }
}
