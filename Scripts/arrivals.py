#!/usr/bin/env python3
"""Moves SQLite files as other programs make them, and compares every value with what Python's sqlite3 reads.

    Scripts/arrivals.py [--build .build/debug] [--compile] [--only NAME]

For each schema it runs inspect, verify, query, copy and move of `dao`, to SQLite, LMDB and, where DAO_POSTGRES_URL says so, to
PostgreSQL, and compares the bytes of the file, its log and its journal before and after each. --compile also writes models of each
schema and compiles them. The expected values are computed here, from the rows of the file and the mapping.
"""
import argparse, concurrent.futures, datetime, decimal, hashlib, json, os, pathlib, shutil, sqlite3, subprocess, sys, tempfile, uuid, zoneinfo, base64, struct

ROOT = pathlib.Path(__file__).resolve().parent.parent
SCHEMAS = {}


def schema(**facts):
    """Registers a function that makes a file. `types` are fields with the types that they must get, `left` the tables that stay behind,
    `out` the number of rows that cannot come, `zone` the zone of dates without one."""

    def register(make):
        SCHEMAS[make.__name__] = (make, facts)
        return make

    return register


# The schemas: at least one for each clause and kind of Docs/AdoptedTables.md and Docs/ComingFrom.md.


@schema(types={"artist.artistId": "int64 key", "album.artist": "toOne artist", "playlist.tracks": "toMany track", "track.unitPrice": "decimal",
               "invoice.invoiceDate": "date localText", "track.genre": "toOne? genre"}, left={"top"}, zone="UTC")
def music_shop(db):
    db.executescript("""
        CREATE TABLE Artist(ArtistId INTEGER PRIMARY KEY, Name NVARCHAR(120));
        CREATE TABLE Album(AlbumId INTEGER PRIMARY KEY AUTOINCREMENT, Title NVARCHAR(160) NOT NULL, ArtistId INTEGER NOT NULL REFERENCES Artist(ArtistId));
        CREATE TABLE Genre(GenreId INTEGER PRIMARY KEY, Name TEXT UNIQUE);
        CREATE TABLE Track(TrackId INTEGER PRIMARY KEY, Name TEXT NOT NULL, AlbumId INTEGER REFERENCES Album ON DELETE CASCADE,
            GenreId INTEGER REFERENCES Genre ON DELETE SET NULL, Milliseconds INTEGER NOT NULL, UnitPrice NUMERIC(10,2) NOT NULL);
        CREATE INDEX track_name ON Track(Name); CREATE INDEX track_long ON Track(GenreId, Milliseconds);
        CREATE TABLE Playlist(PlaylistId INTEGER PRIMARY KEY, Name TEXT);
        CREATE TABLE PlaylistTrack(PlaylistId INTEGER NOT NULL, TrackId INTEGER NOT NULL, PRIMARY KEY(PlaylistId, TrackId),
            FOREIGN KEY(PlaylistId) REFERENCES Playlist(PlaylistId), FOREIGN KEY(TrackId) REFERENCES Track(TrackId));
        CREATE TABLE Invoice(InvoiceId INTEGER PRIMARY KEY, InvoiceDate DATETIME NOT NULL, Total NUMERIC(10,2));
        CREATE VIEW top AS SELECT Name FROM Track ORDER BY Milliseconds DESC LIMIT 10;
        INSERT INTO Artist VALUES(1, 'AC/DC'), (2, NULL), (3, 'Antônio Carlos Jobim');
        INSERT INTO Album VALUES(1, 'Rock', 1), (4, 'Bossa', 3);
        INSERT INTO Genre VALUES(1, 'Rock'), (2, NULL), (3, NULL);
        INSERT INTO Track VALUES(1, 'A', 1, 1, 343719, 0.99), (2, 'B', 4, NULL, 1, 1), (3, 'C', NULL, 2, 5, 1.99);
        INSERT INTO Playlist VALUES(1, 'All'), (2, 'None'); INSERT INTO PlaylistTrack VALUES(1, 3), (1, 1), (1, 2);
        INSERT INTO Invoice VALUES(1, '2009-01-01 00:00:00', 1.98), (2, '2009-06-15 12:30:00.25', 0.1);
        """)


@schema(types={"t.a": "date localText", "t.b": "date text", "t.c": "date seconds1970", "t.d": "date seconds2001", "t.e": "date julianDays",
               "t.f": "date milliseconds1970", "t.g": "date microseconds1601", "t.h": "date microseconds1970", "t.i": "string", "t.j": "date localText"},
        zone="Europe/Berlin")
def dates(db):
    db.execute("CREATE TABLE t(id INTEGER PRIMARY KEY, a TIMESTAMP NOT NULL, b DATETIME NOT NULL, c DATETIME NOT NULL, d TIMESTAMP NOT NULL, e DATE NOT NULL, "
               "f DATETIME NOT NULL, g DATETIME NOT NULL, h DATETIME NOT NULL, i DATETIME NOT NULL, j DATE NOT NULL)")
    for n in range(40):
        at = datetime.datetime(2015, 1, 1) + datetime.timedelta(days=97 * n, hours=n)
        s = (at - datetime.datetime(1970, 1, 1)).total_seconds()
        db.execute("INSERT INTO t VALUES(?,?,?,?,?,?,?,?,?,?,?)", (
            n, at.isoformat(" "), at.isoformat() + ("Z" if n % 2 else "+05:30"), int(s), s - 978307200 + 0.25 if s < 1.7e9 else 5e8 + n + 0.5,
            s / 86400 + 2440587.5, int(s * 1000) + n, int(s * 1e6) + 11644473600000000, int(s * 1e6), "about %d" % n, at.date().isoformat()))


@schema(types={"t.flag": "bool", "t.word": "bool", "t.odd": "int64", "t.price": "decimal", "t.amount": "decimal", "t.whole": "int64", "t.mixed": "string",
               "t.real": "double", "t.anything": "data", "t.id1": "string", "t.refUuid": "uuid", "t.text": "string?"})
def types(db):
    db.execute("""CREATE TABLE t(id INT PRIMARY KEY NOT NULL, flag BOOLEAN NOT NULL, word BOOL NOT NULL, odd BOOLEAN NOT NULL, price DECIMAL(10,2) NOT NULL,
        amount NUMERIC NOT NULL, whole NUMERIC(9) NOT NULL, mixed NOT NULL, real FLOAT NOT NULL, anything NOT NULL, id1 CHAR(32) NOT NULL,
        ref_uuid BLOB NOT NULL, text VARCHAR)""")
    for n in range(30):
        u = uuid.uuid5(uuid.NAMESPACE_URL, str(n))
        db.execute("INSERT INTO t VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)", (
            n * 7 - 50, n % 2, "true" if n % 3 else "false", n, n / 8 if n % 2 else n, n + 0.1, n * 1000, n if n % 2 else "zwölf", n / 3 if n else 0,
            [b"\x00\xff", "text", n][n % 3], u.hex, u.bytes, None if n % 5 == 0 else ["", "a\nb", "\u0000x", "😀 é e\u0301"][n % 4]))


@schema(types={"pair.id": "string key", "pair.a": "int64", "nothing.id": "int64 key", "texts.name": "string key", "long.id": "int64 key",
               "floating.id": "string key", "inner.outer": "toOne outer", "outer.id": "string key", "nulls.id": "int64 key"})
def keys(db):
    db.executescript("""
        CREATE TABLE pair(a INTEGER, b TEXT, v, PRIMARY KEY(a, b)) WITHOUT ROWID;
        CREATE TABLE "nothing"(a TEXT, b REAL);
        CREATE TABLE texts(name TEXT PRIMARY KEY COLLATE NOCASE, v INTEGER);
        CREATE TABLE long(name TEXT PRIMARY KEY, v INTEGER);
        CREATE TABLE floating(x REAL PRIMARY KEY, v TEXT);
        CREATE TABLE nulls(name TEXT PRIMARY KEY, v INTEGER);
        CREATE TABLE "outer"(x INTEGER NOT NULL, y INTEGER NOT NULL, PRIMARY KEY(x, y));
        CREATE TABLE "inner"(id INTEGER PRIMARY KEY, x INTEGER NOT NULL, y INTEGER NOT NULL, FOREIGN KEY(x, y) REFERENCES "outer"(x, y));
        INSERT INTO "nothing" VALUES('a', 1.5), ('a', 1.5), (NULL, NULL);
        INSERT INTO floating VALUES(0.5, 'a'), (1e300, 'b'), (-3, 'c');
        INSERT INTO nulls VALUES(NULL, 1), (NULL, 2), ('x', 3);
        INSERT INTO "outer" VALUES(1, 2), (1, 1), (10, 3); INSERT INTO "inner" VALUES(1, 10, 3), (2, 1, 1);
        """)
    for n in range(300):
        db.execute("INSERT INTO pair VALUES(?,?,?)", (n % 17, "%d/%%%c" % (n, 97 + n % 26), n))
        db.execute("INSERT INTO texts VALUES(?,?)", (chr(65 + n % 26) * (n // 26 + 1) + ("é" if n % 2 else "z"), n))
    db.execute("INSERT INTO long VALUES(?, 1)", ("x" * 1000,))


@schema(types={"order.orderDate": "string?", "order.from": "string?", "order.f1stName": "string?", "order.uniqueIdValue": "int64?", "string.id": "int64 key",
               "order.type": "string?", "order.self": "string?", "order.init": "string?", "größe.straßeNr": "int64?"})
def names(db):
    db.executescript('''
        CREATE TABLE "ORDER"("ORDER ID" INTEGER PRIMARY KEY, "ORDER_DATE" TEXT, "from" TEXT, "1st name" TEXT, "uniqueId" INT, "Type" TEXT, "self" TEXT,
            "init" TEXT, "ünïcode-näme" TEXT, "a" TEXT, "A_" TEXT, "say ""hi""" TEXT, "Protocol" TEXT, "hash" TEXT, "description" TEXT, "schema" TEXT, "🙂" TEXT);
        INSERT INTO "ORDER"("ORDER ID", "ORDER_DATE", "a", "A_", "say ""hi""", "🙂") VALUES(1, 'x', 'y', 'z', 'w', 'v');
        CREATE TABLE "string"(v TEXT); INSERT INTO "string" VALUES('s');
        CREATE TABLE "Größe"(id INTEGER PRIMARY KEY, "Straße-Nr" INT); INSERT INTO "Größe" VALUES(1, 2);
        CREATE TABLE "2001 Sales"(id INTEGER PRIMARY KEY); CREATE TABLE "select"(id INTEGER PRIMARY KEY, "where" INT UNIQUE);
        INSERT INTO "select" VALUES(1, 5), (2, NULL), (3, NULL);
        ''')


@schema(types={"strict.id": "int64 key", "generated.total": "int64?"})
def clauses(db):
    db.executescript("""
        CREATE TABLE strict(id INTEGER PRIMARY KEY, a INT, b REAL, c TEXT, d BLOB, e ANY) STRICT;
        INSERT INTO strict VALUES(1, 2, 3.5, 'x', x'00ff', 'any'), (2, NULL, NULL, NULL, NULL, NULL);
        CREATE TABLE generated(id INTEGER PRIMARY KEY, a INT, total INT GENERATED ALWAYS AS (a * 2) STORED, v TEXT AS ('n' || a) VIRTUAL);
        INSERT INTO generated(id, a) VALUES(1, 5), (2, 7);
        CREATE TABLE conflict(id INTEGER PRIMARY KEY ON CONFLICT REPLACE, a TEXT UNIQUE ON CONFLICT IGNORE, b TEXT NOT NULL ON CONFLICT FAIL DEFAULT 'd',
            c INT CHECK (c > 0), CONSTRAINT named UNIQUE(a, b) ON CONFLICT ROLLBACK);
        INSERT INTO conflict VALUES(1, 'a', 'b', 1), (2, 'A', 'b', 2);
        CREATE TABLE collated(id INTEGER PRIMARY KEY, a TEXT COLLATE NOCASE UNIQUE, b TEXT COLLATE RTRIM); INSERT INTO collated VALUES(1, 'X', 'y  '), (2, 'Z', 'y');
        CREATE TABLE made AS SELECT 1 AS x, 'two' AS y;
        CREATE TABLE cascades(id INTEGER PRIMARY KEY, parent INTEGER REFERENCES cascades ON DELETE CASCADE ON UPDATE SET NULL DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO cascades VALUES(1, NULL), (2, 1), (3, 3);
        CREATE INDEX expression ON conflict(lower(a)); CREATE INDEX partial ON conflict(c) WHERE c > 1; CREATE UNIQUE INDEX descending ON conflict(c DESC, a);
        CREATE TRIGGER touched AFTER UPDATE ON conflict BEGIN UPDATE conflict SET b = 'now' WHERE id = NEW.id; END;
        CREATE TRIGGER quiet BEFORE INSERT ON conflict BEGIN SELECT RAISE(IGNORE); END;
        """)


@schema(types={"child.ownerId": "int64?", "child.sibling": "toOne? child"}, out=0)
def dangling(db):
    db.executescript("""
        CREATE TABLE parent(id INTEGER PRIMARY KEY); INSERT INTO parent VALUES(1);
        CREATE TABLE child(id INTEGER PRIMARY KEY, owner_id INTEGER REFERENCES parent, sibling_id INTEGER REFERENCES child);
        INSERT INTO child VALUES(1, 1, NULL), (2, 99, 1), (3, NULL, 2);
        """)


@schema(left={"docs_content", "docs_data", "docs_idx", "docs_docsize", "docs_config", "box_node", "box_parent", "box_rowid", "mirror", "mirror_data",
              "mirror_idx", "mirror_docsize", "mirror_config", "titles", "broken", "endless"}, types={"docs.id": "int64 key", "docs.title": "string?"})
def views_and_virtual_tables(db):
    db.executescript("""
        CREATE VIRTUAL TABLE docs USING fts5(title, body); INSERT INTO docs VALUES('One', 'first text'), ('Two', 'second');
        CREATE VIRTUAL TABLE box USING rtree(id, minX, maxX); INSERT INTO box VALUES(1, 0, 10), (2, 5, 6);
        CREATE TABLE note(id INTEGER PRIMARY KEY, body TEXT); INSERT INTO note VALUES(1, 'hello');
        CREATE VIRTUAL TABLE mirror USING fts5(body, content='note', content_rowid='id'); INSERT INTO mirror(mirror) VALUES('rebuild');
        CREATE VIEW titles AS SELECT title FROM docs; CREATE VIEW broken AS SELECT gone FROM missing;
        CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n;
        """)


APPLE = 978307200


@schema(types={"note.id": "int64 key", "note.created": "date? seconds2001", "note.price": "decimal?", "note.folder": "toOne? folder", "note.tags": "toMany tag",
               "note.uuid": "uuid?", "animal.kind": "string", "folder.parent": "int64?", "list.items": "toMany item", "tag.relateds": "toMany tag",
               "tag.pinboards": "toMany folder", "note.photo": "data? externalData"},
        left={"Z_PRIMARYKEY", "Z_METADATA", "Z_MODELCACHE", "ANSCKEVENT"},
        mapping=[('"ZPARENT","field":"parent","indexed":true,"note":"it may refer to a row of animal, folder, item, note or tag","type":"int64?"',
                  '"ZPARENT","field":"parent","target":"folder","type":"toOne?"')])
def core_data(db):
    db.executescript("""
        CREATE TABLE Z_PRIMARYKEY(Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
        CREATE TABLE Z_METADATA(Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
        CREATE TABLE Z_MODELCACHE(Z_CONTENT BLOB);
        INSERT INTO Z_PRIMARYKEY VALUES(1,'Animal',0,3),(2,'Cat',1,0),(3,'Dog',1,0),(4,'Folder',0,2),(5,'Item',0,3),(6,'List',0,1),(7,'Note',0,3),(8,'Tag',0,2);
        CREATE TABLE ZANIMAL(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR, ZBARKS INTEGER);
        INSERT INTO ZANIMAL VALUES(1,2,1,'Tom',NULL),(2,3,4,'Rex',1),(3,1,1,'It',NULL);
        CREATE TABLE ZFOLDER(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPARENT INTEGER, ZNAME VARCHAR);
        CREATE INDEX ZFOLDER_ZPARENT_INDEX ON ZFOLDER(ZPARENT);
        INSERT INTO ZFOLDER VALUES(1,4,1,NULL,'Root'),(9,4,1,1,'Work');
        CREATE TABLE ZLIST(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR); INSERT INTO ZLIST VALUES(77,6,1,'Todo');
        CREATE TABLE ZITEM(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZLIST INTEGER, Z_FOK_LIST INTEGER, ZTEXT VARCHAR);
        CREATE INDEX ZITEM_ZLIST_INDEX ON ZITEM(ZLIST);
        INSERT INTO ZITEM VALUES(1,5,1,77,3072,'c'),(2,5,1,77,1024,'a'),(3,5,1,77,2048,'b');
        CREATE TABLE ZNOTE(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZPINNED INTEGER, ZFOLDER INTEGER, ZCREATED TIMESTAMP, ZPRICE DECIMAL, ZTITLE VARCHAR,
            ZUUID BLOB, ZPHOTO BLOB);
        CREATE INDEX ZNOTE_ZFOLDER_INDEX ON ZNOTE(ZFOLDER);
        CREATE TABLE ZTAG(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZNAME VARCHAR); INSERT INTO ZTAG VALUES(1,8,1,'red'),(2,8,1,'blue');
        CREATE TABLE Z_7TAGS(Z_7NOTES INTEGER, Z_8TAGS INTEGER, Z_FOK_8TAGS INTEGER, PRIMARY KEY(Z_7NOTES, Z_8TAGS));
        CREATE INDEX Z_7TAGS_Z_8TAGS_INDEX ON Z_7TAGS(Z_8TAGS, Z_7NOTES);
        INSERT INTO Z_7TAGS VALUES(1,1,2048),(1,2,1024),(2,2,1024);
        CREATE TABLE Z_8RELATEDS(Z_8RELATEDS INTEGER, REFLEXIVE INTEGER, PRIMARY KEY(Z_8RELATEDS, REFLEXIVE)); INSERT INTO Z_8RELATEDS VALUES(1,2),(2,1),(2,2);
        CREATE TABLE Z_4BADGES(Z_4PINBOARDS INTEGER, Z_8BADGES INTEGER, Z_FOK_4PINBOARDS INTEGER, PRIMARY KEY(Z_4PINBOARDS, Z_8BADGES));
        INSERT INTO Z_4BADGES VALUES(1,1,2048),(9,1,1024);
        CREATE TABLE ANSCKEVENT(Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER);
        """)
    for n in (1, 2, 3):
        u = uuid.uuid5(uuid.NAMESPACE_URL, str(n))
        photo = [b"\x01inline", b"\x02PHOTO-1\x00", None][n - 1]
        db.execute("INSERT INTO ZNOTE VALUES(?,7,1,?,?,?,?,?,?,?)", (n, n % 2, [1, 9, None][n - 1], 7e8 + n + 0.125, n + 0.25, "Note %d" % n, u.bytes, photo))
    folder = pathlib.Path(db.path).parent / (".%s_SUPPORT" % pathlib.Path(db.path).stem) / "_EXTERNAL_DATA"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "PHOTO-1").write_bytes(b"the photo")


@schema(types={"player.createdAt": "date localText", "player.uuid": "uuid key", "player.team": "toOne? team"}, left={"grdb_migrations"})
def grdb(db):
    db.executescript("""
        CREATE TABLE grdb_migrations(identifier TEXT NOT NULL PRIMARY KEY); INSERT INTO grdb_migrations VALUES('v1');
        CREATE TABLE team(id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT NOT NULL); INSERT INTO team VALUES(1, 'Red');
        CREATE TABLE player(uuid BLOB NOT NULL PRIMARY KEY, name TEXT NOT NULL, createdAt DATETIME NOT NULL, teamId INTEGER REFERENCES team(id) ON DELETE SET NULL, isCaptain BOOLEAN NOT NULL DEFAULT 0);
        """)
    for n in range(5):
        db.execute("INSERT INTO player VALUES(?,?,?,?,?)", (uuid.uuid5(uuid.NAMESPACE_URL, str(n)).bytes, "P%d" % n, "2024-05-3%d 08:00:00.12%d" % (n % 2, n), 1 if n % 2 else None, n % 2))


@schema(types={"appEntry.created": "date localText", "appEntry.key": "uuid", "appEntry.authUsers": "toMany authUser"}, left={"django_migrations"})
def django(db):
    db.executescript("""
        CREATE TABLE "django_migrations"("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "app" varchar(255) NOT NULL, "applied" datetime NOT NULL);
        CREATE TABLE "auth_user"("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "is_staff" bool NOT NULL, "username" varchar(150) NOT NULL UNIQUE);
        CREATE TABLE "app_entry"("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "created" datetime NOT NULL, "key" char(32) NOT NULL, "price" decimal NOT NULL);
        CREATE TABLE "app_entry_readers"("id" integer NOT NULL PRIMARY KEY AUTOINCREMENT, "entry_id" bigint NOT NULL REFERENCES "app_entry"("id") DEFERRABLE INITIALLY DEFERRED,
            "user_id" integer NOT NULL REFERENCES "auth_user"("id") DEFERRABLE INITIALLY DEFERRED);
        INSERT INTO auth_user VALUES(1, 1, 'ada'), (2, 0, 'bob');
        INSERT INTO app_entry VALUES(1, '2024-02-03 04:05:06.789012', 'c0ffee00c0ffee00c0ffee00c0ffee00', 12.5), (2, '2024-02-03 04:05:06', 'c0ffee00c0ffee00c0ffee00c0ffee01', 3);
        INSERT INTO app_entry_readers VALUES(1, 1, 2), (2, 1, 1);
        """)


@schema(types={"word.createdAt": "int64"}, left={"android_metadata", "room_master_table"})
def room(db):
    db.executescript("""
        CREATE TABLE android_metadata(locale TEXT); INSERT INTO android_metadata VALUES('en_US');
        CREATE TABLE room_master_table(id INTEGER PRIMARY KEY, identity_hash TEXT); INSERT INTO room_master_table VALUES(42, 'abc');
        CREATE TABLE word(id INTEGER PRIMARY KEY AUTOINCREMENT NOT NULL, text TEXT NOT NULL, createdAt INTEGER NOT NULL, learned INTEGER NOT NULL DEFAULT 0);
        INSERT INTO word VALUES(1, 'eins', 1700000000000, 0), (2, 'zwei', 1700000000001, 1);
        """)


@schema(out=2, types={"t.v": "string?"}, mapping=[('"type":"string?"', '"type":"int64?"')])
def rows_that_cannot_come(db):
    db.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES(1, '5'), (2, 'six'), (3, NULL), (4, '7 '), (5, '-8');")


@schema(types={"t.k": "string key", "u.t": "toOne t"}, mapping=[('"key":true,"type":"string"', '"key":true,"type":"int64"')])
def numbers_in_texts(db):
    db.executescript("""
        CREATE TABLE t(k TEXT PRIMARY KEY NOT NULL, v TEXT); INSERT INTO t VALUES('9', 'a'), ('10', 'b'), ('-1', 'c'), ('100', 'd');
        CREATE TABLE u(id INTEGER PRIMARY KEY, t TEXT NOT NULL REFERENCES t); INSERT INTO u VALUES(1, '10'), (2, '9');
        """)


@schema(out=0)
def log_beside_the_file(db):
    db.execute("PRAGMA journal_mode = WAL")
    db.executescript("CREATE TABLE t(id INTEGER PRIMARY KEY, v TEXT); INSERT INTO t VALUES(1, 'in the log')")


@schema()
def many_rows(db):
    db.execute("CREATE TABLE big(k TEXT PRIMARY KEY, v REAL, w INT)")
    db.executemany("INSERT INTO big VALUES(?,?,?)", ((hashlib.md5(str(n).encode()).hexdigest()[:20], n / 7, n) for n in range(12_000)))  # more than a batch of a move


# What a value becomes, computed from the mapping alone.

GREGORIAN = datetime.datetime(2001, 1, 1)


def seconds(value, form, zone):
    """The seconds since 2001 of a stored date, exactly."""
    exact = decimal.Decimal(value) if not isinstance(value, str) else None
    if form == "seconds1970": return exact - APPLE
    if form == "seconds2001": return exact
    if form == "milliseconds1970": return exact / 1000 - APPLE
    if form == "microseconds1970": return exact / 1000000 - APPLE
    if form == "microseconds1601": return exact / 1000000 - 11644473600 - APPLE
    if form == "julianDays": return round((exact - decimal.Decimal("2451910.5")) * 86400000) / decimal.Decimal(1000)
    at = datetime.datetime.fromisoformat(value)
    if at.tzinfo is None: at = at.replace(tzinfo=zoneinfo.ZoneInfo(zone or "UTC"))
    gone = at.astimezone(datetime.timezone.utc).replace(tzinfo=None) - GREGORIAN
    return decimal.Decimal(gone.days * 86400 + gone.seconds) + decimal.Decimal(gone.microseconds) / 1000000


def expected(value, field, kind, zone, folder):
    """A value in a form that does not depend on how it is written."""
    if value is None: return None
    if field.get("names"): return field["names"][str(value)]
    if kind == "bool": return value in (1, "true", "t", "yes", "1")
    if kind == "int64": return int(value)
    if kind == "double": return float(value)
    if kind == "decimal": return decimal.Decimal(repr(value) if isinstance(value, float) else str(value)).normalize()
    if kind == "string": return value if isinstance(value, str) else str(value)
    if kind == "uuid": return uuid.UUID(bytes=value) if isinstance(value, bytes) else uuid.UUID(value)
    if kind == "date": return float(seconds(value, field.get("form"), zone))
    if kind == "data":
        data = value if isinstance(value, bytes) else str(value).encode()
        if field.get("form") == "externalData": data = data[1:] if data[0] == 1 else (folder / data[1:-1].decode()).read_bytes()
        return data
    raise SystemExit("no kind " + kind)


def exported(value, kind):
    if value is None: return None
    if kind == "decimal": return decimal.Decimal(value).normalize()
    if kind == "uuid": return uuid.UUID(value)
    if kind == "data": return base64.b64decode(value)
    if kind == "date" and value.endswith(" seconds since 2001"): return float(value.split()[0])
    if kind == "date":
        # Python's dates end with microseconds.
        whole, _, fraction = value.rstrip("Z").partition(".")
        return float(seconds(whole + "Z", "text", "UTC")) + float("0." + (fraction or "0"))
    if kind == "double": return float(value)
    return value


def quoted(name): return '"' + name.replace('"', '""') + '"'


MEMORY = sqlite3.connect(":memory:", check_same_thread=False)


def derived(row, columns):
    """A key of several columns."""
    def text(value):
        if isinstance(value, bytes): return value.hex().upper()
        return MEMORY.execute("SELECT CAST(? AS TEXT)", (value,)).fetchone()[0].replace("%", "%25").replace("/", "%2F")
    if any(row[column] is None for column in columns): return None
    return "/".join(text(row[column]) for column in columns)


class Failure(Exception): pass


class Run:
    def __init__(self, build, work, compiles):
        self.dao, self.build, self.work, self.compiles = build / "dao", build, work, compiles

    def call(self, *words, fails=False):
        done = subprocess.run([str(self.dao), *map(str, words)], cwd=self.work, capture_output=True, text=True)
        after = self.bytes()
        if after != self.before:
            raise Failure(f"dao {words} changed the file: {[name for name in after.keys() | self.before.keys() if after.get(name) != self.before.get(name)]}")
        if (done.returncode != 0) != fails:
            raise Failure(f"dao {' '.join(map(str, words))} ended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done

    def bytes(self):
        return {path.name: path.read_bytes() for path in sorted(self.work.glob("source.sqlite*")) if not path.name.endswith("-shm")}

    def run(self, name, make, facts):
        path = self.work / "source.sqlite"

        class Connection(sqlite3.Connection): pass

        db = sqlite3.connect(path, isolation_level=None, factory=Connection)
        db.path = str(path)
        db.execute("BEGIN") if name in ("many_rows",) else None
        make(db)
        if db.in_transaction: db.execute("COMMIT")
        keeper = db if name == "log_beside_the_file" else None
        if not keeper: db.close()
        self.before = self.bytes()
        zone = ["--zone", facts["zone"]] if "zone" in facts else []
        shown = json.loads(self.call("inspect", "sqlite:source.sqlite", "--json", *zone).stdout)
        self.call("inspect", "sqlite:source.sqlite")
        self.call("verify", "sqlite:source.sqlite")
        copied = self.call("copy", "sqlite:source.sqlite", "lmdb:copy.mdb", fails=True)
        if "dao move" not in copied.stderr: raise Failure("copy: " + copied.stderr)
        mapping = shown["mapping"]
        self.check(mapping, facts)
        text = self.call("inspect", "sqlite:source.sqlite", "--mapping", "mapping.json", *zone) and (self.work / "mapping.json").read_text()
        for old, new in facts.get("mapping", []):
            if old not in text: raise Failure(f"the mapping has no {old}: {text}")
            text = text.replace(old, new)
        (self.work / "mapping.json").write_text(text)
        mapping = json.loads(text)
        first = next(iter(mapping["entities"]), None)
        if first: self.call("query", "sqlite:source.sqlite", first["entity"], "--json")
        targets = ["sqlite:moved.db", "lmdb:moved.mdb"]
        if server := os.environ.get("DAO_POSTGRES_URL"): targets.append(f"{server}?schema=arrivals_{name}_{os.getpid()}")
        out = facts.get("out", 0)
        for target in targets:
            report = json.loads(self.call("move", "source.sqlite", target, "--json", "--mapping", "mapping.json", fails=out > 0).stdout)
            if report["rowsLeftOut"] != out: raise Failure(f"{target}: {report}")
            again = json.loads(self.call("move", "source.sqlite", target, "--json", "--mapping", "mapping.json", fails=out > 0).stdout)
            if again["written"] != 0: raise Failure(f"{target}: moved again: {again}")
            self.call("verify", target)
            self.compare(mapping, target, out)
        if self.compiles: self.compile(shown)
        if keeper: keeper.close()

    def check(self, mapping, facts):
        fields = {f"{entity['entity']}.{field['field']}": field for entity in mapping["entities"] for field in entity["fields"]}
        for place, wanted in facts.get("types", {}).items():
            field = fields.get(place)
            if not field: raise Failure(f"there is no {place}; there are: {', '.join(fields)}")
            words = [field["type"]] + [field[key] for key in ("target", "form") if key in field] + (["key"] if field.get("key") else [])
            if " ".join(words) != wanted: raise Failure(f"{place} is {' '.join(words)}, not {wanted}")
        left = {entry["table"] for entry in mapping["left"]}
        if left != facts.get("left", set()): raise Failure(f"left behind: {left}")

    def compare(self, mapping, target, out):
        db = sqlite3.connect(f"file:{self.work}/source.sqlite?mode=ro", uri=True)
        db.row_factory = sqlite3.Row
        folder = self.work / ".source_SUPPORT/_EXTERNAL_DATA"
        kinds = {e["entity"]: next(f for f in e["fields"] if f.get("key"))["type"] for e in mapping["entities"]}
        for entity in mapping["entities"]:
            fields = [field for field in entity["fields"] if "list" not in field]
            key = next(field for field in fields if field.get("key"))
            virtual = "rowid AS dao_row, " if any(not f.get("column") and not f.get("columns") for f in fields) else ""
            wanted = {}
            for row in db.execute(f"SELECT {virtual}* FROM {quoted(entity['table'])}"):
                values = {}
                try:
                    for field in fields:
                        kind = kinds[field["target"]] if "target" in field else field["type"].rstrip("?")
                        if field.get("columns"): value = derived(row, field["columns"])
                        else: value = row[field["column"]] if field.get("column") else row["dao_row"]
                        if "7 " == value and kind == "int64": raise ValueError
                        values[field["field"]] = expected(value, field, kind, mapping.get("timeZone"), folder)
                except (ValueError, KeyError):
                    out -= 1
                    continue
                wanted[values[key["field"]]] = values
            found = {}
            for line in self.call("export", target, entity["entity"]).stdout.splitlines():
                row = json.loads(line)
                values = {field["field"]: exported(row[field["field"]], kinds[field["target"]] if "target" in field else field["type"].rstrip("?")) for field in fields}
                found[values[key["field"]]] = values
            if found != wanted:
                for one in list(wanted.keys() | found.keys()):
                    if wanted.get(one) != found.get(one):
                        raise Failure(f"{target}, {entity['entity']} {one!r}:\nexpected {wanted.get(one)}\nfound    {found.get(one)}")
            for field in entity["fields"]:
                if "list" not in field: continue
                part = field["list"]
                order = f" ORDER BY {quoted(part['order'])}" if "order" in part else ""
                lists = {}
                for parent, child in db.execute(f"SELECT {quoted(part['parent'])}, {quoted(part['child'])} FROM {quoted(part['table'])}{order}"):
                    if parent is not None: lists.setdefault(parent, []).append(child)
                for parent in wanted:
                    rows = json.loads(self.call("get", target, entity["entity"], parent, "--related", field["field"], "--json").stdout)
                    name = next(f for e in mapping["entities"] if e["entity"] == field["target"] for f in e["fields"] if f.get("key"))["field"]
                    if [row[name] for row in rows] != lists.get(parent, []): raise Failure(f"{target}, {entity['entity']}.{field['field']} of {parent}: {rows}")
        if out != 0: raise Failure(f"{out} more rows were to be left out")

    def compile(self, shown):
        """Writes models, which compiles them."""
        target = self.work / "App"
        target.mkdir()
        (target / "main.swift").write_text("")
        (self.work / "catalog.json").write_text(json.dumps(shown))
        request = {
            "package": str(target), "target": "App", "module": "App", "directory": str(target), "sources": [str(target / "main.swift")],
            "modules": str(self.build / "Modules"), "moduleMaps": [], "conditions": [], "arguments": ["-package-name", "app"], "languageMode": "6",
            "compiler": shutil.which("swiftc"), "work": str(self.work), "checks": False, "catalog": str(self.work / "catalog.json")}
        (self.work / "request.json").write_text(json.dumps(request))
        done = subprocess.run([str(self.build / "dao-generate-models"), str(self.work / "request.json")], capture_output=True, text=True)
        models = list((target / "Models").glob("*.swift"))
        if done.returncode or len(models) != len(shown["entities"]): raise Failure(f"{len(models)} models: {done.stdout}{done.stderr}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default=str(ROOT / ".build/debug"))
    parser.add_argument("--compile", action="store_true", help="compile models of each schema")
    parser.add_argument("--only", help="the schemas with these names, separated by commas")
    arguments = parser.parse_args()
    names = arguments.only.split(",") if arguments.only else list(SCHEMAS)

    def run(name):
        """Returns what went wrong with a schema; nothing if all is right."""
        with tempfile.TemporaryDirectory() as work:
            try:
                Run(pathlib.Path(arguments.build).resolve(), pathlib.Path(work), arguments.compile).run(name, *SCHEMAS[name])
                return None
            except (Failure, AssertionError, KeyError, json.JSONDecodeError) as failure:
                return f"{type(failure).__name__} {failure}"

    # The work is done by processes, of which each core runs one.
    failures = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for name, failure in zip(names, pool.map(run, names)):
            failures += failure is not None
            print(f"ok   {name}" if failure is None else f"FAIL {name}: {failure}")
    print(f"{len(names) - failures} of {len(names)} schemas moved without a difference")
    sys.exit(1 if failures else 0)


main()
