#!/usr/bin/env python3
"""Checks the layer that encrypts SQLite files against SQLCipher itself, in both directions: contents, logs and hot journals of killed
processes, a torn first page, several processes; and that nothing plain is written, damage is noticed and no nonce repeats.

    Scripts/encryption/check.py                  a minute
    Scripts/encryption/check.py --rounds 100000  damages that many files in each format
    Scripts/encryption/check.py --dao PATH       only runs the commands of the guide, with this program, on a file of SQLCipher

SQLCipher comes from PyPI, by its hash, into .build/encryption. Without a network the checks that need it are left out, and a line says so."""

import argparse
import glob
import gzip
import os
import pathlib
import random
import shutil
import struct
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PLACE = ROOT / ".build" / "encryption"
PASSPHRASE = "correct horse"
RAW = "raw:" + "ab" * 32


def fetch_sqlcipher():
    """The Python that has SQLCipher; None where it cannot be had."""
    python = PLACE / "bin" / "python3"
    has = [python, "-c", "import sqlcipher3"]
    if python.exists() and subprocess.run(has, capture_output=True).returncode == 0:
        return python
    steps = [
        [sys.executable, "-m", "venv", "--without-pip", PLACE],
        [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:",
         "--require-hashes", "--requirement", pathlib.Path(__file__).with_name("requirements.txt")],
    ]
    if subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True).returncode != 0:
        steps = [[sys.executable, "-m", "venv", PLACE], [python, *steps[1][1:3], *steps[1][5:]]]
    try:
        for step in steps:
            subprocess.run(step, check=True, capture_output=True, timeout=120)
        subprocess.run(has, check=True, capture_output=True)
    except (subprocess.SubprocessError, OSError) as error:
        detail = (getattr(error, "stderr", b"") or b"").decode().strip().split("\n")[-1]
        print(f"skipped: SQLCipher is not to be had from PyPI here ({detail or error})")
        return None
    return python


def build_layer():
    layer = PLACE / "layer"
    sources = [pathlib.Path(__file__).with_name("layer.c"), *(ROOT / "Sources/DAOSQLiteCipher").glob("*.c"),
               ROOT / "Sources/DAOSQLiteChecksums/layer.c"]
    includes = [f"-I{ROOT}/Sources/{path}" for path in
                ("DAOSQLiteCipher/include", "DAOSQLiteCipher", "DAOSQLiteChecksums/include")]
    PLACE.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [shutil.which("cc") or shutil.which("clang") or "gcc", "-DDAO_ENCRYPTION", "-O2", "-g", "-Wall", *includes, *sources, "-o", layer,
         "-lsqlite3", "-lcrypto", "-lpthread"], check=True)
    return layer


FAILURES = []
LAYER = None
BULK = "(with recursive n(i) as (select 1 union all select i+1 from n where i<{}) select i from n)"


def check(name, isRight, detail=""):
    print(("ok    " if isRight else "FAIL  ") + name + (f": {detail}" if not isRight else ""), flush=True)
    if not isRight:
        FAILURES.append(name)


def clean(*names):
    for name in names:
        for path in glob.glob(name + "*"):
            os.remove(path)


def ours(path, *statements, format="sqlcipher", key=RAW, canary=None):
    environment = dict(os.environ, **({"CANARY": canary} if canary else {}))
    return subprocess.run([LAYER, path, format, key, *statements], capture_output=True, text=True, env=environment)


def real(path, *statements, key=None):
    import sqlcipher3.dbapi2 as sqlcipher

    connection = sqlcipher.connect(path, isolation_level=None, timeout=10)
    connection.execute(f"pragma key={key or chr(34) + 'x' + chr(39) + 'ab' * 32 + chr(39) + chr(34)}")
    results = [connection.execute(statement).fetchall() for statement in statements]
    connection.close()
    return results


def real_killed(path, *statements):
    lines = ["import sqlcipher3.dbapi2 as d, os", f"c = d.connect({path!r}, isolation_level=None)",
             "c.execute('pragma key=\"x\\'" + "ab" * 32 + "\\'\"')"]
    lines += [f"c.execute({statement!r}).fetchall()" for statement in statements] + ["os._exit(9)"]
    subprocess.run([sys.executable, "-c", "\n".join(lines)])


SOUND = ("pragma integrity_check", "pragma cipher_integrity_check")
IS_SOUND = [[("ok",)], []]
TABLE = "create table t(id integer primary key, x blob)"


def exchange():
    for name, key, theirs in (("a raw key", RAW, None), ("a passphrase", PASSPHRASE, f"'{PASSPHRASE}'")):
        clean("a.db")
        ours("a.db", "pragma journal_mode=wal", TABLE, f"insert into t select i, 'text '||i from {BULK.format(20000)}", key=key)
        check(f"SQLCipher reads our file, with {name}",
              real("a.db", "select count(*), sum(id), max(x) from t", *SOUND, key=theirs) == [[(20000, 200010000, "text 9999")], *IS_SOUND])
        clean("a.db")
        real("a.db", "pragma journal_mode=wal", TABLE, f"insert into t select i, 'text '||i from {BULK.format(20000)}", key=theirs)
        read = ours("a.db", "select count(*), sum(id), max(x) from t", "pragma integrity_check", key=key)
        check(f"we read the file of SQLCipher, with {name}", read.stdout.split("\n")[:2] == ["20000|200010000|text 9999", "ok"], read.stdout)
    clean("a.db")
    real("a.db", "pragma cipher_page_size=8192", TABLE, "insert into t values(1, 'eight')")
    check("a page size of 8192 is found", ours("a.db", "select x from t", "pragma page_size").stdout.split() == ["eight", "8192"])


def turns(count):
    clean("a.db")
    ours("a.db", "pragma journal_mode=wal", TABLE)
    random.seed(1)
    for turn in range(count):
        statement = random.choice([
            f"insert or replace into t select abs(random()%5000), randomblob(abs(random()%3000)) from {BULK.format(random.choice([1, 50, 800]))}",
            f"delete from t where id%{random.randint(2, 9)}=0", "update t set x=randomblob(length(x)) where id%3=1"])
        if random.random() < 0.5:
            ours("a.db", statement)
        else:
            real("a.db", statement)
        query = "select count(*), total(length(x)), total(id) from t"
        left, right = ours("a.db", query, "pragma integrity_check").stdout.split("\n"), real("a.db", query, *SOUND)
        if left[0] != "|".join(str(value) for value in right[0][0]) or left[1] != "ok" or right[1:] != IS_SOUND:
            return check("turns of random writes", False, f"turn {turn}: {left} {right}")
    check("turns of random writes, both sides agree after each", True)


def killed():
    for name, settings in (("", []), (", with overwritten pages", ["pragma cache_size=20", "pragma cache_spill=20"])):
        statements = ["pragma wal_autocheckpoint=0", *settings, "begin", f"insert into t select null, randomblob(1000) from {BULK.format(500)}",
                      *(["update t set x=randomblob(1000)"] * 2 if settings else []), "commit", "insert into t values(100000, 2)", "begin",
                      "insert into t values(200000, 3)"]
        for side in ("us", "SQLCipher"):
            clean("a.db")
            ours("a.db", "pragma journal_mode=wal", TABLE, "pragma wal_checkpoint(truncate)")
            if side == "us":
                ours("a.db", *statements, ".abort")
                isRight = real("a.db", "select count(*), max(id) from t", *SOUND) == [[(501, 100000)], *IS_SOUND]
            else:
                real_killed("a.db", *statements)
                isRight = ours("a.db", "select count(*), max(id) from t", "pragma integrity_check").stdout.split()[:2] == ["501|100000", "ok"]
            check(f"the other side recovers the log that a kill of {side} left{name}", isRight)
    statements = ["pragma cache_size=10", "pragma cache_spill=10", "begin", "update t set x=randomblob(500)"]
    for side in ("us", "SQLCipher"):
        clean("a.db")
        ours("a.db", "pragma journal_mode=delete", TABLE, f"insert into t select null, zeroblob(500) from {BULK.format(3000)}")
        if side == "us":
            ours("a.db", *statements, ".abort")
        else:
            real_killed("a.db", *statements)
        isHot = os.path.getsize("a.db-journal") > 100000
        if side == "us":
            isRight = real("a.db", "select count(*), count(distinct x) from t", *SOUND) == [[(3000, 1)], *IS_SOUND]
        else:
            isRight = ours("a.db", "select count(*), count(distinct x) from t", "pragma integrity_check").stdout.split()[:2] == ["3000|1", "ok"]
        check(f"the other side rolls back the hot journal that a kill of {side} left", isHot and isRight)


def torn():
    for format in ("ours", "sqlcipher"):
        clean("t.db", "u.db")
        ours("t.db", "pragma journal_mode=wal", TABLE, "pragma wal_checkpoint(truncate)", format=format)
        ours("t.db", "pragma wal_autocheckpoint=0", "insert into t values(1, 2)", "create table u(y)", "insert into u values(7)", ".abort",
             format=format)
        before, log = (pathlib.Path(name).read_bytes() for name in ("t.db", "t.db-wal"))
        for name in ("", "-wal"):
            shutil.copy("t.db" + name, "u.db" + name)
        ours("u.db", "pragma wal_checkpoint(truncate)", format=format)
        after = pathlib.Path("u.db").read_bytes()
        for cut in (512, 2048, 3584):
            clean("u.db")
            pathlib.Path("u.db").write_bytes(after[:cut] + before[cut:])
            pathlib.Path("u.db-wal").write_bytes(log)
            read = ours("u.db", "select (select count(*) from t), (select y from u)", "pragma integrity_check", format=format)
            check(f"a first page that is torn at {cut} opens beside its log ({format})", read.stdout.split() == ["1|7", "ok"], read.stdout)


def together():
    for format in ("ours", "sqlcipher"):
        clean("p.db")
        ours("p.db", "pragma journal_mode=wal", "create table t(n)", "insert into t values(0)", format=format)
        words = [LAYER, "p.db", format, RAW, "pragma wal_autocheckpoint=50"]
        words += ["begin immediate", "update t set n=n+1", "commit", "select 'done'"] * 200
        processes = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(4)]
        done = [process.communicate()[0].split().count("done") for process in processes]
        # On a busy machine a process can wait for too long (5, SQLITE_BUSY). What it has done counts all the same.
        ended = all(process.returncode in (0, 5) for process in processes) and min(done) > 0
        read = ours("p.db", "select n from t", "pragma integrity_check", format=format).stdout.split()
        check(f"four processes ({format})", ended and read == [str(sum(done)), "ok"], f"{read} of {done}")


def mixed():
    import sqlcipher3.dbapi2 as sqlcipher

    clean("m.db")
    ours("m.db", "pragma journal_mode=wal", TABLE, "pragma wal_checkpoint(truncate)")
    other = sqlcipher.connect("m.db", isolation_level=None)
    other.execute("pragma key=\"x'" + "ab" * 32 + "'\"")
    other.execute("select * from t").fetchall()
    isFirst = ours("m.db", "insert into t values(1, 1)").returncode == 0
    other.execute("insert into t values(2, 2)")
    second = ours("m.db", "insert into t values(3, 3)")
    check("a program of SQLCipher in the same log is noticed before the next write",
          isFirst and second.returncode != 0 and "foreign 1" in second.stdout, second.stdout)
    rows = other.execute("select group_concat(id) from t").fetchall()
    other.close()
    check("nothing is lost by it", rows == [("1,2",)] and real("m.db", "select group_concat(id) from t", *SOUND)[0] == rows)


def sums(log):
    """Whether every frame of a log has the sums of the bytes that are stored."""
    page, isBig = struct.unpack(">I", log[8:12])[0], log[3] & 1
    first, second = struct.unpack(">II", log[24:32])
    count = 0
    for at in range(32, len(log) - page - 23, page + 24):
        frame = log[at:at + 24 + page]
        if frame[8:16] != log[16:24]:
            break
        words = struct.unpack((">" if isBig else "<") + "%dI" % ((page + 8) // 4), frame[:8] + frame[24:])
        for i in range(0, len(words), 2):
            first = (first + words[i] + second) & 0xFFFFFFFF
            second = (second + words[i + 1] + first) & 0xFFFFFFFF
        if (first, second) != struct.unpack(">II", frame[16:24]):
            return False
        count += 1
    return count > 0


def nonces(path, format):
    log = pathlib.Path(path + "-wal").read_bytes()
    page = struct.unpack(">I", log[8:12])[0]
    reserve, length = (64, 24) if format == "ours" else (80, 16)
    found = []
    for at in range(32, len(log) - page - 23, page + 24):
        tail = at + 24 + page - reserve
        found.append(log[tail:tail + length])
    return found


def secrecy():
    canary = "a text to look for"
    many = f"insert into t select i, '{canary} '||(i*7919%40000), randomblob(90) from {BULK.format(40000)}"
    for format in ("ours", "sqlcipher"):
        clean("c.db")
        written = ours(
            "c.db", "pragma journal_mode=wal", "pragma cache_size=50", "create table t(id integer primary key, x text, y)", many,
            "create index i on t(x)", f"begin; savepoint a; update t set x=x||'{canary}' where id%3=0; rollback to a; release a; commit",
            "select count(distinct x||y) from t", "select length(x) from t order by y||x limit 1 offset 30000", "delete from t where id%2",
            "vacuum", "pragma journal_mode=delete", f"update t set x='{canary}'||id", "pragma integrity_check", "pragma journal_mode=wal",
            f"update t set x='{canary}'||id where id<9", ".abort", format=format, canary=canary)
        files = b"".join(pathlib.Path(path).read_bytes() for path in glob.glob("c.db*"))
        check(f"no known text is written: database, log, journal, temporary files ({format})",
              "ok" in written.stdout.split() and written.returncode == 9 and canary.encode() not in files, written.stdout)
        check(f"the sums in the log are those of sealed pages, and tell nothing ({format})", sums(pathlib.Path("c.db-wal").read_bytes()))
        # One state, from which several processes go on: the log is rewound.
        clean("n.db", "o.db", "q.db")
        ours("n.db", "pragma journal_mode=wal", TABLE, "pragma wal_checkpoint(truncate)", format=format)
        shutil.copy("n.db", "o.db")
        shutil.copy("n.db", "q.db")
        write = ["pragma wal_autocheckpoint=0", f"insert into t select null, zeroblob(3000) from {BULK.format(500)}", ".abort"]
        subprocess.run([LAYER, "n.db", format, RAW, ".fork", "o.db", *write])
        time.sleep(0.5)
        all = nonces("n.db", format) + nonces("o.db", format)
        for _ in range(2):
            clean("q.db-")
            ours("q.db", *write, format=format)
            all += nonces("q.db", format)
        check(f"no nonce repeats after a fork, nor after a log was rewound ({format})", len(all) > 1500 and len(set(all)) == len(all),
              f"{len(set(all))} of {len(all)}")


def check_the_search():
    """What is plain must be found out by the same means."""
    clean("c.db")
    words = ["import sqlite3, os", "c = sqlite3.connect('c.db', isolation_level=None)", "c.execute('pragma journal_mode=wal')",
             "c.execute('create table t(x)')", "c.execute(\"insert into t values('a text to look for')\")", "os._exit(9)"]
    isSeen = ours("c.db", TABLE, format="ours", canary="SQLite format 3").returncode == 77
    check("what watches all writes sees the plain header of our format", isSeen)
    clean("c.db")
    subprocess.run([sys.executable, "-c", "\n".join(words)])
    check("the search for known text finds it in a plain log", b"a text to look for" in pathlib.Path("c.db-wal").read_bytes())


def damage(rounds):
    for format in ("ours", "sqlcipher"):
        clean("d.db", "e.db")
        # The last pages are parts of a value, of which zeros are one too.
        fill = [f"insert into t select null, randomblob(700) from {BULK.format(40)}", "insert into t values(null, randomblob(20000))"]
        ours("d.db", TABLE, *fill, format=format)
        ours("e.db", TABLE, *fill, format=format)
        ended = ours("d.db", ".damage", str(rounds), "7", "e.db", format=format)
        check(f"{rounds} damaged, cut, exchanged and foreign pages are noticed ({format})",
              ended.returncode == 0 and ended.stdout.strip() == f"0 unnoticed of {rounds}", ended.stdout[-300:])


def cut():
    """A file that ends too early beside a log that says how many pages there are."""
    for format in ("ours", "sqlcipher"):
        clean("k.db", "l.db")
        ours("k.db", "pragma journal_mode=wal", TABLE, "insert into t values(1, randomblob(9000))", "pragma wal_checkpoint(truncate)", format=format)
        ours("k.db", "pragma wal_autocheckpoint=0", "create table u(y)", "insert into t values(2, randomblob(900000))", ".abort", format=format)
        whole, log = (pathlib.Path(name).read_bytes() for name in ("k.db", "k.db-wal"))
        for length, statement in ((len(whole), "select 1"), (len(whole) - 4096, "select hex(x) from t where id=1"),
                                  (len(whole) - 10, "select hex(x) from t where id=1")):
            clean("l.db")
            pathlib.Path("l.db").write_bytes(whole[:length])
            pathlib.Path("l.db-wal").write_bytes(log)
            read = ours("l.db", statement, format=format)
            isRight = (read.returncode == 0) if length == len(whole) else read.returncode != 0
            check(f"a file of {length} bytes of {len(whole)} beside its log ({format})", isRight, read.stdout[-200:])
        # A transaction without a log that frees pages and makes the file longer leaves holes.
        clean("k.db")
        written = ours("k.db", "pragma journal_mode=delete", "pragma secure_delete=off", TABLE, "create table u(y)",
                       "begin", f"insert into u select randomblob(3000) from {BULK.format(300)}",
                       f"insert into t select null, randomblob(3000) from {BULK.format(200)}", "delete from u", "commit",
                       "pragma integrity_check", format=format)
        size = os.path.getsize("k.db")
        bytes = pathlib.Path("k.db").read_bytes()
        holes = sum(not any(bytes[at:at + 4096]) for at in range(0, size, 4096))
        check(f"a transaction that frees what it has written leaves no page that is not sealed ({format})",
              written.stdout.split()[-1:] == ["ok"] and (holes == 0 or format == "sqlcipher"), f"{holes} of {size // 4096}: {written.stdout[-200:]}")


def commands(dao):
    """What Docs/Encryption.md tells a user of SQLCipher."""
    passphrase = f"'{PASSPHRASE}'"
    people = [(1, "Ada"), (2, "Bob")]
    pathlib.Path("key.txt").write_text(PASSPHRASE + "\n")
    with gzip.open(ROOT / "Tests/DAOConformanceTests/Files/sqlite.gz") as library:
        pathlib.Path("library.db").write_bytes(library.read())

    def run(*words):
        ended = subprocess.run([dao, *words], capture_output=True, text=True)
        check("dao " + " ".join(words), ended.returncode == 0 and PASSPHRASE not in ended.stdout + ended.stderr, ended.stdout + ended.stderr)
        return ended.stdout

    def agrees(path, what, isAdopted=True):
        read = real(path, "select id, name from contact", "select count(*) from crate" if isAdopted else "select 0", SOUND[1], key=passphrase)
        check(f"SQLCipher reads {what}", read == [people, [(crates if isAdopted else 0,)], []], read)

    crates = 120
    real("people.db", "create table contact(id integer primary key, name text not null)", "insert into contact values(1, 'Ada')", key=passphrase)
    real("people.db", "insert into contact values(2, 'Bob')", key=passphrase)
    key = ["--key-file", "key.txt"]
    check("the file is opened", "contact" in run("inspect", "sqlite:people.db", *key))
    agrees("people.db", "the file as it was", False)
    run("copy", "sqlite:library.db", "sqlite:people.db?adopt=true", "--to-key-file", "key.txt")
    check("the file is inspected", "crate, 120 rows" in run("inspect", "sqlite:people.db", *key))
    run("verify", "sqlite:people.db", *key)
    agrees("people.db", "what was copied into its file")
    run("erase", "sqlite:people.db", "crate", "id == 1", "--write", *key)
    crates = 119
    check("a row was erased", run("count", "sqlite:people.db", "crate", *key).strip() == "119")
    agrees("people.db", "what was changed")
    real("people.db", "insert into contact values(3, 'Cy')", key=passphrase)
    people.append((3, "Cy"))
    run("backup", "sqlite:people.db", "backup.db", *key)
    agrees("backup.db", "a backup")
    run("compact", "sqlite:people.db", *key)
    agrees("people.db", "the compact file")
    run("rekey", "people.db", *key, "--format", "authenticated")
    check("the file says that it is encrypted in our format", pathlib.Path("people.db").read_bytes().startswith(b"SQLite format 3"))
    run("rekey", "people.db", *key, "--format", "sqlcipher")
    agrees("people.db", "the file that was ours meanwhile")
    run("decrypt", "people.db", "plain.db", *key)
    run("encrypt", "plain.db", "again.db", *key, "--format", "sqlcipher")
    agrees("again.db", "a file that one command has encrypted")


def main():
    global LAYER
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--rounds", type=int, default=3000)
    parser.add_argument("--dao", metavar="PATH")
    parser.add_argument("--inside", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if not arguments.inside:
        python = fetch_sqlcipher()
        if python:
            words = ["--dao", arguments.dao] if arguments.dao else ["--rounds", str(arguments.rounds)]
            os.execv(python, [str(python), __file__, "--inside", *words])
        if arguments.dao:
            return
    LAYER = None if arguments.dao else build_layer()
    with tempfile.TemporaryDirectory() as directory:
        os.chdir(directory)
        if arguments.dao:
            commands(arguments.dao)
        elif arguments.inside:
            exchange()
            turns(25)
            killed()
            mixed()
        if not arguments.dao:
            torn()
            together()
            secrecy()
            check_the_search()
            cut()
            damage(arguments.rounds)
        os.chdir("/")
    if FAILURES:
        sys.exit(f"{len(FAILURES)} of the checks failed")


main()
