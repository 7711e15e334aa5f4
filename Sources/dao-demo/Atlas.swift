import DAOCore

/// The five DAOs on one database. Their types do not depend on the kind of database.
struct Atlas: Sendable {
    let database: any Database
    let countries: DAO<CountryTranslator>
    let subdivisions: DAO<SubdivisionTranslator>
    let languages: DAO<LanguageTranslator>
    let currencies: DAO<Currency>
    let names: DAO<CountryName>

    init(_ database: any Database) throws {
        self.database = database
        countries = DAO(storage: try database.storage(for: CountryModel.self), translator: CountryTranslator())
        subdivisions = DAO(storage: try database.storage(for: SubdivisionModel.self), translator: SubdivisionTranslator())
        languages = DAO(storage: try database.storage(for: LanguageModel.self), translator: LanguageTranslator())
        currencies = DAO(storage: try database.storage(for: Currency.self))
        names = DAO(storage: try database.storage(for: CountryName.self))
    }

    /// Stores all values in one transaction: all or none.
    func persist(_ world: World) throws {
        try database.transaction {
            try countries.persist(world.countries)
            try subdivisions.persist(world.subdivisions)
            try languages.persist(world.languages)
            try currencies.persist(world.currencies)
            try names.persist(world.names)
        }
    }
}

/// The imported values.
struct World {
    let countries: [Country]
    let subdivisions: [Subdivision]
    let languages: [Language]
    let currencies: [Currency]
    /// The names of the countries in all languages, English included.
    let names: [CountryName]

    var count: Int { countries.count + subdivisions.count + languages.count + currencies.count + names.count }

    init(_ codes: IsoCodes) throws {
        countries = try codes.entries("3166-1", as: CountryEntry.self).map { try Country($0) }
        subdivisions = try codes.entries("3166-2", as: SubdivisionEntry.self).map { Subdivision($0) }
        languages = try codes.entries("639-3", as: LanguageEntry.self).map { try Language($0) }
        currencies = try codes.entries("4217", as: CurrencyEntry.self).map { try Currency($0) }
        let translations = try codes.translations("3166-1")
        names = countries.flatMap { country in
            [CountryName(code: country.code + ".en", name: country.name)]
                + translations.compactMap { language, texts in
                    texts[country.name].map { CountryName(code: "\(country.code).\(language)", name: $0) }
                }
        }
    }
}
