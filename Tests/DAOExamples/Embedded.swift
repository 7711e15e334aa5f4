// swift-format-ignore-file
// The code of Docs/Embedded.md, compiled and run. `DAODocumentationTests` checks that both are the same.

import DAOCore
import Foundation

struct Recipe: Plain, Model {
    var id: Int
    var title: String
    var tags: [String]
    var ratings: [Int]?                       // nil: nobody was asked

    static let schema = Schema(
        "recipe", Self.init,
        Field("id", \.id, .primaryKey),
        Field("title", \.title),
        Field("tags", \.tags),
        Field("ratings", \.ratings),
        indexes: [Index(elements: \.tags)]
    )
}

/// The ids of the recipes that each condition of the example finds, and the number of those without tags.
func arrays(_ database: any Database) throws -> (found: [[Int]], untagged: Int) {
    let recipes = DAO(storage: try database.storage(for: Recipe.self))
    try recipes.persist([
        Recipe(id: 1, title: "Pho", tags: ["quick", "region/vn"], ratings: [4, 5]),
        Recipe(id: 2, title: "Bread", tags: ["region/any"], ratings: nil),
        Recipe(id: 3, title: "Water", tags: [], ratings: [5]),
    ])

    let quick = try recipes.read { $0.tags.contains("quick") }
    let regional = try recipes.read { $0.tags.contains { $0.hasPrefix("region/") && $0 != "region/any" } }
    let loved = try recipes.read { $0.ratings.count > 1 && $0.ratings.allSatisfy { $0 >= 4 } }
    let untagged = try recipes.count { $0.tags.isEmpty }

    let same = try recipes.read(predicatedBy: Condition("tags CONTAINS %@ AND ratings.@count > 1", "quick"))
    let others = try recipes.read(predicatedBy: "NONE tags BEGINSWITH 'region/' OR ALL ratings >= 4")

    return ([quick, regional, loved, same, others].map { $0.map(\.id) }, untagged)
}

struct Address: CompositeFieldValue {
    var street: String
    var city: String
    var postCode: String?

    enum CodingKeys: String, CodingKey { case street, city, postCode = "post_code" }
}

struct Customer: Plain, Model {
    var id: Int
    var home: Address
    var work: Address?

    static let schema = Schema(
        "customer", Self.init,
        Field("id", \.id, .primaryKey),
        Field("home", \.home, .member("city", \.city), .member("post_code", \.postCode)),
        Field("work", \.work, .member("city", \.city))
    )
}

/// The ids of the customers that each condition of the example finds.
func members(_ database: any Database) throws -> [[Int]] {
    let customers = DAO(storage: try database.storage(for: Customer.self))
    try customers.persist([
        Customer(id: 1, home: Address(street: "A", city: "Berlin", postCode: "10115"), work: nil),
        Customer(id: 2, home: Address(street: "B", city: "Berlin"), work: Address(street: "C", city: "Potsdam")),
    ])

    let berliners = try customers.read { $0.home.city == "Berlin" && $0.home.postCode != nil }
    let commuters = try customers.read(predicatedBy: "work.city != nil AND NOT home.post_code BEGINSWITH '10'")

    return [berliners, commuters].map { $0.map(\.id) }
}
