import DAOCore
import DAOTestSupport
import Foundation
import Testing

@testable import DAOSQL
@testable import DAOSQLite

/// Contract C4: the read transaction that is kept open while the process reads.
@Suite struct ParkedReaderTests {
    private let place = Place()

    @Test func itIsOpenWhileTheProcessReads() throws {
        let (storage, parked) = try open()
        #expect(!parked.isParked)
        try read(storage, until: { parked.isParked })
        try waiting { !parked.isParked }
        try read(storage, until: { parked.isParked })
    }

    @Test func itShowsEachCommitAndKeepsTheLogAtItsLimit() throws {
        let (storage, parked) = try open()
        try read(storage, until: { parked.isParked })
        var parkings = 0
        // Each commit writes some pages, so that the log reaches its limit several times.
        for number in 1...2000 {
            try storage.upsert([.numbered(0), .numbered(number)])
            if parked.isParked { parkings += 1 }
            #expect(try storage.count(Query()) == number + 1)
        }
        #expect(parkings > 0)
        let log = try FileManager.default.attributesOfItem(atPath: storage.database.configuration.path + "-wal")
        let size = try #require(log[.size] as? Int)
        #expect(size < 1500 * 4096)
    }

    @Test func itEndsWhileTheLogIsEmptied() throws {
        let (storage, parked) = try open()
        for number in 1...3 {
            try read(storage, until: { parked.isParked })
            try storage.upsert([.numbered(0), .numbered(number)])
            #expect(try storage.count(Query()) == number + 1)
        }
        try read(storage, until: { parked.isParked })
        _ = try storage.database.compact()
        let log = try FileManager.default.attributesOfItem(atPath: storage.database.configuration.path + "-wal")
        #expect(log[.size] as? Int == 0)
    }

    @Test func closingEndsItAndRemovesTheLog() throws {
        let (storage, parked) = try open()
        try read(storage, until: { parked.isParked })
        try storage.database.close()
        #expect(!parked.isParked)
        #expect(!FileManager.default.fileExists(atPath: storage.database.configuration.path + "-wal"))
    }

    private func open() throws -> (any Storage<Message>, ParkedReader) {
        let database = try place.database()
        let storage = try database.storage(for: Message.self)
        try storage.insert([.numbered(0)])
        return (storage, try #require((database.instance.engine as? SQLiteEngine)?.parked))
    }

    private func read(_ storage: any Storage<Message>, until isMet: () -> Bool) throws {
        try waiting {
            _ = try storage.read(key: .integer(0))
            return isMet()
        }
    }

    private func waiting(_ isMet: () throws -> Bool) throws {
        let deadline = ContinuousClock.now + .seconds(20)
        while try !isMet() { try #require(ContinuousClock.now < deadline, "it did not happen") }
    }
}
