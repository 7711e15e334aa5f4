import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import dao_cli

/// CSV and JSON as people have them: read as a whole, or refused with the place.
@Suite(.timeLimit(.minutes(10))) struct ImportTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    /// The cells are those that Python's csv reads with strict=True, and what Python refuses is refused.
    /// `ROUNDS=100000` in the environment runs for longer, `SEED=1` repeats a run.
    @Test func cellsAreThoseOfPython() async throws {
        let rounds = Self.environment["ROUNDS"].flatMap { Int($0) } ?? 3000
        let seed = Self.environment["SEED"] ?? "\(Int.random(in: 0..<1_000_000_000))"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["python3", Self.root.appendingPathComponent("Scripts/csv-cells.py").path, "\(rounds)", seed]
        let run = try await process.runToEnd()
        try #require(run.status == 0, "\(run.errors)")
        var (files, refused) = (0, 0)
        for line in run.output.split(separator: "\n") {
            let object = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            let data = try #require((object["file"] as? String).flatMap { Data(base64Encoded: $0) })
            let delimiter = try #require((object["delimiter"] as? String)?.utf8.first)
            let expected = object["rows"] as? [[String]]
            var found: [[String]]?
            do {
                var reader = CSVReader(try ByteReader(Array(data), file: "f.csv"), delimiter: delimiter)
                var rows: [[String]] = []
                while let record = try reader.record() { rows.append(record.map(\.text)) }
                found = rows
            } catch let error as ImportError {
                #expect(error.description.hasPrefix("'f.csv', line "))
            }
            files += 1
            if expected == nil { refused += 1 }
            // The bytes: texts that look the same can differ.
            let isSame = found?.map { $0.map { Array($0.utf8) } } == expected?.map { $0.map { Array($0.utf8) } }
            try #require(isSame, "SEED=\(seed): \(String(decoding: data, as: UTF8.self).debugDescription) by \(delimiter)")
        }
        #expect(files == rounds && refused > rounds / 10 && refused < rounds / 2)
        if Self.environment["ROUNDS"] != nil { print("csv: \(files) files, \(refused) of them refused, SEED=\(seed)") }
    }

    /// Files as programs write them go into an entity of the application.
    @Test func filesAsPeopleHaveThem() async throws {
        let library = try Library("sqlite")
        try library.using { _ = try $0.storage(for: Hard.self) }
        func day(_ id: String, _ text: String, _ number: String, _ date: String) -> String {
            "{\"id\":\"\(id)\",\"text\":\(text),\"number\":\(number),\"small\":null,\"date\":\"\(date)\"}\n"
        }
        // Whoever writes no quotes cannot tell an empty text from none.
        let named = try Library("sqlite")
        try Data("id,name,count,nothing\n1,,,\n2,x,4,\n".utf8).write(to: named.place.directory.appendingPathComponent("n.csv"))
        #expect(try await named.dao("import", named.url, "named", "n.csv", "--key", "id", "--empty-text").status == 0)
        #expect(
            try await named.dao("export", named.url, "named").output
                == "{\"id\":1,\"name\":\"\",\"count\":null,\"nothing\":\"\"}\n{\"id\":2,\"name\":\"x\",\"count\":4,\"nothing\":\"\"}\n"
        )
        let inspected = try await named.dao("inspect", named.url).output
        #expect(inspected.contains("name     string\n") && inspected.contains("count    int64?\n"), "\(inspected)")
        let excel = ["--key", "Nr.", "--columns", "\"Betrag, netto=number\",Datum=date,=", "--decimal-comma"]
        for (name, text, options, rows) in [
            (
                "a.csv", "id,text,number,date\na,5\" screen,.5,2024-05-31\nb,\"x\ny\",-.5,2024-05-31 18:30\n\n", [],
                day("a", "\"5\\\" screen\"", "0.5", "2024-05-31T00:00:00Z")
                    + day("b", "\"x\\ny\"", "-0.5", "2024-05-31T18:30:00Z")
            ),
            (
                "b.csv", "\u{FEFF}id,number,date\ra,1,2024-05-31T18:30+02:00\rb,1e3,2024-05-31\r", [],
                day("a", "null", "1.0", "2024-05-31T16:30:00Z") + day("b", "null", "1000.0", "2024-05-31T00:00:00Z")
            ),
            (
                "c.csv", "\u{FEFF}Nr.;Betrag, netto;Datum;;\r\na;-1,5;31.05.2024;;\r\n",
                excel + ["--delimiter", ";", "--date-format", "dd.MM.yyyy", "--zone", "Europe/Berlin"],
                day("a", "null", "-1.5", "2024-05-30T22:00:00Z")
            ),
            (
                "e.csv", "id,text,number,date\na,,1,2024-05-31\nb,\"\",1,2024-05-31\n", ["--empty-text"],
                day("a", "\"\"", "1.0", "2024-05-31T00:00:00Z") + day("b", "\"\"", "1.0", "2024-05-31T00:00:00Z")
            ),
            (
                "d.csv", "ID,Number,Date\na,1,5/31/2024 12:05 AM\nb,2,12/1/2024 1:00 pm\n", ["--date-format", "M/d/yyyy h:mm a"],
                day("a", "null", "1.0", "2024-05-31T00:05:00Z") + day("b", "null", "2.0", "2024-12-01T13:00:00Z")
            ),
            (
                "e.tsv", "id\tnumber\tdate\na\t1\t1717180200\n", ["--date-format", "seconds1970"],
                day("a", "null", "1.0", "2024-05-31T18:30:00Z")
            ),
            (
                "f.csv", "id,number,date\na,1,20240531T183000.250+0200\n", ["--date-format", "yyyyMMdd'T'HHmmss.SSSX"],
                day("a", "null", "1.0", "2024-05-31T16:30:00.250Z")
            ),
            (
                "g.json",
                " [\n  {\"id\": \"a\", \"number\": 1, \"date\": \"2024-05-31\"},\n{\"id\": \"b]\\\"}\", \"number\": 2.0,"
                    + "\"text\": \"[{\", \"date\": \"2024-05-31T10:00:00Z\"}\n]\n", [],
                day("a", "null", "1.0", "2024-05-31T00:00:00Z") + day("b]\\\"}", "\"[{\"", "2.0", "2024-05-31T10:00:00Z")
            ),
            (
                "h.jsonl",
                "{\"id\":\"a\",\"number\":1,\"date\":\"2024-05-31\"}\r\r{\"id\":\"b\",\"number\":2,\"date\":\"2024-05-31\"}\r\n",
                [], day("a", "null", "1.0", "2024-05-31T00:00:00Z") + day("b", "null", "2.0", "2024-05-31T00:00:00Z")
            ),
            (
                "l.csv", "id,number,date\na,1,-9223372036854775808\n", ["--date-format", "milliseconds1970"],
                day("a", "null", "1.0", "\(Double(Int64.min) / 1e3 - 978_307_200) seconds since 2001")
            ),
            ("i.json", "[]", [], ""), ("j.csv", "id,number,date\r\n", [], ""), ("k.csv", "", [], ""),
        ] as [(String, String, [String], String)] {
            try Data(text.utf8).write(to: library.place.directory.appendingPathComponent(name))
            let run = try await library.dao(["import", library.url, "hard", name] + options)
            #expect(run.status == 0 && run.errors.isEmpty, "\(name): \(run.errors)")
            #expect(try await library.dao("export", library.url, "hard").output == rows, "\(name)")
            try library.using { _ = try DAO(storage: $0.storage(for: Hard.self)).erase() }
        }
        // Booleans and integers, as spreadsheets and Python write them.
        let flags = try Library("sqlite")
        try Data("id,flag\n1,TRUE\n2,False\n".utf8).write(to: flags.place.directory.appendingPathComponent("a.csv"))
        try Data("id,flag\n1.0,t\n2e0,0\n03,1\n".utf8).write(to: flags.place.directory.appendingPathComponent("b.csv"))
        for (name, rows) in [("a.csv", [true, false]), ("b.csv", [true, false, true])] {
            let run = try await flags.dao("import", flags.url, "flags", name, "--key", "id")
            #expect(run.output.hasPrefix("\(rows.count) rows stored") && run.errors.isEmpty, "\(run)")
            let stored = rows.enumerated().map { "{\"id\":\($0 + 1),\"flag\":\($1)}\n" }.joined()
            #expect(try await flags.dao("export", flags.url, "flags").output == stored)
        }
    }

    /// What cannot be read as a whole is refused with the file, the line, the column and what was expected, and nothing is stored.
    @Test func filesAreRefusedWithThePlace() async throws {
        let library = try Library("sqlite")
        try library.using { _ = try $0.storage(for: Hard.self) }
        let before = try await library.dao("export", library.url, "book").output
        for (entity, name, bytes, options, place) in [
            ("book", "a.csv", "id,title,published\n1,lost,2014\n", [], "line 2, column 3 ('published'): expected a date"),
            (
                "book", "b.csv", "id,title,published\n1,lost,\n\n2,\"lost\nlost\",20240531\n", [],
                "line 5, column 3 ('published'): expected a date"
            ),
            ("book", "c.csv", "id,published\n1,1717180200.25\n", [], "line 2, column 2 ('published'): expected a date"),
            ("book", "d.csv", "id,published\n1,2024-02-30\n", [], "line 2, column 2 ('published'): expected a date"),
            ("hard", "e.csv", "id,number,date\na,1e400,2024-05-31\n", [], "line 2, column 2 ('number'): expected a number"),
            ("hard", "f.csv", "id,number,small,date\na,1,1e39,2024-05-31\n", [], "line 2, column 3 ('small'): expected a number"),
            ("hard", "g.csv", "id,number,date\na,\"1,5\",2024-05-31\n", [], "line 2, column 2 ('number'): expected a number"),
            (
                "hard", "h.csv", "id,number,date\na,1.234,2024-05-31\n", ["--decimal-comma"],
                "line 2, column 2 ('number'): expected a number"
            ),
            (
                "hard", "i.jsonl", "{\"id\":\"a\",\"number\":1e400,\"date\":\"2024-05-31\"}", [],
                "line 1, 'number': expected a number"
            ),
            ("hard", "j.jsonl", "{\"id\":\"a\",\"number\":1,\"date\":1717180200.5}", [], "line 1, 'date': expected a date"),
            (
                "book", "k.csv", "id,title\n1.5,lost\n", [],
                "line 2, column 1 ('id'): expected an integer from -9223372036854775808 to"
            ),
            ("book", "l.csv", "id,title\n9223372036854775808,lost\n", [], "line 2, column 1 ('id'): expected an integer"),
            (
                "book", "m.csv", "id,title,title\n1,lost,lost\n", [],
                "line 1, column 3 ('title'): expected one column for the field 'title'"
            ),
            (
                "book", "n.csv", "id,title,Titel\n1,lost,x\n", ["--columns", "Titel=title"],
                "line 1, column 3 ('Titel'): expected one column"
            ),
            (
                "book", "o.csv", "id,title\n1,\"lost\"x\n", [],
                "line 2, column 2: there is text after the closing quote; expected ','"
            ),
            ("book", "p.csv", "id,title\n1,lost\n2,\"lost\n\n", [], "line 3, column 2: its quotes are not closed"),
            ("book", "q.csv", "id,title\n1,lost,2\n", [], "line 2, column 3: it has 3 cells; expected 2"),
            (
                "book", "r.csv", "id;title\n1;lost\n", [],
                "column 1 ('id;title'): 'book' has no field 'id;title', it has: id, title"
            ),
            ("book", "s.csv", "id,title,\n1,lost,x\n", [], "line 2, column 3: it has a value, and the column has no name"),
            (
                "book", "t.csv", "id,title\n1,lost\n", ["--columns", "name=title"],
                "--columns names 'name', and the file has: id, title"
            ),
            ("book", "u.csv", "id,chapters\n1,lost\n", [], "line 1, column 2 ('chapters'): 'chapters' is a list"),
            ("book", "v.csv", "id,cover\n1,?\n", [], "line 2, column 2 ('cover'): expected bytes in Base64"),
            ("book", "w.csv", "id,tags\n1,\"[1]\"\n", [], "line 2, column 2 ('tags'): expected the JSON of [string]"),
            ("book", "x.json", "[{\"id\": 1, \"title\": \"lost\"} {\"id\": 2}]", [], "line 1, column 29: expected"),
            ("book", "y.json", "[\n{\"id\": 1,\n \"title\": lost}]", [], "line 3, column 11: expected a value"),
            ("book", "z.json", "[{\"id\": 1, \"title\": \"lost\"}", [], "line 1, column 28: expected ',' or ']'"),
            ("book", "A.json", "[{\"id\": 1}] []", [], "line 1, column 13: expected the end of the file"),
            ("book", "B.jsonl", "{\"id\": 1}\n[2]\n", [], "line 2, column 1: expected a JSON object"),
            ("book", "C.jsonl", "{\n\"id\": 1\n}\n", [], "line 1, column 2: expected a key or '}'; each line is an object"),
            (
                "book", "D.jsonl", "{\"id\": 1, \"id\": 1}\n", [],
                "line 1, column 11: expected a key that the object does not have yet"
            ),
            ("hard", "E.csv", "id,number,date\n,1,2024-05-31\n", [], "line 2, column 1 ('id'): expected a key"),
            (
                "hard", "F.csv", "id,number,date\na,1,2024-05-31\na,2,2024-05-31\n", [],
                "line 3: expected a key that no other row has, and line 2"
            ),
            ("book", "G.csv", "id,title,price,tags\n7,lost,1,[]\n8,,1,[]\n", [], "line 3, column 2 ('title'): expected a value"),
            ("book", "H.csv", "id,writer\n1,77\n", [], "line 2: 'writer' of a row"),
            ("writer", "I.csv", "id,name\n5,x\n6,Ada\n", [], "line 3: "),
            (
                "hard", "J.csv", "id,number,date\n\(String(repeating: "a", count: 300)),1,2024-05-31\n", [],
                "line 2: expected a key of at most 256 bytes"
            ),
            (
                "hard", "K.csv", "id,number,date\na,1,-9223372036854775808\n", ["--date-format", "dd.MM.yyyy"],
                "line 2, column 3 ('date')"
            ),
        ] as [(String, String, String, [String], String)] {
            try Data(bytes.utf8).write(to: library.place.directory.appendingPathComponent(name))
            let run = try await library.dao(["import", library.url, entity, name] + options)
            #expect(run.status == 1 && run.output.isEmpty, "\(name): \(run)")
            #expect(run.errors.hasPrefix("dao: '\(name)'"), "\(name): \(run.errors)")
            #expect(run.errors.contains(place) && !run.errors.contains("lost"), "\(name): \(run.errors)")
        }
        for (name, bytes, part) in [
            ("latin.csv", [UInt8]("id,title\n1,caf".utf8) + [0xE9, 10], "line 2, column 2: it is not UTF-8"),
            ("wide.csv", [0xFF, 0xFE, 0x69, 0, 0x64, 0], "it is UTF-16"),
            ("book.xlsx", [UInt8]("PK\u{3}\u{4}...".utf8), "a workbook"),
        ] {
            try Data(bytes).write(to: library.place.directory.appendingPathComponent(name))
            let run = try await library.dao("import", library.url, "book", name, "--format", "csv")
            #expect(run.status == 1 && run.errors.hasPrefix("dao: '\(name)'") && run.errors.contains(part), "\(run.errors)")
        }
        for (options, part) in [
            (["--key", "a", "--number"], "say two keys"), (["--columns", "a"], "--columns needs names"),
            (["--columns", "a=b,a=c"], "names 'a' twice"), (["--delimiter", "ab"], "--delimiter needs one character"),
            (["--date-format", "yy-MM-dd"], "--date-format has no 'yy'"),
            (["--date-format", "yyyy-MM"], "needs a year, a month and a day"),
            (["--date-format", "yyyy-MM-dd hh:mm"], "'a' beside 'h'"), (["--zone", "Nowhere"], "--zone needs"),
        ] {
            let run = try await library.dao(["import", library.url, "book", "a.csv"] + options)
            #expect(run.status == 64 && run.errors.contains(part), "\(options): \(run.errors)")
        }
        #expect(try await library.dao("export", library.url, "book").output == before)
        #expect(try await library.dao("count", library.url, "hard").output == "0\n")
    }

    /// With the name of the key, a file becomes an entity, and a database, whose fields lose nothing of it.
    @Test(arguments: Library.schemes) func aFileBecomesAnEntity(_ scheme: String) async throws {
        let library = try Library(scheme)
        let url = Library.newURL(scheme, "new.db")
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: library.place.directory.appendingPathComponent(name))
        }
        try write(
            "orders.csv",
            "\u{FEFF}Order ID,CUSTOMER_NAME,Paid,Total,When,Zip,Note\r\n1,Ada,TRUE,12.50,2024-05-31,08123,\r\n2,,false,-.5,,10115,\r\n"
        )
        let run = try await library.dao("import", url, "order", "orders.csv", "--key", "Order ID")
        #expect(run.output.hasPrefix("2 rows stored in the new entity 'order'\n"), "\(run)")
        let inspected = try await library.dao("inspect", url, "order")
        for line in [
            "  orderId       int64, key", "  customerName  string?", "  paid          bool", "  total         decimal",
            "  when          date?", "  zip           string", "  note          string?",
        ] {
            #expect(inspected.output.contains(line + "\n"), "\(line) in \(inspected.output)")
            #expect(run.output.contains(line + "\n"), "\(line) in \(run.output)")
        }
        let rows = """
            {"orderId":1,"customerName":"Ada","paid":true,"total":"12.5","when":"2024-05-31T00:00:00Z","zip":"08123","note":null}
            {"orderId":2,"customerName":null,"paid":false,"total":"-0.5","when":null,"zip":"10115","note":null}

            """
        #expect(try await library.dao("export", url, "order").output == rows)
        // The same file again goes to the same fields.
        let again = try await library.dao("import", url, "order", "orders.csv", "--key", "Order ID")
        #expect(again.output == "2 rows stored\n", "\(again.errors)")
        #expect(try await library.dao("export", url, "order").output == rows)
        // Numbered rows come after those that are there.
        try write("log.jsonl", "{\"text\": \"a\", \"more\": [1, {\"b\": null}]}\n{\"text\": \"b\"}\n")
        for count in [2, 4] {
            let run = try await library.dao("import", url, "log", "log.jsonl", "--number")
            #expect(run.output.hasPrefix("2 rows stored") && run.errors.isEmpty, "\(run)")
            #expect(try await library.dao("count", url, "log").output == "\(count)\n")
        }
        #expect(
            try await library.dao("export", url, "log", "id == 3").output
                == "{\"id\":3,\"more\":[1,{\"b\":null}],\"text\":\"a\"}\n")
        // What is refused leaves no entity behind.
        try write("twice.csv", "k,v\n1,a\n1,b\n")
        try write("same.csv", "k,v,v\n1,a,b\n")
        try write("alike.csv", "k,a_b,aB\n1,a,b\n")
        try write("semicolons.csv", "k;v\n1;2,5\n")
        try write("mixed.json", "[{\"k\": 1, \"v\": 1}, {\"k\": 2, \"v\": \"x\"}]")
        for (name, part) in [
            ("twice.csv", "line 3: expected a key that no other row has"),
            ("same.csv", "line 1, column 3 ('v'): expected a name that no other column has"), ("alike.csv", "aB"),
            ("semicolons.csv", "line 2, column 2: it has 2 cells; expected 1, as in the first line; another delimiter"),
            ("mixed.json", "'mixed.json', line 1, 'v': expected a number"),
        ] {
            let run = try await library.dao("import", url, "bad", name, "--key", "k")
            #expect(run.status == 1 && run.errors.contains(part), "\(run.errors)")
            let other = Library.newURL(scheme, "other.db")
            #expect(try await library.dao("import", other, "bad", name, "--key", "none").status == 1)
            #expect(try library.files["other.db"] == nil)
        }
        #expect(!(try await library.dao("inspect", url).output.contains("bad")))
        // The file of another program stays as it is.
        try library.sqlite("foreign.db", "CREATE TABLE t(id INTEGER PRIMARY KEY); INSERT INTO t VALUES(1)")
        let before = try library.files["foreign.db"]
        let foreign = try await library.dao("import", "sqlite:foreign.db", "order", "orders.csv", "--key", "Order ID")
        #expect(foreign.status == 1 && foreign.errors.contains("adopt"), "\(foreign)")
        #expect(try library.files["foreign.db"] == before)
        #expect(try await library.dao("verify", url).status == 0)
    }

    /// What a new entity has become is said, and what was unclear; `drop` takes it away.
    @Test(arguments: Library.schemes) func aNewEntityIsShownAndCanBeDropped(_ scheme: String) async throws {
        let library = try Library(scheme)
        let url = Library.newURL(scheme, "new.db")
        func write(_ name: String, _ text: String) throws {
            try Data(text.utf8).write(to: library.place.directory.appendingPathComponent(name))
        }
        let days = (1...32).map { "\($0),\"1,\(100 + $0).50\",2024-05-\($0 < 10 ? "0" : "")\($0),\(10_000 + $0),\"1,5\",,\r\n" }
            .joined()
        try write("t.csv", "sep=,\r\nid,price,when,zip,ratio,,\r\n" + days)
        let first = try await library.dao("import", url, "t", "t.csv", "--key", "id", "--types", "zip=string")
        #expect(
            first.output == """
                32 rows stored in the new entity 't'
                  id     int64, key
                  price  string
                  when   string
                  zip    string
                  ratio  string
                'price' is text; its values are numbers with --thousands ','
                'when' is text, since '2024-05-32' in line 34 is not a date, as the 31 values before it are
                'ratio' is text; its values are numbers with --decimal-comma

                """, "\(first)")
        let counted = try await library.dao("drop", url, "t")
        #expect(counted.output == "'t' with 32 rows would be dropped; add --write to drop it\n", "\(counted)")
        #expect(try await library.dao("drop", url, "t", "--write").output == "'t' with 32 rows dropped\n")
        #expect(try await library.dao("count", url, "t").status == 1)
        let json = try await library.dao(
            "import", url, "t", "t.csv", "--key", "id", "--thousands", ",", "--columns", "ratio=,when=", "--json")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.output.utf8)) as? [String: Any], "\(json)")
        #expect(object["rows"] as? Int == 32 && (object["notes"] as? [String])?.isEmpty == true)
        #expect(
            try await library.dao("query", url, "t", "price == 1101.5 AND zip == 10001", "--json").output.contains("\"id\": 1"))
        let again = try await library.dao("import", url, "t", "t.csv", "--key", "id", "--types", "zip=string")
        #expect(again.status == 64 && again.errors.contains("--types is for an entity that is made"), "\(again)")
        // What another entity leads to stays.
        let kept = try await library.dao("drop", library.url, "writer", "--write")
        #expect(kept.status == 1 && kept.errors.contains("'writer' of 'book' leads to 'writer'"), "\(kept)")
        #expect(try await library.dao("verify", url).status == 0)
        try write("empty.csv", "")
        try write("value.csv", "id,a,\n1,2,3\n")
        try write("pipes.csv", "id|a\n1|2\n")
        try write("grouped.csv", "id,n\n1,\"12,34\"\n")
        for (name, options, part) in [
            ("empty.csv", ["--key", "id"], "it is empty"), ("value.csv", ["--key", "id"], "line 2, column 3: it has a value"),
            ("pipes.csv", ["--key", "id"], "the file has: id|a; another delimiter is said with --delimiter '|'"),
            (
                "grouped.csv", ["--key", "id", "--types", "n=int64", "--thousands", ","],
                "line 2, column 2 ('n'): expected an integer"
            ),
            ("value.csv", ["--key", "id", "--types", "a=text"], "--types has no type 'text'; use one of these: bool, int8"),
            ("value.csv", ["--key", "id", "--thousands", "."], "--thousands needs the character"),
        ] {
            let run = try await library.dao(["import", url, "bad", name] + options)
            #expect(run.status != 0 && run.errors.contains(part), "\(name): \(run)")
        }
        #expect(!(try await library.dao("inspect", url).output.contains("bad")))
    }

    /// A record that never ends is refused before it fills the memory.
    @Test func whatNeverEndsIsRefused() throws {
        let text = Array("a,\"b\n".utf8) + Array(repeating: UInt8(ascii: "x"), count: 2000)
        var csv = CSVReader(try ByteReader(text, file: "f"), limit: 1000)
        #expect(throws: ImportError.self) { while try csv.record() != nil {} }
        var json = JSONReader(try ByteReader(Array("[{\"a\": \"".utf8) + text, file: "f"), limit: 1000)
        #expect(throws: ImportError.self) { while try json.object() != nil {} }
    }
}
