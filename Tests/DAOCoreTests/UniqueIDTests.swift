import DAOCore
import Foundation
import Testing

@Suite("K1 · Unique ids are equal when their texts are equal")
struct UniqueIDTests {
    private func distinctCount(_ ids: [UniqueID]) -> Int { Set(ids).count }

    @Test func integersOfAnyWidthEqualTheirText() {
        #expect(
            distinctCount([UniqueID(5), UniqueID(value: UInt8(5)), UniqueID(value: Int64(5)), UniqueID(rawValue: "5"), "5", 5])
                == 1)
        #expect(distinctCount([UniqueID(value: UInt64.max), UniqueID("18446744073709551615")]) == 1)
        #expect(distinctCount([UniqueID(value: Int64.min), UniqueID("-9223372036854775808")]) == 1)
    }

    @available(macOS 15, iOS 18, tvOS 18, visionOS 2, *) @Test func integersOf128BitsEqualTheirText() {
        #expect(distinctCount([UniqueID(value: Int128(7)), UniqueID(7)]) == 1)
        #expect(UniqueID(value: Int128.max) == UniqueID("170141183460469231731687303715884105727"))
    }

    @Test(arguments: [
        "05", "+5", "-0", " 5", "5 ", "5.0", "", "-", "0x5", "18446744073709551616", "９", "e621e1f8-c36c-495a-93fc-0c247a3e6e5f",
    ])
    func otherSpellingsAreDifferentIds(_ text: String) {
        #expect(UniqueID(text).rawValue == text)
        #expect(UniqueID(text) != UniqueID(5))
        #expect(UniqueID(text) != UniqueID(0))
        #expect(throws: StorageError.self) { try UniqueID(text).key(as: .int64, entity: "e") }
    }

    @Test func uuidsEqualTheirUpperCaseText() throws {
        let uuid = try #require(UUID(uuidString: "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(UniqueID(uuid) == UniqueID("E621E1F8-C36C-495A-93FC-0C247A3E6E5F"))
        #expect(UniqueID(uuid).hashValue == UniqueID("E621E1F8-C36C-495A-93FC-0C247A3E6E5F").hashValue)
        #expect(UniqueID(uuid) != UniqueID("e621e1f8-c36c-495a-93fc-0c247a3e6e5f"))
        #expect(try UniqueID(uuid).key(as: .string, entity: "e") == .string(uuid.uuidString))
    }

    @Test func composedAndDecomposedTextsAreDifferentIds() {
        #expect(UniqueID("é") != UniqueID("e\u{301}"))
        #expect(distinctCount(["é", "e\u{301}"]) == 2)
    }

    @Test func idsConvertToKeysInTheRangeOfTheirKind() throws {
        #expect(try UniqueID("127").key(as: .int8, entity: "e") == .integer(127))
        #expect(try storageError { try UniqueID("128").key(as: .int8, entity: "e") }.kind == .invalidKey)
        #expect(try storageError { try UniqueID(-1).key(as: .uint64, entity: "e") }.kind == .invalidKey)
        #expect(try UniqueID(value: UInt64.max).key(as: .uint64, entity: "e") == .unsigned(.max))
        #expect(try UniqueID(5).key(as: .string, entity: "e") == .string("5"))
        #expect(
            try UniqueID(String(repeating: "x", count: 256)).key(as: .string, entity: "e")
                == .string(String(repeating: "x", count: 256)))
        let error = try storageError { try UniqueID(String(repeating: "é", count: 129)).key(as: .string, entity: "e") }
        #expect(error.message == "a string key of 'e' has 258 UTF-8 bytes, more than 256; use a shorter key")
    }

    @Test func idsRoundTripThroughJSON() throws {
        for id in [UniqueID(5), "é", "", UniqueID(UUID()), UniqueID(value: UInt64.max)] {
            #expect(try JSONDecoder().decode([UniqueID].self, from: JSONEncoder().encode([id])) == [id])
        }
    }
}
