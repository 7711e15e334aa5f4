import DAOCore

/// W7: a value that is outdated is not stored.
enum WritesRevisions {
    static let cases: [ConformanceCase] = [
        ConformanceCase("W.revisionCounts", "W7", title: "every write of a row counts its revision up by one") { context in
            let (database, proposals) = try context.open(with: Proposal.self)
            let titles = DAO(storage: try database.storage(for: Proposal.self), translator: ProposalTitleTranslator())
            var proposal = Proposal(id: 1, title: "a")
            for step in 1...3 {
                try proposals.persist(proposal)
                proposal.revision = proposal.revision.next
                try expectSame(try proposals.read(), [proposal], "the row after write \(step)")
            }
            try titles.persist(ProposalTitle(id: 1, title: "b"))
            try expectSame(try proposals.read(), [Proposal(id: 1, title: "b", revision: 4)], "a merge without the revision")
            try proposals.update(where: { $0.id == 1 }) { $0.title = "c" }
            try expectSame(try proposals.read(), [Proposal(id: 1, title: "c", revision: 5)], "an update")
            try proposals.update(where: { $0.id == 1 }) { _ in }
            try expectSame(try proposals.read(), [Proposal(id: 1, title: "c", revision: 6)], "an update that changes nothing")
            _ = try titles.findOrCreate(byPrimaryKey: 1) { throw DeliberateError() }
            try expectSame(try proposals.read(), [Proposal(id: 1, title: "c", revision: 6)], "a stored value that was found")
            try proposals.create([Proposal(id: 2, title: "new"), Proposal(id: 3, title: "from elsewhere", revision: 9)])
            let made = try database.storage(for: Proposal.self).create { $0.id = 4 }
            try expectEqual(try proposals.read(where: { $0.id > 1 }).map(\.revision), [1, 1, 1], "the revisions of created rows")
            try expectEqual(made.revision, 1, "the revision of the record that create returns")
        },
        ConformanceCase("W.revisionConflicts", "W7", title: "an outdated value is a conflict, however it is written") { context in
            let (database, proposals) = try context.open(with: Proposal.self)
            let storage = try database.storage(for: Proposal.self)
            let merging = DAO(storage: storage, translator: ProposalTranslator())
            try proposals.create(Proposal(id: 1, title: "a"))
            let stale = try require(proposals.read(byPrimaryKey: 1), "the proposal")
            try proposals.persist(Proposal(id: 1, title: "b", revision: 1))
            let stored = [Proposal(id: 1, title: "b", revision: 2)]
            let values = [
                stale, Proposal(id: 1, title: "new"), Proposal(id: 1, title: "ahead", revision: 3),
                Proposal(id: 7, title: "erased since", revision: 1),
            ]
            for value in values {
                func refuses(_ what: String, _ body: () throws -> Void) throws {
                    try expectError(
                        .conflict, "\(what) of \(value)", entity: "proposal", key: UniqueID(value.id),
                        message: "the row of 'proposal' was written or erased since this value was read; "
                            + "read it again, and repeat the change"
                    ) { try body() }
                    try expectSame(try proposals.read(), stored, "the rows after \(what)")
                }
                try refuses("persist") { try proposals.persist(value) }
                try refuses("a merge") { try merging.persist(value) }
                try refuses("persist of several") { try proposals.persist([Proposal(id: 5, title: "x"), value]) }
                try refuses("a merge of several") { try merging.persist([Proposal(id: 5, title: "x"), value]) }
                try refuses("a storage's persist") { try storage.persist(object: value) }
                try refuses("a storage's merge") {
                    _ = try storage.merge(keys: [.integer(Int64(value.id))]) { $1 = value }
                }
                try database.transaction {
                    try refuses("persist in a transaction") { try proposals.persist(value) }
                }
            }
            try expectError(.conflict, "an update", entity: "proposal", key: 1) {
                try proposals.update(where: { $0.id == 1 }) { $0 = stale }
            }
            try expectSame(try proposals.read(), stored, "the rows after an update")
            try expectEqual(try proposals.erase(stale), 1, "rows erased by an outdated value")
        },
        ConformanceCase("W.revisionBatch", "W7", "W4", title: "a row that one call gives twice is counted once") { context in
            let (database, proposals) = try context.open(with: Proposal.self)
            let merging = DAO(storage: try database.storage(for: Proposal.self), translator: ProposalTranslator())
            try proposals.persist([Proposal(id: 1, title: "a"), Proposal(id: 2, title: "b"), Proposal(id: 1, title: "c")])
            try expectSame(
                try proposals.read(), [Proposal(id: 1, title: "c", revision: 1), Proposal(id: 2, title: "b", revision: 1)])
            try merging.persist([Proposal(id: 1, title: "d", revision: 1), Proposal(id: 1, title: "e", revision: 1)])
            try expectSame(try proposals.read(byPrimaryKey: 1), Proposal(id: 1, title: "e", revision: 2))
        },
        ConformanceCase("W.revisionQueries", "W7", "P3", "Q2", title: "conditions and sorts use a revision like a number") {
            context in
            let proposals = try context.dao(Proposal.self)
            try proposals.create((1...4).map { Proposal(id: $0, title: "t") })
            for id in 1...4 { for _ in id..<4 { try proposals.update(where: { $0.id == id }) { _ in } } }
            try expectEqual(try proposals.read { $0.revision > 2 }.map(\.id), [1, 2])
            try expectEqual(try proposals.read { $0.revision == 1 || $0.revision.in([4]) }.map(\.id), [1, 4])
            try expectEqual(try proposals.read(predicatedBy: "revision BETWEEN {2, 3}").map(\.id), [2, 3])
            try expectEqual(try proposals.read(orderedBy: .ascending(\.revision), limit: 2).map(\.id), [4, 3])
            try expectEqual(try proposals.max(\.revision), 4)
        },
        ConformanceCase("W.revisionThreads", "W7", "T4", title: "threads that read, change and write lose no change") { context in
            let proposals = try context.dao(Proposal.self)
            try proposals.create(Proposal(id: 1, title: ""))
            try onThreads(4) { _ in
                var (done, conflicts) = (0, 0)
                while done < 20 {
                    var proposal = try require(proposals.read(byPrimaryKey: 1), "the proposal")
                    proposal.title += "x"
                    do {
                        try proposals.persist(proposal)
                        done += 1
                    } catch let error as StorageError where error.kind == .conflict {
                        // Each conflict is a write of another thread.
                        conflicts += 1
                        try expect(conflicts <= 60, "a conflict for each write of another thread at most")
                    }
                }
            }
            try expectSame(try proposals.read(), [Proposal(id: 1, title: String(repeating: "x", count: 80), revision: 81)])
        },
        ConformanceCase(
            "W.revisionRelated", "W7", "R7", title: "an outdated owned row is a conflict, an outdated linked row is not written"
        ) { context in
            let (database, dossiers) = try context.open(with: Dossier.self)
            let (proposals, remarks) = (try database.dao(Proposal.self), try database.dao(Remark.self))
            try dossiers.create(Dossier(id: 1, subject: Proposal(id: 1, title: "a"), remarks: [Remark(id: 1, text: "r")]))
            let read = try require(dossiers.read(byPrimaryKey: 1), "the dossier")
            try expectSame(
                read,
                Dossier(
                    id: 1, revision: 1, subject: Proposal(id: 1, title: "a", revision: 1),
                    remarks: [Remark(id: 1, text: "r", revision: 1)]))
            try proposals.persist(Proposal(id: 1, title: "b", revision: 1))
            try dossiers.persist(read)
            try expectSame(try proposals.read(), [Proposal(id: 1, title: "b", revision: 2)], "the linked row")
            try expectSame(try remarks.read(), [Remark(id: 1, text: "r", revision: 2)], "the owned row")
            try expectError(.conflict, "the dossier itself", entity: "dossier", key: 1) { try dossiers.persist(read) }
            var later = try require(dossiers.read(byPrimaryKey: 1), "the dossier")
            try remarks.persist(Remark(id: 1, text: "changed", revision: 2))
            try expectError(.conflict, "an outdated remark", entity: "remark", key: 1) { try dossiers.persist(later) }
            try expectEqual(try dossiers.read().map(\.revision), [2], "the revision after the conflict")
            try expectEqual(later.remarks.map(\.id), [1], "the remarks")
            later.remarks[0] = Remark(id: 1, text: "changed again", revision: 3)
            try dossiers.persist(later)
            try dossiers.update(where: { $0.id == 1 }) { $0.remarks.append(Remark(id: 2, text: "new")) }
            try expectSame(
                try remarks.read(), [Remark(id: 1, text: "changed again", revision: 4), Remark(id: 2, text: "new", revision: 1)],
                "an owned row that an update left as it was read")
            try expectEqual(try dossiers.read().map(\.revision), [4], "the revision of the dossier")
        },
        ConformanceCase(
            "W.revisionUnlinked", "W7", "R9", "R10",
            title: "an erasure does not count rows whose References it makes nil, and a value from before is judged as any other"
        ) { context in
            let (database, minutes) = try context.open(with: Minutes.self)
            let people = try database.dao(Person.self)
            try people.create(Person(id: 1, name: "Ada"))
            try minutes.create(Minutes(id: 1, chair: Reference(1)))
            let before = try require(minutes.read(byPrimaryKey: 1), "the minutes")
            try people.erase(byPrimaryKey: 1)
            try expectEqual(try minutes.read(), [Minutes(id: 1, chair: nil, revision: 1)], "the row after the erasure")
            try expectError(.referenceViolation, entity: "minutes", key: 1, conflictingKey: 1, field: "chair") {
                try minutes.persist(before)
            }
            try people.create(Person(id: 1, name: "Bob"))
            try minutes.persist(before)
            try expectEqual(try minutes.read(), [Minutes(id: 1, chair: Reference(1), revision: 2)], "with a new row of the key")
            try expectError(.invalidSchema, entity: "ticket_of", field: "seat") { try database.storage(for: TicketOfSeat.self) }
        },
        ConformanceCase("W.revisionShared", "W7", "R2", title: "a row that two parents of one call own is counted once") {
            context in
            let (database, dossiers) = try context.open(with: Dossier.self)
            let remarks = try database.dao(Remark.self)
            let shared = Remark(id: 1, text: "r")
            try dossiers.create([Dossier(id: 1, remarks: [shared]), Dossier(id: 2, remarks: [shared, shared])])
            try expectSame(try remarks.read(), [Remark(id: 1, text: "r", revision: 1)])
            try dossiers.update(where: { $0.id > 0 }) { $0.remarks = [Remark(id: 1, text: "s", revision: 1)] }
            try expectSame(try remarks.read(), [Remark(id: 1, text: "s", revision: 2)])
            // The second parent reads the row as the turn of the first has left it.
            try dossiers.update(where: { $0.id > 0 }) { dossier in
                dossier.remarks = dossier.remarks.map { Remark(id: $0.id, text: $0.text + "+", revision: $0.revision) }
            }
            try expectSame(try remarks.read(), [Remark(id: 1, text: "s++", revision: 3)])
            try expectError(.conflict, entity: "remark", key: 1) {
                try dossiers.update(where: { $0.id == 2 }) { $0.remarks = [Remark(id: 1, text: "t", revision: 2)] }
            }
            try expectSame(try remarks.read(), [Remark(id: 1, text: "s++", revision: 3)])
        },
        ConformanceCase(
            "W.revisionAdded", "W7", "E2", "E6",
            title: "rows from before the revision have the first, and a model without it keeps it", requires: [.evolution]
        ) { context in
            var database = try context.open()
            try database.dao(ProposalBefore.self).create([ProposalBefore(id: 1, title: "a"), ProposalBefore(id: 2, title: "b")])
            let keeper = try context.open()
            database = try context.reopen(database)
            let proposals = try database.dao(Proposal.self)
            try proposals.persist(Proposal(id: 1, title: "c", revision: 1))
            try expectError(.conflict, entity: "proposal", key: 2) { try proposals.persist(Proposal(id: 2, title: "new")) }
            let stored = [Proposal(id: 1, title: "c", revision: 2), Proposal(id: 2, title: "b", revision: 1)]
            try expectSame(try proposals.read(), stored)
            let copy = try context.openOther()
            try database.copy(to: copy)
            try expectSame(try copy.dao(Proposal.self).read(), stored, "the rows of a copy")
            database = try context.reopen(database)
            try database.dao(ProposalBefore.self).persist([ProposalBefore(id: 1, title: "d"), ProposalBefore(id: 3, title: "e")])
            database = try context.reopen(database)
            try expectSame(
                try database.dao(Proposal.self).read(),
                [Proposal(id: 1, title: "d", revision: 2), stored[1], Proposal(id: 3, title: "e", revision: 1)])
            try keeper.close()
        },
        ConformanceCase(
            "W.revisionSchemas", "W7", title: "two revisions, an optional one and one with a default are invalidSchema"
        ) {
            context in
            let database = try context.open()
            func refuses<Record: Model>(_ model: Record.Type, field: String, _ message: String) throws {
                try expectError(.invalidSchema, entity: Record.schema.description.name, field: field, message: message) {
                    try database.storage(for: model)
                }
            }
            try refuses(
                TwoRevisions.self, field: "second",
                "'two_revisions' has more than one Revision: 'first' and 'second'; keep one of them")
            try refuses(
                OptionalRevision.self, field: "revision",
                "the field 'revision' of 'optional_revision' contains a Revision; declare it as a Revision that is neither "
                    + "optional nor in a list")
            try refuses(
                DefaultRevision.self, field: "revision",
                "the field 'revision' of 'default_revision' has a default; remove it, because the database counts revisions from 1"
            )
        },
    ]
}

/// The proposals of an application that does not know revisions.
private struct ProposalBefore: Plain, Model {
    var id: Int
    var title: String
    static let schema = Schema("proposal", Self.init, Field("id", \.id, .primaryKey), Field("title", \.title))
}

/// A row that refers, and counts its writes.
private struct Minutes: Plain, Model, Equatable {
    var id: Int
    var chair: Reference<Person>?
    var revision = Revision()
    static let schema = Schema(
        "minutes", Self.init, Field("id", \.id, .primaryKey), Field("chair", \.chair), Field("revision", \.revision))
}

private struct TicketOfSeat: Model {
    var id: Int
    var seat: Reference<Person>?
    static let schema = Schema("ticket_of", Self.init, Field("id", \.id, .primaryKey), Field("seat", \.seat, .unique))
}

private struct TwoRevisions: Model {
    var id: Int
    var first: Revision
    var second: Revision
    static let schema = Schema(
        "two_revisions", Self.init, Field("id", \.id, .primaryKey), Field("first", \.first), Field("second", \.second))
}

private struct OptionalRevision: Model {
    var id: Int
    var revision: Revision?
    static let schema = Schema(
        "optional_revision", Self.init, Field("id", \.id, .primaryKey), Field("revision", \.revision))
}

private struct DefaultRevision: Model {
    var id: Int
    var revision: Revision
    static let schema = Schema(
        "default_revision", Self.init, Field("id", \.id, .primaryKey), Field("revision", \.revision, .default(0)))
}
