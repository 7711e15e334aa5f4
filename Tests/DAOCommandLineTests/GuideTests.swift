import Foundation
import Testing

/// The sessions of Docs/CommandLine.md, run in order in one directory.
@Suite(.timeLimit(.minutes(30))) struct GuideTests {
    @Test func sessionsAreAsDocumented() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(contentsOf: root.appendingPathComponent("Docs/CommandLine.md"), encoding: .utf8)
        let sessions = text.components(separatedBy: "```console\n").dropFirst().compactMap {
            $0.components(separatedBy: "```").first
        }
        #expect(sessions.count >= 5)
        let library = try Library("sqlite")
        try library.sqlite(
            "music.sqlite",
            """
            CREATE TABLE Artist(ArtistId INTEGER PRIMARY KEY, Name TEXT);
            CREATE TABLE Album(AlbumId INTEGER PRIMARY KEY, Title TEXT NOT NULL, Price DECIMAL NOT NULL, Released DATE,
                ArtistId INTEGER NOT NULL REFERENCES Artist);
            CREATE INDEX title ON Album(Title); CREATE TABLE Tag(Tag TEXT PRIMARY KEY);
            CREATE TABLE AlbumTag(Album INTEGER REFERENCES Album, Tag TEXT REFERENCES Tag, PRIMARY KEY(Album, Tag));
            CREATE VIEW cheap AS SELECT * FROM Album WHERE Price < 10;
            INSERT INTO Artist VALUES(1, 'AC/DC'), (3, 'Jobim'); INSERT INTO Tag VALUES('bossa');
            INSERT INTO Album VALUES(1, 'Powerage', 12, NULL, 1), (2, 'Wave', 9.5, '1967-06-01', 3); INSERT INTO AlbumTag VALUES(2, 'bossa')
            """)
        let orders =
            "Order ID,Customer,Paid,Total,Day,ZIP\r\n1,Ada,TRUE,12.50,2024-05-31,08123\r\n2,,FALSE,.5,2024-06-01,10115\r\n"
        try Data(("\u{FEFF}" + orders).utf8).write(to: library.place.directory.appendingPathComponent("orders.csv"))
        try Data("Order ID,Paid,Total,Day\n3,TRUE,8,2024-06-02\n4,TRUE,8,2024\n".utf8).write(
            to: library.place.directory.appendingPathComponent("later.csv"))
        for call in sessions.flatMap({ ("\n" + $0).components(separatedBy: "\n$ dao ").dropFirst() }) {
            let lines = call.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let run = try await library.dao(Self.words(of: lines[0]))
            let written = run.output + run.errors
            let expected = lines.dropFirst().joined().trimmingCharacters(in: .newlines)
            // The sizes of files depend on the version of the engine.
            func plain(_ text: String) -> String {
                text.replacing(/[0-9.]+ (bytes|KB|MB)/, with: "SIZE").replacing(/SQLite [0-9.]+/, with: "SQLite")
            }
            #expect(plain(written.trimmingCharacters(in: .newlines)) == plain(expected), "dao \(lines[0])")
        }
    }

    /// The words of a line, of which some are in quotes.
    private static func words(of line: String) -> [String] {
        line.matches(of: /"([^"]*)"|'([^']*)'|(\S+)/).map { String($0.output.1 ?? $0.output.2 ?? $0.output.3 ?? "") }
    }
}
