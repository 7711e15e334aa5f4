import DAOCore

/// K2 and K3: string keys, byte by byte.
enum KeysStrings {
    static let cases: [ConformanceCase] = [
        ConformanceCase("K.emptyString", "K3", title: "the empty string is a key") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            try dao.create(KeyedBy(id: "", note: "empty"))
            try expectSame(try dao.read(byPrimaryKey: ""), KeyedBy(id: "", note: "empty"))
            try expectError(.duplicateKey, entity: "byString", key: "", field: "id") {
                try dao.create(KeyedBy(id: "", note: "again"))
            }
            try dao.persist(KeyedBy(id: "", note: "replaced"))
            try expectSame(try dao.read().map(\.note), ["replaced"])
            try expectSame(try dao.read { $0.id == "" }.map(\.note), ["replaced"])
            try expectEqual(try dao.erase(byPrimaryKey: ""), 1)
            try expect(try dao.read(byPrimaryKey: "") == nil, "no rows")
        },
        ConformanceCase("K.longestString", "K3", title: "a key of 256 bytes works in every operation") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let (first, second) = (String(repeating: "k", count: 255) + "a", String(repeating: "k", count: 255) + "b")
            try dao.create([second, first].map { KeyedBy(id: $0, note: String($0.suffix(1))) })
            try expectSame(try dao.read().map(\.note), ["a", "b"])
            try expectSame(try dao.read(byPrimaryKey: second)?.note, "b")
            try expectEqual(try dao.erase(byPrimaryKey: first), 1)
            try expectSame(try dao.read().map(\.id), [second])
        },
        ConformanceCase("K.longestStringCountsBytes", "K3", title: "the limit counts UTF-8 bytes, not characters") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let fits = String(repeating: "é", count: 128)
            try dao.create(KeyedBy(id: fits, note: ""))
            try expectSame(try dao.read(byPrimaryKey: fits)?.id, fits)
            let emoji = String(repeating: "👍", count: 64)
            try dao.create(KeyedBy(id: emoji, note: ""))
            try expectSame(try dao.read().map(\.id), [fits, emoji])
            try expectError(.invalidKey, entity: "byString") { try dao.create(KeyedBy(id: fits + "a", note: "")) }
            try expectError(.invalidKey, entity: "byString") { try dao.create(KeyedBy(id: emoji + "a", note: "")) }
        },
        ConformanceCase(
            "K.tooLongToCreate", "K3", "W3", title: "creating a key of 257 bytes is invalidKey and stores nothing"
        ) { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let long = String(repeating: "k", count: 257)
            try expectError(.invalidKey, entity: "byString") {
                try dao.create([
                    KeyedBy(id: "good", note: ""), KeyedBy(id: long, note: ""), KeyedBy(id: "z", note: ""),
                ])
            }
            try expectEqual(try dao.count(), 0, "stored rows")
        },
        ConformanceCase(
            "K.tooLongToPersist", "K3", "W3", title: "persisting a key of 257 bytes is invalidKey and stores nothing"
        ) { context in
            let dao = try context.dao(KeyedBy<String>.self)
            try dao.create(KeyedBy(id: "good", note: "before"))
            try expectError(.invalidKey, entity: "byString") {
                try dao.persist([
                    KeyedBy(id: "good", note: "after"), KeyedBy(id: String(repeating: "k", count: 257), note: ""),
                ])
            }
            try expectSame(try dao.read().map(\.note), ["before"])
        },
        ConformanceCase(
            "K.tooLongToFind", "K3",
            title: "reading or erasing by a key of 257 bytes is invalidKey, in every operation that takes keys"
        ) { context in
            let dao = try context.dao(KeyedBy<String>.self)
            try dao.create(KeyedBy(id: String(repeating: "k", count: 256), note: ""))
            let long = String(repeating: "k", count: 257)
            try expectError(.invalidKey, "read", entity: "byString") { try dao.read(byPrimaryKey: long) }
            try expectError(.invalidKey, "read of several", entity: "byString") { try dao.read(byPrimaryKeys: ["a", long]) }
            try expectError(.invalidKey, "exists", entity: "byString") { try dao.exists(byPrimaryKey: long) }
            try expectError(.invalidKey, "erase", entity: "byString") { try dao.erase(byPrimaryKey: long) }
            try expectEqual(try dao.count(), 1)
        },
        ConformanceCase(
            "K.longKeyInPredicate", "K3", title: "a predicate may compare the key with a text that cannot be a key"
        ) {
            context in
            let dao = try context.dao(KeyedBy<String>.self)
            let longest = String(repeating: "k", count: 256)
            try dao.create(["a", longest, "z"].map { KeyedBy(id: $0, note: "") })
            try expectEqual(try dao.count { $0.id == longest + "k" }, 0, "rows whose key equals the text")
            try expectSame(try dao.read { $0.id > longest + "k" }.map(\.id), ["z"])
            try expectSame(try dao.read { $0.id < longest + "k" }.map(\.id), ["a", longest])
            try expectSame(try dao.read { $0.id.in([longest + "k", "z"]) }.map(\.id), ["z"])
        },
        ConformanceCase("K.nulBytes", "K3", title: "NUL bytes distinguish keys") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let ids = ["\0", "\0\0", "a", "a\0", "a\0\0", "a\0b", "a\u{1}", "ab"]
            try dao.create(ids.reversed().map { KeyedBy(id: $0, note: "") })
            try expectSame(try dao.read().map(\.id), ids)
            for id in ids { try expectSame(try dao.read(byPrimaryKey: id)?.id, id) }
            try expectEqual(try dao.erase(byPrimaryKey: "a"), 1)
            try expectEqual(try dao.count(), 7)
        },
        ConformanceCase("K.nulBytesToTheLimit", "K3", title: "256 NUL bytes are a valid key") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let ids = [String(repeating: "\0", count: 255), String(repeating: "\0", count: 256)]
            try dao.create(ids.reversed().map { KeyedBy(id: $0, note: "") })
            try expectSame(try dao.read().map(\.id), ids)
            try expectSame(try dao.read(byPrimaryKey: ids[1])?.id, ids[1])
        },
        ConformanceCase("K.prefixes", "K2", "K3", title: "a key and longer keys with its prefix keep their order") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            try dao.create(["ab", "a\u{1}", "a", "a\0", "b", "aa"].map { KeyedBy(id: $0, note: "") })
            try expectSame(try dao.read { $0.id > "a" && $0.id < "b" }.map(\.id), ["a\0", "a\u{1}", "aa", "ab"])
            try expectSame(try dao.read { $0.id.hasPrefix("a") }.map(\.id), ["a", "a\0", "a\u{1}", "aa", "ab"])
            try expectSame(try dao.read { $0.id >= "aa" }.map(\.id), ["aa", "ab", "b"])
        },
        ConformanceCase("K.composedAndDecomposed", "K3", title: "a composed and a decomposed é are two keys") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let (composed, decomposed) = ("\u{e9}", "e\u{301}")
            try dao.create(KeyedBy(id: composed, note: "composed"))
            try dao.create(KeyedBy(id: decomposed, note: "decomposed"))
            try expectSame(try dao.read().map(\.note), ["decomposed", "composed"])
            try expectSame(try dao.read(byPrimaryKey: composed)?.note, "composed")
            try expectSame(try dao.read(byPrimaryKeys: [decomposed, composed]).map(\.note), ["decomposed", "composed"])
            try expectEqual(try dao.erase(byPrimaryKey: decomposed), 1)
            try expectSame(try dao.read().map(\.id), [composed])
        },
        ConformanceCase("K.composedInOneCall", "K3", "W4", title: "canonically equal keys of a call are different") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let ids = ["A\u{30a}", "\u{c5}", "\u{212b}"]
            try dao.create(ids.map { KeyedBy(id: $0, note: $0) })
            try expectSame(try dao.read().map(\.id), ids)
            try dao.persist(ids.map { KeyedBy(id: $0, note: "again " + $0) })
            try expectSame(try dao.read().map(\.note), ids.map { "again " + $0 })
            try expectSame(try dao.read(byPrimaryKeys: ids.reversed()).map(\.id), ids.reversed())
            try expectEqual(try dao.erase(byPrimaryKeys: ids), 3)
        },
        ConformanceCase("K.caseSensitive", "K3", title: "'ID', 'Id' and 'id' are three keys") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            try dao.create(["id", "ID", "Id"].map { KeyedBy(id: $0, note: $0) })
            try expectSame(try dao.read().map(\.id), ["ID", "Id", "id"])
            try expectSame(try dao.read(byPrimaryKey: "Id")?.note, "Id")
            try expectEqual(try dao.erase(byPrimaryKey: "ID"), 1)
            try expectSame(try dao.read().map(\.id), ["Id", "id"])
        },
        ConformanceCase("K.hostileText", "K3", title: "quotes, wildcards, newlines and SQL in a key are plain text") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let ids = [
                "'", "''", "\"", "\\", "%", "_", "*", "?", "[a]", "\n", "\r\n", "\t", "; DROP TABLE byString; --",
                "' OR 1=1 --", "$1", ":id",
                "@id", "?1", " ", "  ", "a ", " a", "/", "../..", "\u{7f}",
            ]
            try dao.create(ids.map { KeyedBy(id: $0, note: "note of " + $0) })
            for id in ids { try expectSame(try dao.read(byPrimaryKey: id)?.note, "note of " + id) }
            try expectEqual(try dao.count(), ids.count)
            for id in ids { try expectEqual(try dao.erase(byPrimaryKey: id), 1, "erased rows of \(Dump.text(of: id))") }
        },
        ConformanceCase("K.looksLikeNumbers", "K3", title: "texts that look like numbers stay different keys") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let ids = ["+1", "-0", "-1", "0", "0.0", "00", "01", "0x10", "1", "1.0", "10", "1e0", "2", "NaN", "inf", "null"]
            try dao.create(ids.reversed().map { KeyedBy(id: $0, note: $0) })
            try expectSame(try dao.read().map(\.id), ids)
            for id in ids { try expectSame(try dao.read(byPrimaryKey: id)?.note, id) }
        },
        ConformanceCase("K.bytesNotCodeUnits", "K2", title: "U+FFFD sorts before U+10000: by UTF-8, not UTF-16") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let ids = [
                "\u{7f}", "\u{80}", "\u{7ff}", "\u{800}", "\u{d7ff}", "\u{e000}", "\u{fffd}", "\u{10000}", "\u{10ffff}",
            ]
            try dao.create(ids.reversed().map { KeyedBy(id: $0, note: "") })
            try expectSame(try dao.read().map(\.id), ids)
            try expectSame(try dao.read(orderedBy: .descending(\.id)).map(\.id), ids.reversed())
        },
        ConformanceCase("K.bytesNotCollation", "K2", title: "string keys order by bytes: Z < a < e + accent < f < é") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            let ids = ["Z", "a", "e", "e\u{301}", "ea", "f", "z", "\u{e9}"].sorted {
                $0.utf8.lexicographicallyPrecedes($1.utf8)
            }
            try dao.create(ids.reversed().map { KeyedBy(id: $0, note: "") })
            try expectSame(try dao.read().map(\.id), ids)
            try expectSame(try dao.read { $0.id > "e\u{301}" && $0.id <= "\u{e9}" }.map(\.id), ["f", "z", "\u{e9}"])
        },
        ConformanceCase("K.everyPlane", "K3", title: "scalars of every plane, noncharacters and marks are keys") { context in
            let dao = try context.dao(KeyedBy<String>.self)
            var scalars: [UInt32] = [0xfeff, 0x200d, 0x202e, 0xfffe, 0xffff, 0xfdd0, 0xd7ff, 0xe000]
            scalars += (0...16).flatMap { [$0 << 16 | 0xfffe, $0 << 16 | 0x1234] }
            let ids = Set(scalars).sorted().compactMap(Unicode.Scalar.init).map { String(Character($0)) }
            try dao.create(ids.reversed().map { KeyedBy(id: $0, note: "") })
            try expectSame(try dao.read().map(\.id), ids)
            for id in ids { try expectSame(try dao.read(byPrimaryKey: id)?.id, id) }
        },
        ConformanceCase(
            "K.afterReopening", "K3", title: "keys with unusual characters are found after reopening",
            requires: [.persistence]
        ) {
            context in
            let ids = ["", "\0", "a\0b", "\u{e9}", "e\u{301}", String(repeating: "k", count: 256), "👩‍👩‍👧"]
                .sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) }
            let database = try context.open()
            try database.dao(KeyedBy<String>.self).create(ids.map { KeyedBy(id: $0, note: $0) })
            let dao = try context.reopen(database).dao(KeyedBy<String>.self)
            try expectSame(try dao.read().map(\.id), ids)
            for id in ids { try expectSame(try dao.read(byPrimaryKey: id)?.note, id) }
        },
    ]
}
