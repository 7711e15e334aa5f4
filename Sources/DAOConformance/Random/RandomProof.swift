import DAOCore
import Foundation

/// The contract, proved by chance: scripts of random steps run on a database and, side by side, on plain arrays. What comes of every
/// step must be the same: rows, their order, counts, errors with their keys and fields, every bit.
///
/// ```swift
/// let result = await RandomProof.run(on: target, seed: 1, operations: 20_000)
/// if let failure = result.failure { print(failure.script) }
/// ```
///
/// A round stores rows of four models that every round has, with every kind of field, and of one or two that are made for it: any key among
/// up to eight fields of any type, under names that engines have words for. Then come models that refer to each other, and the life of a
/// database whose application changes: later versions of a made model, migrations, values that can no longer be read, copies.
///
/// A seed makes the same steps on every machine. A script that fails is shrunk to its smallest form and given as Swift to paste into a
/// test. In Swift Testing each seed is a test of its own:
///
/// ```swift
/// @Test(arguments: RandomProof.tests(for: target, seeds: 1...4, operations: 5000))
/// func agrees(_ test: RandomProofTest) async throws { try await test.run() }
/// ```
public enum RandomProof {
    /// How many steps a round has: each round begins with an empty database.
    public static let roundLength = 250

    /// Thrown by scripts in the middle of transactions and of calls, as an application would.
    public struct Abort: Error, Equatable {
        /// Creates the error.
        public init() {}
    }

    /// A translator that writes into stored rows, and leaves there what ``RandomProofModel/keptFields`` names.
    public struct Merging<Record: RandomProofModel>: Translator {
        /// Creates the translator.
        public init() {}
        /// The record itself.
        public func translate(model: Record) throws -> Record { model }
        /// The value itself.
        public func translate(plain: Record) throws -> Record { plain }
        /// Writes every field but those that are kept.
        public func translate(from plain: Record, to model: inout Record) throws {
            var cells = plain.cells
            let stored = model.cells
            for (index, field) in Record.schema.description.fields.enumerated() where Record.keptFields.contains(field.name) {
                cells[index] = stored[index]
            }
            model = try Record(cells: cells)
        }
    }
}
