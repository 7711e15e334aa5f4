import DAOCore

// The stored records, and the translators between them and the application's values.

struct CountryModel: Model {
    var code: String
    var code3: String
    var name: String
    var officialName: String?
    var flag: String
    var number: Int
    /// Local only: every import keeps it.
    var isFavourite: Bool

    static let schema = Schema(
        "country", Self.init,
        Field("code", \.code, .primaryKey),
        Field("code3", \.code3, .unique),
        Field("name", \.name, .indexed),
        Field("officialName", \.officialName),
        Field("flag", \.flag),
        Field("number", \.number),
        Field("isFavourite", \.isFavourite)
    )
}

struct CountryTranslator: Translator {
    func translate(model: CountryModel) throws -> Country {
        Country(
            code: model.code, code3: model.code3, name: model.name, officialName: model.officialName, flag: model.flag,
            number: model.number)
    }

    func translate(plain: Country) throws -> CountryModel {
        CountryModel(
            code: plain.code, code3: plain.code3, name: plain.name, officialName: plain.officialName, flag: plain.flag,
            number: plain.number,
            isFavourite: false)
    }

    func translate(from plain: Country, to model: inout CountryModel) throws {
        model.code3 = plain.code3
        model.name = plain.name
        model.officialName = plain.officialName
        model.flag = plain.flag
        model.number = plain.number
    }
}

struct SubdivisionModel: Model {
    var code: String
    var country: String
    var name: String
    var type: String
    var parent: String?

    static let schema = Schema(
        "subdivision", Self.init,
        Field("code", \.code, .primaryKey),
        Field("country", \.country, .indexed),
        Field("name", \.name, .indexed),
        Field("type", \.type),
        Field("parent", \.parent)
    )
}

struct SubdivisionTranslator: ReplacingTranslator {
    func translate(model: SubdivisionModel) throws -> Subdivision {
        Subdivision(code: model.code, country: model.country, name: model.name, type: model.type, parent: model.parent)
    }

    func translate(plain: Subdivision) throws -> SubdivisionModel {
        SubdivisionModel(code: plain.code, country: plain.country, name: plain.name, type: plain.type, parent: plain.parent)
    }
}

struct LanguageModel: Model {
    var code: String
    var shortCode: String?
    var name: String
    var scope: Language.Scope
    var isLiving: Bool

    static let schema = Schema(
        "language", Self.init,
        Field("code", \.code, .primaryKey),
        Field("shortCode", \.shortCode, .unique),
        Field("name", \.name, .indexed),
        Field("scope", \.scope),
        Field("isLiving", \.isLiving)
    )
}

struct LanguageTranslator: ReplacingTranslator {
    func translate(model: LanguageModel) throws -> Language {
        Language(code: model.code, shortCode: model.shortCode, name: model.name, scope: model.scope, isLiving: model.isLiving)
    }

    func translate(plain: Language) throws -> LanguageModel {
        LanguageModel(
            code: plain.code, shortCode: plain.shortCode, name: plain.name, scope: plain.scope, isLiving: plain.isLiving)
    }
}
