import DAOCore
import Foundation
import Testing

@Suite("L1 · Database URLs are parsed or refused")
struct ConfigurationTests {
    @Test(arguments: [
        ("sqlite:///var/app.db", "sqlite", "/var/app.db"), ("sqlite:app.db", "sqlite", "app.db"),
        ("SQLite:a/b.db", "sqlite", "a/b.db"), ("memory:", "memory", ""),
        ("memory:cache", "memory", "cache"), ("memory://cache", "memory", "cache"),
        ("lmdb:///a%20b%3Fc%23d%25e", "lmdb", "/a b?c#d%e"), ("sqlite:", "sqlite", ""),
        ("lmdb:///é", "lmdb", "/é"), ("my-store+2.x:/p", "my-store+2.x", "/p"), ("sqlite:/a:b", "sqlite", "/a:b"),
    ])
    func schemeAndPathAreParsed(_ url: String, _ scheme: String, _ path: String) throws {
        let configuration = try DatabaseConfiguration(url: url)
        #expect(configuration.scheme == scheme)
        #expect(configuration.path == path)
        #expect(configuration.options.isEmpty)
    }

    @Test func bothNamesOfPostgreSQLAreAccepted() throws {
        let (short, long) = ("postgres://ada@host:5433/ledger?schema=x", "postgresql://ada@host:5433/ledger?schema=x")
        #expect(try DatabaseConfiguration(url: long) == DatabaseConfiguration(url: short))
    }

    @Test(arguments: ["key", "encryptionKey", "encryption_key", "passphrase"])
    func anEncryptionKeyIsRefusedByItsName(_ name: String) throws {
        let driver = DatabaseDriver(scheme: "none") { _ in throw StorageError(.notFound, "opened") }
        let error = try storageError { try DatabaseDrivers(driver).open("none:a?\(name)=s3cret") }
        #expect(error.kind == .unsupported)
        #expect(error.message == "'none' databases take no key from a URL; open it without '\(name)'")
    }

    @Test func optionsAreParsed() throws {
        let configuration = try DatabaseConfiguration(
            url: "sqlite:app.db?readOnly=true&create=false&durability=relaxed&timeout=0.25&page%53ize=4096&empty=")
        #expect(configuration.isReadOnly)
        #expect(!configuration.createsIfMissing)
        #expect(configuration.durability == .relaxed)
        #expect(configuration.busyTimeout == .milliseconds(250))
        #expect(configuration.options == ["pageSize": "4096", "empty": ""])
    }

    @Test(arguments: [
        ("app.db", "has no scheme; begin it like 'sqlite:' or 'memory:'"),
        ("", "has no scheme; begin it like 'sqlite:' or 'memory:'"),
        (
            "file:///var/app.db",
            #"is the URL of a file; write the kind of the database and the path, as in "sqlite:\(url.path())""#
        ),
        (
            "lmdb:file:///var/app.mdb",
            #"is the URL of a file; write the kind of the database and the path, as in "lmdb:\(url.path())""#
        ),
        (":memory", "has no scheme; begin it like 'sqlite:' or 'memory:'"),
        ("sq lite:x", "has a scheme with a character that schemes do not have; use letters, digits, '+', '-' and '.'"),
        (
            "sqlite://host/x",
            "names a host; write an absolute path with three slashes, as in 'sqlite:///host/x', a relative one none"
        ),
        ("sqlite:a#b", "has a '#'; write it as %23"),
        ("sqlite:a%zz", "has a '%' that is not followed by two hex digits; write a percent sign as %25"),
        ("sqlite:a%00b", "has a NUL character in its path; use another path"),
        ("sqlite:a?x", "has an option 'x' that is not of the form name=value; write it so"),
        ("sqlite:a?=1", "has an option '=1' that is not of the form name=value; write it so"),
        ("sqlite:a?x=1&x=2", "has the option 'x' twice; give it once"),
        ("sqlite:a?create=yes", "has 'create=yes'; use true or false"),
        ("sqlite:a?durability=some", "has 'durability=some'; use full or relaxed"),
        ("sqlite:a?timeout=-1", "has 'timeout=-1'; use a number of seconds from 0 to 86400"),
        ("sqlite:a?timeout=nan", "has 'timeout=nan'; use a number of seconds from 0 to 86400"),
        ("sqlite:a?timeout=1e9", "has 'timeout=1e9'; use a number of seconds from 0 to 86400"),
    ])
    func invalidURLsAreRefused(_ url: String, _ message: String) throws {
        let error = try storageError { try DatabaseConfiguration(url: url) }
        #expect(error.kind == .invalidConfiguration)
        #expect(error.message == "the database URL '\(url)' \(message)")
    }

    /// Every fault of a URL, with a secret in the URL in every spelling.
    @Test(arguments: [
        "key=s3cret", "KEY=s3cret", "%6bey=s3cret", "%4B%65%79=s3cret", "%256bey=s3cret", "k%65y=s3cret", "encryption_key=s3cret",
        "Pass-Word=s3cret", "key=a b's3cret", "key=a=s3cret", "key=a;s3cret", "key=%73%33cret", "key%3Ds3cret", "%6bey%3Ds3cret",
        "x%26key=s3cret", "x;key=s3cret", "x=lmdb:a?key=s3cret", "x=http%3A%2F%2Fme%3As3cret%40host%2F", "ｋｅｙ=s3cret",
    ])
    func secretsAppearInNoError(_ option: String) throws {
        let driver = DatabaseDriver(scheme: "none") { _ in throw StorageError(.notFound, "opened") }
        for url in [
            "none:a?\(option)", "none:a?x=1&\(option)&create=true", "none:a?\(option)&\(option)", "none:a?\(option)&create=yes",
            "none:a?\(option)&=", "none:a?\(option)#", "none://host?\(option)", "no ne:a?\(option)", "a?\(option)",
            "none:%zz?\(option)",
            "none:a&\(option)", "other:a?\(option)",
        ] {
            let error = try storageError { try DatabaseDrivers(driver).open(url) }
            let shown = "\(error) \(error.message) \(error.path ?? "")"
            #expect(!shown.contains("s3cret") && !shown.contains("%73%33cret"), "\(url) is shown as \(shown)")
        }
    }

    @Test(arguments: [
        "me:s3cret@host/x", "//me:s3cret@host/x", "///me:s3cret@host/x", "//s3cret@host/x", "//me:s3/s3cret@host/x",
        "//me:s3cret%40host/x",
        "me:s3cret%40host", "//me%3As3cret@host", "//me:s3cret@host?x", "//me:s3cret@host/%zz",
    ])
    func usersAppearInNoError(_ place: String) throws {
        for scheme in ["none", "memory", "no ne"] {
            let error = try storageError {
                try DatabaseDrivers(DatabaseDriver(scheme: "x") { _ in throw StorageError(.notFound, "") }).open(
                    "\(scheme):\(place)")
            }
            #expect(!"\(error)".contains("s3cret"), "\(error)")
        }
    }

    @Test func descriptionIsTheURLWithoutItsSecrets() throws {
        var configuration = try DatabaseConfiguration(
            url: "sqlite:/a%20b.db?key=s3&readOnly=true&create=false&durability=relaxed&timeout=2&mapSize=7")
        configuration.options["apiToken"] = "a&s3"
        let expected =
            "sqlite:/a%20b.db?apiToken=…&create=false&durability=relaxed&key=…&mapSize=7&readOnly=true&timeout=2.0"
        #expect("\(configuration)" == expected)
        #expect(String(reflecting: [configuration]).contains(expected))
        var dumped = ""
        dump(configuration, to: &dumped)
        #expect(!dumped.contains("s3"), "\(dumped)")
        #expect("\(DatabaseConfiguration(scheme: "memory", path: ""))" == "memory:")
    }

    @Test func pathsWithASignAreKept() throws {
        #expect(try DatabaseConfiguration(url: "sqlite:icon@2x.db").path == "icon@2x.db")
        #expect(try DatabaseConfiguration(url: "sqlite:/a:b@c/key=1.db").path == "/a:b@c/key=1.db")
        #expect(try DatabaseConfiguration(url: "sqlite:a&b.db").path == "a&b.db")
    }

    @Test func driversAreSelectedByScheme() throws {
        let driver = DatabaseDriver(scheme: "none", optionNames: ["size"]) { _ in throw StorageError(.notFound, "opened") }
        let drivers = DatabaseDrivers(driver, DatabaseDriver(scheme: "other") { _ in throw StorageError(.notFound, "other") })
        #expect(try storageError { try drivers.open("none:x?size=3") }.message == "opened")
        #expect(
            try storageError { try drivers.open("sqlite:x") }.message
                == "there is no driver for 'sqlite'; use one that this program has: none, other")
        #expect(
            try storageError { try drivers.open("none:x?sise=3") }.message
                == "'none' databases have no option 'sise'; use one of these: create, durability, log, readOnly, size, timeout")
        #expect(try storageError { try drivers.open("none:x?key=secret") }.kind == .unsupported)
    }
}
