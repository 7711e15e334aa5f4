// Written by Scripts/schema-arities.py.

extension Schema {
    /// Declares a model of 1 field: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient public convenience init<F1: FieldValue>(
        _ entity: String, _ make: @escaping @Sendable (F1) -> Record, _ f1: Field<Record, F1>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [ErasedField(f1)]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(try F1.read(from: row, at: 0))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<F1: FieldValue, Made: Sendable>(
        _ entity: String, _ make: @escaping @Sendable (F1) -> Made, _ f1: Field<Record, F1>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 2 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient public convenience init<F1: FieldValue, F2: FieldValue>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2) -> Record, _ f1: Field<Record, F1>, _ f2: Field<Record, F2>,
        indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [ErasedField(f1), ErasedField(f2)]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(try F1.read(from: row, at: 0), try F2.read(from: row, at: 1))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<F1: FieldValue, F2: FieldValue, Made: Sendable>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2) -> Made, _ f1: Field<Record, F1>, _ f2: Field<Record, F2>,
        indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 3 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient public convenience init<F1: FieldValue, F2: FieldValue, F3: FieldValue>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3) -> Record, _ f1: Field<Record, F1>, _ f2: Field<Record, F2>,
        _ f3: Field<Record, F3>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [ErasedField(f1), ErasedField(f2), ErasedField(f3)]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<F1: FieldValue, F2: FieldValue, F3: FieldValue, Made: Sendable>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3) -> Made, _ f1: Field<Record, F1>, _ f2: Field<Record, F2>,
        _ f3: Field<Record, F3>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 4 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4) -> Record, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4)]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, Made: Sendable>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4) -> Made, _ f1: Field<Record, F1>, _ f2: Field<Record, F2>,
        _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 5 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5) -> Record, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5)]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, Made: Sendable>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5) -> Made, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 6 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue>(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6) -> Record, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6) -> Made, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 7 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7) -> Record, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7) -> Made, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 8 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8) -> Record, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8) -> Made, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 9 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9) -> Record, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>, _ f9: Field<Record, F9>,
        indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9) -> Made, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>, _ f9: Field<Record, F9>,
        indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 10 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10) -> Record,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9), ErasedField(f10),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8),
                try F10.read(from: row, at: 9))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
                try places.write(F10.self, at: 9, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10) -> Made, _ f1: Field<Record, F1>,
        _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>, _ f5: Field<Record, F5>,
        _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>, _ f9: Field<Record, F9>,
        _ f10: Field<Record, F10>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 11 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11) -> Record,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9), ErasedField(f10), ErasedField(f11),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8),
                try F10.read(from: row, at: 9), try F11.read(from: row, at: 10))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
                try places.write(F10.self, at: 9, of: record, to: row)
                try places.write(F11.self, at: 10, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11) -> Made,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 12 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12) -> Record,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9), ErasedField(f10), ErasedField(f11), ErasedField(f12),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8),
                try F10.read(from: row, at: 9), try F11.read(from: row, at: 10), try F12.read(from: row, at: 11))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
                try places.write(F10.self, at: 9, of: record, to: row)
                try places.write(F11.self, at: 10, of: record, to: row)
                try places.write(F12.self, at: 11, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12) -> Made,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 13 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13) -> Record,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9), ErasedField(f10), ErasedField(f11), ErasedField(f12), ErasedField(f13),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8),
                try F10.read(from: row, at: 9), try F11.read(from: row, at: 10), try F12.read(from: row, at: 11),
                try F13.read(from: row, at: 12))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
                try places.write(F10.self, at: 9, of: record, to: row)
                try places.write(F11.self, at: 10, of: record, to: row)
                try places.write(F12.self, at: 11, of: record, to: row)
                try places.write(F13.self, at: 12, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue, Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13) -> Made,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 14 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue, F14: FieldValue
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14) -> Record,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, _ f14: Field<Record, F14>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9), ErasedField(f10), ErasedField(f11), ErasedField(f12), ErasedField(f13),
            ErasedField(f14),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8),
                try F10.read(from: row, at: 9), try F11.read(from: row, at: 10), try F12.read(from: row, at: 11),
                try F13.read(from: row, at: 12), try F14.read(from: row, at: 13))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
                try places.write(F10.self, at: 9, of: record, to: row)
                try places.write(F11.self, at: 10, of: record, to: row)
                try places.write(F12.self, at: 11, of: record, to: row)
                try places.write(F13.self, at: 12, of: record, to: row)
                try places.write(F14.self, at: 13, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue, F14: FieldValue,
        Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14) -> Made,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, _ f14: Field<Record, F14>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 15 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue, F14: FieldValue,
        F15: FieldValue
    >(
        _ entity: String,
        _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15) -> Record,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, _ f14: Field<Record, F14>, _ f15: Field<Record, F15>, indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9), ErasedField(f10), ErasedField(f11), ErasedField(f12), ErasedField(f13),
            ErasedField(f14), ErasedField(f15),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8),
                try F10.read(from: row, at: 9), try F11.read(from: row, at: 10), try F12.read(from: row, at: 11),
                try F13.read(from: row, at: 12), try F14.read(from: row, at: 13), try F15.read(from: row, at: 14))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
                try places.write(F10.self, at: 9, of: record, to: row)
                try places.write(F11.self, at: 10, of: record, to: row)
                try places.write(F12.self, at: 11, of: record, to: row)
                try places.write(F13.self, at: 12, of: record, to: row)
                try places.write(F14.self, at: 13, of: record, to: row)
                try places.write(F15.self, at: 14, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue, F14: FieldValue,
        F15: FieldValue, Made: Sendable
    >(
        _ entity: String, _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15) -> Made,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, _ f14: Field<Record, F14>, _ f15: Field<Record, F15>, indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of 16 fields: the name of the entity, the initializer, the fields and the indexes.
    @preconcurrency @_alwaysEmitIntoClient
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue, F14: FieldValue,
        F15: FieldValue, F16: FieldValue
    >(
        _ entity: String,
        _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16) -> Record,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, _ f14: Field<Record, F14>, _ f15: Field<Record, F15>, _ f16: Field<Record, F16>,
        indexes: [Index<Record>] = []
    ) {
        let erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9), ErasedField(f10), ErasedField(f11), ErasedField(f12), ErasedField(f13),
            ErasedField(f14), ErasedField(f15), ErasedField(f16),
        ]
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8),
                try F10.read(from: row, at: 9), try F11.read(from: row, at: 10), try F12.read(from: row, at: 11),
                try F13.read(from: row, at: 12), try F14.read(from: row, at: 13), try F15.read(from: row, at: 14),
                try F16.read(from: row, at: 15))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
                try places.write(F10.self, at: 9, of: record, to: row)
                try places.write(F11.self, at: 10, of: record, to: row)
                try places.write(F12.self, at: 11, of: record, to: row)
                try places.write(F13.self, at: 12, of: record, to: row)
                try places.write(F14.self, at: 13, of: record, to: row)
                try places.write(F15.self, at: 14, of: record, to: row)
                try places.write(F16.self, at: 15, of: record, to: row)
            })
    }

    /// Not available: the initializer makes another model.
    @_documentation(visibility: private)
    @available(*, unavailable, message: "the initializer makes another model than the one that the fields are of")
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue, F14: FieldValue,
        F15: FieldValue, F16: FieldValue, Made: Sendable
    >(
        _ entity: String,
        _ make: @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16) -> Made,
        _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, _ f14: Field<Record, F14>, _ f15: Field<Record, F15>, _ f16: Field<Record, F16>,
        indexes: [Index<Record>] = []
    ) {
        self.init(neverMade: entity)
    }

    /// Declares a model of more than 16 fields: the name of the entity, the initializer, the fields and the indexes.
    ///
    /// A field after the seventeenth costs more: the compiler walks over them while the program runs.
    @preconcurrency @inlinable
    public convenience init<
        F1: FieldValue, F2: FieldValue, F3: FieldValue, F4: FieldValue, F5: FieldValue, F6: FieldValue, F7: FieldValue,
        F8: FieldValue, F9: FieldValue, F10: FieldValue, F11: FieldValue, F12: FieldValue, F13: FieldValue, F14: FieldValue,
        F15: FieldValue, F16: FieldValue, F17: FieldValue, each Stored: FieldValue
    >(
        _ entity: String,
        _ make:
            @escaping @Sendable (F1, F2, F3, F4, F5, F6, F7, F8, F9, F10, F11, F12, F13, F14, F15, F16, F17, repeat each Stored)
            -> Record, _ f1: Field<Record, F1>, _ f2: Field<Record, F2>, _ f3: Field<Record, F3>, _ f4: Field<Record, F4>,
        _ f5: Field<Record, F5>, _ f6: Field<Record, F6>, _ f7: Field<Record, F7>, _ f8: Field<Record, F8>,
        _ f9: Field<Record, F9>, _ f10: Field<Record, F10>, _ f11: Field<Record, F11>, _ f12: Field<Record, F12>,
        _ f13: Field<Record, F13>, _ f14: Field<Record, F14>, _ f15: Field<Record, F15>, _ f16: Field<Record, F16>,
        _ f17: Field<Record, F17>, _ fields: repeat Field<Record, each Stored>, indexes: [Index<Record>] = []
    ) {
        var erased: [ErasedField<Record>] = [
            ErasedField(f1), ErasedField(f2), ErasedField(f3), ErasedField(f4), ErasedField(f5), ErasedField(f6), ErasedField(f7),
            ErasedField(f8), ErasedField(f9), ErasedField(f10), ErasedField(f11), ErasedField(f12), ErasedField(f13),
            ErasedField(f14), ErasedField(f15), ErasedField(f16), ErasedField(f17),
        ]
        repeat erased.append(ErasedField(each fields))
        let places = FieldPlaces(erased)
        @Sendable @inline(__always) func read(_ row: RowReader) throws -> Record {
            var index = FieldCounter(after: 16)
            return make(
                try F1.read(from: row, at: 0), try F2.read(from: row, at: 1), try F3.read(from: row, at: 2),
                try F4.read(from: row, at: 3), try F5.read(from: row, at: 4), try F6.read(from: row, at: 5),
                try F7.read(from: row, at: 6), try F8.read(from: row, at: 7), try F9.read(from: row, at: 8),
                try F10.read(from: row, at: 9), try F11.read(from: row, at: 10), try F12.read(from: row, at: 11),
                try F13.read(from: row, at: 12), try F14.read(from: row, at: 13), try F15.read(from: row, at: 14),
                try F16.read(from: row, at: 15), try F17.read(from: row, at: 16),
                repeat try (each Stored).read(from: row, at: index.next()))
        }
        self.init(
            entity: entity, fields: erased, indexes: indexes, decodeRow: { $1 = try read($0) },
            decodeRows: { row, limit, expected, records in
                if expected > 0 { records.reserveCapacity(expected) }
                var remaining = limit
                while remaining > 0, try row.advance() {
                    records.append(try read(row))
                    remaining -= 1
                }
            },
            encodeRow: { record, row in
                try places.write(F1.self, at: 0, of: record, to: row)
                try places.write(F2.self, at: 1, of: record, to: row)
                try places.write(F3.self, at: 2, of: record, to: row)
                try places.write(F4.self, at: 3, of: record, to: row)
                try places.write(F5.self, at: 4, of: record, to: row)
                try places.write(F6.self, at: 5, of: record, to: row)
                try places.write(F7.self, at: 6, of: record, to: row)
                try places.write(F8.self, at: 7, of: record, to: row)
                try places.write(F9.self, at: 8, of: record, to: row)
                try places.write(F10.self, at: 9, of: record, to: row)
                try places.write(F11.self, at: 10, of: record, to: row)
                try places.write(F12.self, at: 11, of: record, to: row)
                try places.write(F13.self, at: 12, of: record, to: row)
                try places.write(F14.self, at: 13, of: record, to: row)
                try places.write(F15.self, at: 14, of: record, to: row)
                try places.write(F16.self, at: 15, of: record, to: row)
                try places.write(F17.self, at: 16, of: record, to: row)
                var index = FieldCounter(after: 16)
                repeat try places.write((each Stored).self, at: index.next(), of: record, to: row)
            })
    }
}
