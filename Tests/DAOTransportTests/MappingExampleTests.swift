import DAOTransport
import Testing

// The documented examples of mapping between the layers, with their exact results.

// MARK: A user with photos: a key is renamed between the layers

enum UserType: Int, Codable {
    case guest
    case member
}

struct PhotoEntry: Codable, RawMappable {
    typealias Raw = Json
    let id: String
    let ref: String
}

struct UserEntry: Codable, RawMappable {
    typealias Raw = Json
    let name: String
    let age: Int
    let type: UserType
    let photos: [PhotoEntry]
}

struct Photo: DTOConvertible, Equatable, Sendable {
    let id: String
    let image: String

    func toDTO() -> PhotoEntry { PhotoEntry(id: id, ref: image) }
    static func from(dto: PhotoEntry) -> Photo { Photo(id: dto.id, image: dto.ref) }
}

struct User: DTOConvertible, Equatable {
    let name: String
    let age: Int
    let type: UserType
    let photos: [Photo]

    func toDTO() throws -> UserEntry { UserEntry(name: name, age: age, type: type, photos: try photos.toDTO()) }
    static func from(dto: UserEntry) throws -> User {
        User(name: dto.name, age: dto.age, type: dto.type, photos: try .from(dto: dto.photos))
    }
}

// MARK: A product: the name is used when the alias is empty

struct ProductEntry: Codable, RawMappable {
    typealias Raw = Json
    let id: String
    let name: String
    let alias: String?
}

struct Product: DTODecodable, Equatable {
    let id: String
    let name: String
    let alias: String

    static func from(dto: ProductEntry) -> Product {
        let alias = dto.alias.flatMap { $0.isEmpty ? nil : $0 } ?? dto.name
        return Product(id: dto.id, name: dto.name, alias: alias)
    }
}

// MARK: A payment: several models from the same type of entry, recursively

struct PaymentEntry: Codable, RawMappable {
    typealias Raw = Json
    let name: String
    let action: String?
    let mask: String?
    let regexp: String?
    /// Missing in the leaves, which means empty.
    let subitems: [PaymentEntry]?
}

struct PaymentField: DTODecodable, Equatable {
    let name: String
    let mask: String
    let regexp: String

    static func from(dto: PaymentEntry) throws(MappingError) -> PaymentField {
        guard let mask = dto.mask, let regexp = dto.regexp else { throw .badType }
        return PaymentField(name: dto.name, mask: mask, regexp: regexp)
    }
}

struct PaymentAction: DTODecodable, Equatable {
    let action: String

    static func from(dto: PaymentEntry) throws(MappingError) -> PaymentAction {
        guard let action = dto.action else { throw .badType }
        return PaymentAction(action: action)
    }
}

struct PaymentList: DTODecodable, Equatable {
    let name: String
    let subitems: [PaymentField]

    static func from(dto: PaymentEntry) throws -> PaymentList {
        PaymentList(name: dto.name, subitems: try .from(dto: dto.subitems ?? []))
    }
}

struct PaymentTree: DTODecodable, Equatable {
    let name: String
    let subitems: [PaymentTree]

    static func from(dto: PaymentEntry) throws -> PaymentTree {
        PaymentTree(name: dto.name, subitems: try .from(dto: dto.subitems ?? []))
    }
}

@Suite struct MappingExampleTests {
    @Test func userWithPhotos() throws {
        let raw: Json = ["name": "Ann", "age": 30, "type": 1, "photos": [["id": "p1", "ref": "a.png"]], "extra": true]
        let user = try User.from(dto: .from(raw: raw))
        #expect(user == User(name: "Ann", age: 30, type: .member, photos: [Photo(id: "p1", image: "a.png")]))
        #expect(try user.toDTO().toRaw() == ["name": "Ann", "age": 30, "type": 1, "photos": [["id": "p1", "ref": "a.png"]]])
        #expect(throws: DecodingError.self) { try UserEntry.from(raw: ["name": "Ann", "age": 30, "type": 9, "photos": []]) }
    }

    @Test(
        arguments: [
            (["alias": "My milk"], "My milk"), (["alias": ""], "Milk"), (["alias": nil], "Milk"), ([:], "Milk"),
            (["alias": " "], " "),
        ] as [([String: Json], String)])
    func productWithAlias(_ given: [String: Json], _ alias: String) throws {
        let raw = Json.object(given.merging(["id": "1", "name": "Milk"], uniquingKeysWith: { $1 }))
        let product = try Product.from(dto: .from(raw: raw))
        #expect(product == Product(id: "1", name: "Milk", alias: alias))
    }

    private let payment: Json = [
        "name": "Phone", "action": "pay",
        "subitems": [
            ["name": "number", "mask": "+7 (___)", "regexp": "[0-9]+"],
            ["name": "amount", "mask": "___", "regexp": "[0-9]{1,3}", "subitems": []],
        ],
    ]

    @Test func paymentMapsToListActionAndFields() throws {
        let entry = try PaymentEntry.from(raw: payment)
        let fields = [
            PaymentField(name: "number", mask: "+7 (___)", regexp: "[0-9]+"),
            PaymentField(name: "amount", mask: "___", regexp: "[0-9]{1,3}"),
        ]
        #expect(try PaymentList.from(dto: entry) == PaymentList(name: "Phone", subitems: fields))
        #expect(try PaymentAction.from(dto: entry) == PaymentAction(action: "pay"))
    }

    @Test func paymentOfTheWrongTypeThrowsBadType() throws {
        let entry = try PaymentEntry.from(raw: payment)
        #expect {
            try PaymentField.from(dto: entry)
        } throws: { error in
            guard case MappingError.badType = error else { return false }
            return true
        }

        var broken = payment
        broken["subitems"] = [["name": "number", "mask": "_", "regexp": "."], ["name": "amount", "mask": "_"]]
        #expect {
            try PaymentList.from(dto: .from(raw: broken))
        } throws: { error in
            guard let error = error as? MappingError, case .badElement(1, _) = error, case MappingError.badType = error.root
            else { return false }
            return true
        }
    }

    @Test func recursivePaymentEndsWithoutSubitems() throws {
        let raw: Json = [
            "name": "1", "subitems": [["name": "2", "subitems": [["name": "3"]]], ["name": "2b", "subitems": []]],
        ]
        let three = PaymentTree(name: "3", subitems: [])
        let tree = PaymentTree(
            name: "1", subitems: [PaymentTree(name: "2", subitems: [three]), PaymentTree(name: "2b", subitems: [])])
        #expect(try PaymentTree.from(dto: .from(raw: raw)) == tree)
    }
}
