// swift-format-ignore-file
import DAOCore
import Foundation

func sorts(_ messages: DAO<MessageTranslator>, _ articles: DAO<Article>) throws {
    _ = try messages.read(orderedBy: .ascending(\.tags))  // expect-error: requires that 'Array<String>' conform to 'OrderedFieldValue'
    _ = try messages.read(orderedBy: .ascending(\.address))  // expect-error: on 'Optional' requires that 'Address' conform to 'OrderedFieldValue'
    _ = try messages.read(orderedBy: .ascending(\.dtae))  // expect-error: value of type 'MessageModel' has no member 'dtae'
    _ = try messages.read(orderedBy: \.date)  // expect-error: cannot convert value of type 'KeyPath<Root, Value>' to expected argument type 'Sort<MessageModel>'
    _ = try messages.read(orderedBy: .ascending("date"))  // expect-error: cannot convert value of type 'String' to expected argument type 'KeyPath<MessageModel, Value>'
    _ = try messages.read(orderedBy: .descending(\.dtae), limit: 50) { !$0.isRead }  // expect-error: value of type 'MessageModel' has no member 'dtae'
    _ = try messages.read(orderedBy: "date")  // expect-error: cannot convert value of type 'String' to expected argument type 'Sort<MessageModel>'
    _ = try articles.read(orderedBy: .ascending(\.comments, \.text))  // expect-error: requires that 'Array<Comment>' conform to 'ToOneValue'
    _ = try articles.read(orderedBy: .ascending(\.writer, \.nme))  // expect-error: cannot infer key path type from context
    _ = try articles.read(orderedBy: .ascending(\.writer))  // expect-error: on 'Optional' requires that 'Writer' conform to 'OrderedFieldValue'
}

func totals(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.sum(\.text)  // expect-error: instance method 'sum(_:where:)' requires that 'String' conform to 'NumericFieldValue'
    _ = try messages.average(\.ratng)  // expect-error: value of type 'MessageModel' has no member 'ratng'
    _ = try messages.max(\.tags)  // expect-error: instance method 'max(_:where:)' requires that 'Array<String>' conform to 'OrderedFieldValue'
    _ = try messages.min(\.address)  // expect-error: referencing instance method 'min(_:where:)' on 'Optional' requires that 'Address' conform to 'OrderedFieldValue'
}

func groups(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.groups(by: \.dtae, totals: .count)  // expect-error: value of type 'MessageModel' has no member 'dtae'
    _ = try messages.groups(by: \.isRead, \.txt, totals: .count, .max(\.date))  // expect-error: value of type 'MessageModel' has no member 'txt'
    _ = try messages.groups(by: \.isRead, totals: .count, .max(\.dtae))  // expect-error: value of type 'MessageModel' has no member 'dtae'
    _ = try messages.groups(by: \.isRead, totals: .count { $0.isReed })  // expect-error: has no dynamic member 'isReed'
    _ = try messages.groups(by: \.isRead, totals: .cuont)  // expect-error: has no member 'cuont'
    _ = try messages.groups(by: \.isRead, totals: .count, having: .count > "3")  // expect-error: cannot convert value of type 'String' to expected argument type 'Int'
    _ = try messages.groups(by: \.isRead, totals: .sum(\.text))  // expect-error: requires that 'String' conform to 'NumericFieldValue'
    _ = try messages.groups(per: .day(\.date), totals: .count)  // expect-error: missing argument for parameter 'in' in call
    _ = try messages.groups(per: .day(\.isRead, in: .gmt), totals: .count)  // expect-error: requires the types 'Bool' and 'Date' be equivalent
    _ = try messages.groups(by: \.tags, totals: .count)  // expect-error: conform to 'OrderedFieldValue'
}
