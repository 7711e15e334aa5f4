import DAOCore

extension RandomProof {
    /// A translator that calls out for every value that it translates, as one does that uses other DAOs.
    public struct Calling<Record: RandomProofModel>: Translator, @unchecked Sendable {
        // Sendable because a translator's closures run on the thread of the call, which is the one that made this.
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

extension DatabaseRunner {
    /// Stores rows through a translator that does steps.
    func translate<Record: RandomRecord>(
        _ operation: Step, _ dao: DAO<IdentityTranslator<Record>>, _ handle: Handle
    ) -> Outcome {
        var inner: [Outcome] = []
        let own = Outcome.of {
            let records = try operation.rows.map { try Record(cells: $0) }
            try withoutActuallyEscaping({ (index: Int) throws in
                if index == operation.number { throw RandomProof.Abort() }
                guard operation.inner.indices.contains(index) else { return }
                inner.append(self.perform(operation.inner[index], on: handle))
            }) { call in
                let calling = DAO(storage: dao.storage, translator: RandomProof.Calling<Record>(call))
                if operation.flag { try calling.persist(records) } else { try calling.create(records) }
            }
            return .done
        }
        return .nested(inner, own)
    }
}
