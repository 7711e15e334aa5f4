import DAOTestSupport
import DAOTransport
import Foundation
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

private struct Entry: Codable, RawMappable, Equatable {
    typealias Raw = Json
    var big: Int64 = .max
    var unsigned: UInt64 = .max
    var isOn = true
    var ratio = 0.1
    var amount = Decimal(string: "12345678901234567890.5") ?? 0
    var date = Date(timeIntervalSinceReferenceDate: 1.25)
    var data = Data([0, 255])
    var url = URL(string: "https://example.com/a?b=c")
    var none: String?
}

private struct Single: Codable, RawMappable {
    typealias Raw = Json
    let value: Int

    init(value: Int) { self.value = value }
    init(from decoder: any Decoder) throws { value = try decoder.singleValueContainer().decode(Int.self) }
    func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(value)
    }
}

/// Counts its calls and fails for one value.
private struct Spy: RawMappable, DTOConvertible, Equatable {
    struct Failure: Error, Equatable { let value: Int }
    static let calls = Calls()
    let value: Int

    func toRaw() throws -> Json { try Self.called(value, Json(value)) }
    static func from(raw: Json) throws -> Spy { try called(raw.intValue ?? 0, Spy(value: raw.intValue ?? 0)) }
    func toDTO() throws -> Spy { try Self.called(value, self) }
    static func from(dto: Spy) throws -> Spy { try called(dto.value, dto) }

    private static func called<Result>(_ value: Int, _ result: Result) throws -> Result {
        calls.append(value)
        if value == 13 { throw Failure(value: value) }
        return result
    }

    final class Calls: @unchecked Sendable {
        // Sendable because `values` is accessed only under the lock.
        private let lock = NSLock()
        private var values: [Int] = []
        func append(_ value: Int) { lock.withLock { values.append(value) } }
        func take() -> [Int] {
            lock.withLock {
                defer { values = [] }; return values
            }
        }
    }
}

@Suite(.serialized) struct MappingTests {
    @Test func codableEntryEncodesWithoutCode() throws {
        let raw = try Entry().toRaw()
        #expect(raw["big"] == Json(Int64.max))
        #expect(raw["unsigned"] == Json(UInt64.max))
        #expect(raw["isOn"] == true)
        #expect(raw["date"] == 1.25)
        #expect(raw["data"] == "AP8=")
        #expect(raw["url"] == "https://example.com/a?b=c")
        #expect(raw.objectValue?.keys.contains("none") == false)
    }

    @Test(arguments: 1...3 as ClosedRange<UInt64>) func codableEntryRoundTrips(seed: UInt64) throws {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<200 {
            var entry = Entry()
            entry.big = .random(in: .min ... .max, using: &generator)
            entry.unsigned = .random(in: .min ... .max, using: &generator)
            entry.isOn = .random(using: &generator)
            entry.ratio = .random(in: -1e300...1e300, using: &generator)
            entry.date = Date(timeIntervalSinceReferenceDate: .random(in: -1e9...1e9, using: &generator))
            entry.none = Bool.random(using: &generator) ? "x" : nil
            #expect(try Entry.from(raw: entry.toRaw()) == entry)
        }
    }

    @Test func unknownKeysAreIgnoredAndNullReadsAsNil() throws {
        var raw = try Entry().toRaw()
        raw["extra"] = ["a": 1]
        raw["none"] = .null
        #expect(try Entry.from(raw: raw) == Entry())
    }

    @Test func aMissingOrMistypedKeyThrowsADecodingError() throws {
        let raw = try Entry().toRaw()
        var missing = raw
        missing["isOn"] = nil as Json?
        #expect {
            try Entry.from(raw: missing)
        } throws: { error in
            guard case DecodingError.keyNotFound(let key, _) = error else { return false }
            return key.stringValue == "isOn"
        }
        var mistyped = raw
        mistyped["isOn"] = 1
        #expect {
            try Entry.from(raw: mistyped)
        } throws: { error in
            guard case DecodingError.typeMismatch = error else { return false }
            return true
        }
    }

    @Test func singleValueThrowsCantMapObjectToRaw() {
        #expect {
            try Single(value: 1).toRaw()
        } throws: { error in
            guard case MappingError.cantMapObjectToRaw = error else { return false }
            return true
        }
    }

    // MARK: Arrays

    @Test func listIsEncodedUnderTheArrayKey() throws {
        let raw = try [Spy(value: 1), Spy(value: 2), Spy(value: 3)].toRaw()
        #expect(raw == ["_array": [1, 2, 3]])
        #expect(Spy.calls.take() == [1, 2, 3])
        #expect(try [Spy].from(raw: raw).map(\.value) == [1, 2, 3])
        #expect(Spy.calls.take() == [1, 2, 3])
        #expect(try [Spy].from(dto: [Spy(value: 4), Spy(value: 5)].toDTO()).map(\.value) == [4, 5])
        #expect(Spy.calls.take() == [4, 5, 4, 5])
    }

    @Test func emptyObjectAndPlainArrayDecodeAsLists() throws {
        #expect(try [Spy].from(raw: [:]).isEmpty)
        #expect(try [Spy].from(raw: ["_array": []]).isEmpty)
        #expect(try [Spy].from(raw: [7]).map(\.value) == [7])
        _ = Spy.calls.take()
    }

    @Test(arguments: [["other": []], ["_array": 1], ["_array": ["a": 1]], "text", 1, nil] as [Json])
    func rawValueWithoutAListThrowsWithTheValue(_ raw: Json) {
        #expect {
            try [Spy].from(raw: raw)
        } throws: { error in
            guard case MappingError.cantFindKeyInRaw(let reported) = error else { return false }
            return reported == raw
        }
    }

    @Test func badElementFailsTheListWithItsIndexAndError() throws {
        let attempts: [() throws -> Void] = [
            { _ = try [Spy(value: 1), Spy(value: 13), Spy(value: 3)].toRaw() },
            { _ = try [Spy].from(raw: ["_array": [1, 13, 3]]) },
            { _ = try [Spy(value: 1), Spy(value: 13), Spy(value: 3)].toDTO() },
            { _ = try [Spy].from(dto: [Spy(value: 1), Spy(value: 13), Spy(value: 3)]) },
        ]
        for attempt in attempts {
            #expect {
                try attempt()
            } throws: { error in
                guard case MappingError.badElement(1, let cause) = error else { return false }
                return cause as? Spy.Failure == Spy.Failure(value: 13)
            }
            #expect(Spy.calls.take() == [1, 13])
        }
    }

    @Test func errorInsideNestedListsKeepsItsRoot() {
        #expect {
            try [[Spy]].from(raw: ["_array": [["_array": [1]], ["_array": [2, 13]]]])
        } throws: { error in
            (error as? MappingError)?.root as? Spy.Failure == Spy.Failure(value: 13)
                && "\(error)".hasPrefix("Element 1: Element 1:")
        }
        _ = Spy.calls.take()
    }

    // MARK: Optionals

    @Test func nilMapsToNilWithoutMapping() throws {
        let value: Spy? = try .from(raw: nil as Json?)
        let model: Spy? = try .from(dto: nil as Spy?)
        let list: [Spy]? = try .from(dto: nil as [Spy]?)
        #expect(value == nil && model == nil && list == nil)
        #expect(Spy.calls.take().isEmpty)
    }

    @Test func optionalValueMapsOnceAndRethrowsItsError() throws {
        let optional: Json? = 1
        let value: Spy? = try .from(raw: optional)
        #expect(value == Spy(value: 1))
        #expect(Spy.calls.take() == [1])
        let dto: [Spy]? = [Spy(value: 2)]
        let list: [Spy]? = try .from(dto: dto)
        #expect(list == [Spy(value: 2)])
        _ = Spy.calls.take()
        let bad: Spy? = Spy(value: 13)
        #expect(throws: Spy.Failure(value: 13)) { let _: Spy? = try .from(dto: bad) }
        #expect(Spy.calls.take() == [13])
    }

    // MARK: Json values

    @Test func jsonPassesThroughBothLayersUnchanged() throws {
        for json in [["a": [1, nil]], [1, 2], "text", nil, true] as [Json] {
            #expect(json.toRaw() == json)
            #expect(Json.from(raw: json) == json)
            #expect(json.toDTO() == json)
            #expect(Json.from(dto: json) == json)
        }
        #expect(try [Json].from(raw: ["_array": [1, "a"]]) == [1, "a"])
        let list: [Json] = [1, "a"]
        #expect(try [Json].from(dto: list.toDTO()) == list)
    }

    // MARK: Multipart

    @Test func multipartPayloadMapsThroughBothLayersAndKeepsFiles() throws {
        let files: [String: MultipartFile] = ["avatar": .data(Data([1, 2]), fileName: "a\".png", contentType: "image/png")]
        let model = MultipartModel(payloadModel: Photo(id: "p1", image: "a.png"), files: files)
        let dto: MultipartModel<PhotoEntry> = try model.toDTO()
        let raw: MultipartModel<Json> = try dto.toRaw()
        #expect(raw == MultipartModel(payloadModel: ["id": "p1", "ref": "a.png"], files: files))

        let body = try HTTPBody.multipart(raw, boundary: "X")
        #expect(body.contentType == "multipart/form-data; boundary=X")
        let lines = [
            "--X", "Content-Disposition: form-data; name=\"id\"", "", "p1", "--X", "Content-Disposition: form-data; name=\"ref\"",
            "",
            "a.png", "--X", "Content-Disposition: form-data; name=\"avatar\"; filename=\"a%22.png\"", "Content-Type: image/png",
            "",
            "\u{1}\u{2}", "--X--", "",
        ]
        #expect(String(decoding: body.data, as: UTF8.self) == lines.joined(separator: "\r\n"))
    }

    // MARK: Mapping through Json and directly

    @Test func entryThatConvertsKeysIsEqualByBothRoutes() throws {
        struct Direct: JsonEndpoint, URLRequestBuildable {
            func makeRequest() throws -> URLRequest { try get("dialogs") }
            func content(from root: ResponseData<DialogRoot<FromRaw<[DialogEntry]>>>) -> [DialogEntry] {
                root.data.dialogList.value
            }
        }
        struct Plain: JsonEndpoint, URLRequestBuildable {
            func makeRequest() throws -> URLRequest { try get("dialogs") }
            func content(from root: ResponseData<DialogRoot<[DialogEntry]>>) -> [DialogEntry] { root.data.dialogList }
        }
        struct Raw: JsonEndpoint, URLRequestBuildable {
            func makeRequest() throws -> URLRequest { try get("dialogs") }
            func content(from root: ResponseData<DialogRoot<Json>>) -> Json { root.data.dialogList }
        }
        for text in [
            #"{"data":{"dialog_list":[{"id":"7","is_pinned":true,"messages":[{"id":"1","text":"hi"}]}]}}"#,
            #"{"data":{"dialog_list":[]}}"#,
            #"{"data":{"dialog_list":[{"id":"1","is_pinned":false,"messages":[]},{"id":"2","is_pinned":true,"messages":[]}]}}"#,
        ] {
            let body = Data(text.utf8)
            let direct = try Direct().content(from: nil, with: body)
            #expect(try [DialogEntry].from(raw: Raw().content(from: nil, with: body)) == direct)
            #expect(try Plain().content(from: nil, with: body) == direct)
            #expect(try [DialogEntry].from(raw: direct.toRaw()) == direct)
        }
    }
}

private struct DialogRoot<List: Decodable>: Decodable { let dialogList: List }

private struct DialogEntry: Codable, RawMappable, JsonCodingSettings, Equatable {
    typealias Raw = Json
    struct Message: Codable, Equatable {
        let id: String
        let text: String
    }
    let id: String
    let isPinned: Bool
    let messages: [Message]

    static var jsonDecoder: JSONDecoder { .convertingFromSnakeCase() }
    static var jsonEncoder: JSONEncoder { .convertingToSnakeCase() }
}
