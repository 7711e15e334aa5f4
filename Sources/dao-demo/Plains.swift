import DAOCore

// The application's values. They depend on neither a database nor JSON.

struct Country: Plain, Equatable {
    let code: String
    let code3: String
    let name: String
    let officialName: String?
    let flag: String
    let number: Int
    var uniqueId: UniqueID { UniqueID(code) }
}

struct Subdivision: Plain, Equatable {
    let code: String
    let country: String
    let name: String
    let type: String
    let parent: String?
    var uniqueId: UniqueID { UniqueID(code) }
}

struct Language: Plain, Equatable {
    let code: String
    let shortCode: String?
    let name: String
    let scope: Scope
    let isLiving: Bool
    var uniqueId: UniqueID { UniqueID(code) }

    enum Scope: String, FieldValue {
        case individual = "I"
        case macrolanguage = "M"
        case special = "S"
    }
}

/// Both the application's value and the stored record, so it needs no translator.
struct Currency: Plain, Model, Equatable {
    var code: String
    var name: String
    var number: Int

    static let schema = Schema(
        "currency", Self.init,
        Field("code", \.code, .primaryKey),
        Field("name", \.name),
        Field("number", \.number)
    )
}

/// The name of a country in one language, which can be searched.
struct CountryName: Plain, Model, Equatable {
    /// The code of the country and the language, such as `SE.fr`.
    var code: String
    var name: String

    static let schema = Schema(
        "countryName", Self.init,
        Field("code", \.code, .primaryKey),
        Field("name", \.name, .searchable)
    )
}

// The mapping from entries to the application's values.

extension Country {
    init(_ entry: CountryEntry) throws {
        guard let number = Int(entry.numeric) else {
            throw DemoError("country \(entry.alpha2) has the number '\(entry.numeric)'")
        }
        self.init(
            code: entry.alpha2, code3: entry.alpha3, name: entry.name, officialName: entry.officialName, flag: entry.flag,
            number: number)
    }
}

extension Subdivision {
    init(_ entry: SubdivisionEntry) {
        self.init(
            code: entry.code, country: String(entry.code.prefix { $0 != "-" }), name: entry.name, type: entry.type,
            parent: entry.parent)
    }
}

extension Language {
    init(_ entry: LanguageEntry) throws {
        guard let scope = Scope(rawValue: entry.scope) else {
            throw DemoError("language \(entry.alpha3) has the scope '\(entry.scope)'")
        }
        self.init(code: entry.alpha3, shortCode: entry.alpha2, name: entry.name, scope: scope, isLiving: entry.type == "L")
    }
}

extension Currency {
    init(_ entry: CurrencyEntry) throws {
        guard let number = Int(entry.numeric) else {
            throw DemoError("currency \(entry.alpha3) has the number '\(entry.numeric)'")
        }
        self.init(code: entry.alpha3, name: entry.name, number: number)
    }
}
