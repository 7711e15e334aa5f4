import DAOCore
import DAOSearch

/// A question to every database: its code, and the output of its answer.
struct Question: Sendable {
    let code: String
    let ask: @Sendable (Atlas) throws -> String

    static let all: [Question] = [
        Question(code: "countries.read(byPrimaryKey: \"SE\")") { atlas in
            try atlas.countries.read(byPrimaryKey: "SE").map {
                "\($0.flag) \($0.name), \($0.officialName ?? "–"), no. \($0.number)"
            } ?? "none"
        },
        Question(code: "subdivisions.read(orderedBy: .ascending(\\.name)) { $0.country == \"NO\" }") { atlas in
            shown(try atlas.subdivisions.read(orderedBy: .ascending(\.name)) { $0.country == "NO" }.map(\.name))
        },
        Question(code: "subdivisions.count { $0.name.contains(\"sao\", [.caseInsensitive, .diacriticInsensitive]) }") { atlas in
            "\(try atlas.subdivisions.count { $0.name.contains("sao", [.caseInsensitive, .diacriticInsensitive]) })"
        },
        Question(
            code: "subdivisions.read(orderedBy: .descending(\\.name), limit: 4) { $0.parent == nil && $0.type == \"Region\" }"
        ) { atlas in
            shown(
                try atlas.subdivisions.read(orderedBy: .descending(\.name), limit: 4) { $0.parent == nil && $0.type == "Region" }
                    .map { "\($0.name) (\($0.country))" })
        },
        Question(code: "languages.count { $0.isLiving && $0.shortCode != nil }") { atlas in
            "\(try atlas.languages.count { $0.isLiving && $0.shortCode != nil })"
        },
        Question(code: "languages.read(orderedBy: .ascending(\\.name)) { $0.name.hasPrefix(\"Sw\") && $0.isLiving }") { atlas in
            shown(try atlas.languages.read(orderedBy: .ascending(\.name)) { $0.name.hasPrefix("Sw") && $0.isLiving }.map(\.name))
        },
        Question(code: "languages.count(predicatedBy: \"scope == 'M' OR name LIKE[c] '*sign language'\")") { atlas in
            "\(try atlas.languages.count(predicatedBy: "scope == 'M' OR name LIKE[c] '*sign language'"))"
        },
        Question(code: "currencies.read(byPrimaryKeys: [\"SEK\", \"EUR\", \"XXL\", \"DKK\"])") { atlas in
            shown(try atlas.currencies.read(byPrimaryKeys: ["SEK", "EUR", "XXL", "DKK"]).map { "\($0.code) \($0.name)" })
        },
        Question(code: "countries.max(\\.number), .average(\\.number), countries.count { $0.officialName == nil }") { atlas in
            let average: Double? = try atlas.countries.average(\.number)
            return
                "\(try atlas.countries.max(\.number) ?? 0), \(average.map { "\(($0 * 100).rounded() / 100)" } ?? "–"), \(try atlas.countries.count { $0.officialName == nil })"
        },
        Question(code: "subdivisions.page(orderedBy: .ascending(\\.country), limit: 3, after: …)  // the 100th page") { atlas in
            var page = try atlas.subdivisions.page(orderedBy: .ascending(\.country), limit: 3)
            for _ in 1..<100 {
                guard let next = page.next else { break }
                page = try atlas.subdivisions.page(orderedBy: .ascending(\.country), limit: 3, after: next)
            }
            return shown(page.elements.map { "\($0.code) \($0.name)" })
        },
        Question(code: "names.search(\"egypt OR مصر OR 埃及 OR エジプト OR Єгипет OR อียิปต์\", limit: 50)  // in any language") { atlas in
            let hits = try atlas.names.search("egypt OR مصر OR 埃及 OR エジプト OR Єгипет OR อียิปต์", limit: 50)
            var names: [String] = []
            for hit in hits where !names.contains(hit.value.name) { names.append(hit.value.name) }
            return names.joined(separator: ", ") + ": in \(hits.count) languages"
        },
    ]

    private static func shown(_ names: [String]) -> String {
        let head = names.prefix(5).joined(separator: ", ")
        return names.isEmpty ? "none" : head + (names.count > 5 ? ", … \(names.count) in all" : "")
    }
}
