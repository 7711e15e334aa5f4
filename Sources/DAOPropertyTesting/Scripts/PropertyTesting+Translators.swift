import DAOCore

// The translators of printed tests.

extension PropertyTesting {
    /// Thrown by scripts in the middle of transactions and of calls, as an application throws.
    public struct Abort: Error, Equatable {
        /// Creates the error.
        public init() {}
    }

    /// A translator that writes into stored rows, and leaves there what ``PropertyTestModel/keptFields``
    /// names.
    public struct Merging<Record: PropertyTestModel>: Translator {
        /// Creates the translator.
        public init() {}
        /// The record itself.
        public func translate(model: Record) throws -> Record { model }
        /// The value itself.
        public func translate(plain: Record) throws -> Record { plain }
        /// Writes every field but those that are kept.
        public func translate(from plain: Record, to model: inout Record) throws {
            var values = plain.values
            let stored = model.values
            for (index, field) in Record.schema.description.fields.enumerated() where Record.keptFields.contains(field.name) {
                values[index] = stored[index]
            }
            model = try Record(values: values)
        }
    }

    /// A translator that writes into stored rows, and calls out for every value before, as one does that uses other DAOs.
    public struct CallingMerging<Record: PropertyTestModel>: Translator, @unchecked Sendable {
        // Sendable because a translator's closures run on the thread of the call, which is the one that made
        // this.
        private let call: (Int) throws -> Void

        /// Creates the translator.
        ///
        /// - Parameter call: Is called before each value is translated, always with zero.
        public init(_ call: @escaping (Int) throws -> Void) { self.call = call }
        /// The record itself.
        public func translate(model: Record) throws -> Record { model }
        /// The value itself, after having called out.
        public func translate(plain: Record) throws -> Record {
            try call(0)
            return plain
        }
        /// Writes every field, after having called out.
        public func translate(from plain: Record, to model: inout Record) throws {
            try call(0)
            model = plain
        }
    }

    /// A translator that calls out for every value that it translates, as one does that uses other DAOs.
    public struct Calling<Record: PropertyTestModel>: ReplacingTranslator, @unchecked Sendable {
        // Sendable because a translator's closures run on the thread of the call, which is the one that made
        // this.
        private let call: (Int) throws -> Void

        /// Creates the translator.
        ///
        /// - Parameter call: Gets the position of each value before it is translated.
        public init(_ call: @escaping (Int) throws -> Void) { self.call = call }
        /// The record itself.
        public func translate(model: Record) throws -> Record { model }
        /// The value itself.
        public func translate(plain: Record) throws -> Record { plain }
        /// The values themselves, after having called out for each.
        public func translate(plains: [Record]) throws -> [Record] {
            for index in plains.indices { try call(index) }
            return plains
        }
    }
}
