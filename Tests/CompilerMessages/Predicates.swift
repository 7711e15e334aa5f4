// swift-format-ignore-file
import DAOCore
import Foundation

func wrongType(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.read { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try messages.read(limit: 5) { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try messages.read(orderedBy: .ascending(\.date)) { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try messages.first { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try messages.count { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try messages.exists { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try messages.page(limit: 5) { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try messages.update(where: { $0.text == 5 }) { $0.text = "" }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try messages.erase { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = messages.observe { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = Query<MessageModel>(where: Condition { $0.text == 5 })  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = Condition<MessageModel> { $0.date > "yesterday" }  // expect-error: binary operator '>' cannot be applied to operands of type 'FieldExpression<MessageModel, Date>' and 'String'
    _ = try messages.read { $0.id == 1.5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, Int>' and 'Double'
    _ = try messages.read { $0.date > 5 && $0.isRead }  // expect-error: binary operator '>' cannot be applied to operands of type 'FieldExpression<MessageModel, Date>' and 'Int'
}

func misspeltField(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.read { $0.txt == "a" }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'txt' using key path from root type 'MessageModel'
    _ = try messages.first { $0.txt == "a" }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'txt' using key path from root type 'MessageModel'
    _ = try messages.count { $0.txt == "a" }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'txt' using key path from root type 'MessageModel'
    _ = try messages.exists { $0.txt == "a" }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'txt' using key path from root type 'MessageModel'
    _ = try messages.erase { $0.txt == "a" }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'txt' using key path from root type 'MessageModel'
    _ = messages.observe { $0.txt == "a" }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'txt' using key path from root type 'MessageModel'
    _ = Condition<MessageModel> { $0.txt == "a" }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'txt' using key path from root type 'MessageModel'
    _ = try messages.read { !$0.isRaed }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'isRaed' using key path from root type 'MessageModel'
}

func nilOfRequired(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.read { $0.text == nil }  // expect-error: '==' is unavailable: a field that is not optional is never nil
    _ = try messages.first { $0.text == nil }  // expect-error: '==' is unavailable: a field that is not optional is never nil
    _ = try messages.count { $0.text == nil }  // expect-error: '==' is unavailable: a field that is not optional is never nil
    _ = try messages.erase { $0.text == nil }  // expect-error: '==' is unavailable: a field that is not optional is never nil
    _ = messages.observe { $0.text == nil }  // expect-error: '==' is unavailable: a field that is not optional is never nil
    _ = Condition<MessageModel> { $0.text == nil }  // expect-error: '==' is unavailable: a field that is not optional is never nil
}

func unknownCase(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.read { $0.priority == .urgent }  // expect-error: reference to member 'urgent' cannot be resolved without a contextual type
    _ = try messages.read { !$0.isRead && $0.priority == .urgent }  // expect-error: reference to member 'urgent' cannot be resolved without a contextual type
    _ = try messages.read { $0.priority.in([.low, .urgent]) }  // expect-error: type 'Priority' has no member 'urgent'
}

func noSuchOperation(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.read { $0.address < nil }  // expect-error: operator function '<' requires that 'Address' conform to 'OrderedFieldValue'
    _ = try messages.read { $0.id.contains("5") }  // expect-error: referencing instance method 'contains' on 'FieldExpression' requires that 'Int' conform to 'ListValue'
    _ = try messages.read { $0.text.count > 3 }  // expect-error: property 'count' requires that 'String' conform to 'ListValue'
    _ = try messages.read { $0.text.lowercased() == "a" }  // expect-error: subscript 'subscript(dynamicMember:)' requires that 'String' conform to 'ToOneValue'
    _ = try messages.read { $0.draft?.contains("a") }  // expect-error: cannot convert value of type 'Condition<MessageModel>?' to closure result type 'Condition<MessageModel>'
    _ = try messages.read { $0.id.in(["a", "b"]) }  // expect-error: cannot convert value of type 'String' to expected element type 'Int'
    _ = try messages.read { $0.id == $0.text }  // expect-error: cannot convert value of type 'FieldExpression<MessageModel, String>' to expected argument type 'FieldExpression<MessageModel, Int>'
    _ = try messages.read { $0.rating.between(1, 2) }  // expect-error: missing argument label 'and:' in call
    _ = try messages.read { $0.priority > .low }  // expect-error: operator function '>' requires that 'Priority' conform to 'OrderedFieldValue'
}

func arrays(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.read { $0.tags.contains(5) }  // expect-error: cannot convert value of type 'Int' to expected argument type 'Array<String>.ListedValue' (aka 'String')
    _ = try messages.read { $0.tags.contains(nil) }  // expect-error: 'nil' is not compatible with expected argument type 'Array<String>.ListedValue' (aka 'String')
    _ = try messages.read { $0.tags.contains { $0 == 5 } }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<ListElement<Array<String>.ListedValue>, Array<String>.ListedValue>' (aka 'FieldExpression<ListElement<String>, String>') and 'Int'
    _ = try messages.read { $0.tags.contains { $0.isRead } }  // expect-error: referencing instance method 'contains' on 'FieldExpression' requires the types 'Inner?' and 'Bool' be equivalent
    _ = try messages.read { $0.tags.allSatisfy("a") }  // expect-error: cannot convert value of type 'String' to expected argument type '(FieldExpression<ListElement<Array<String>.ListedValue>, Array<String>.ListedValue>) -> some ConditionConvertible<ListElement<Value.ListedValue>>'
    _ = try messages.read { $0.tags.count == "a" }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, Array<String>.ListCount>' (aka 'FieldExpression<MessageModel, Int>') and 'String'
    _ = try messages.read { $0.tags.hasPrefix("a") }  // expect-error: referencing instance method 'hasPrefix' on 'FieldExpression' requires that '[String]' conform to 'TextFieldValue'
    _ = try messages.read { $0.tags > ["a"] }  // expect-error: operator function '>' requires that '[String]' conform to 'OrderedFieldValue'
    _ = try messages.read { $0.tags.contains { _ in $0.isRead } }  // expect-error: anonymous closure arguments cannot be used inside a closure that has explicit arguments
    _ = try messages.read { row in row.tags.contains { $0 == row.text } }  // expect-error: cannot convert value of type 'FieldExpression<MessageModel, String>' to expected argument type 'FieldExpression<ListElement<Array<String>.ListedValue>, Array<String>.ListedValue>' (aka 'FieldExpression<ListElement<String>, String>')
    _ = try messages.read { $0.tags.first == "a" }  // expect-error: subscript 'subscript(dynamicMember:)' requires that '[String]' conform to 'ToOneValue'
    _ = try messages.read { $0.tags[0] == "a" }  // expect-error: subscript 'subscript(dynamicMember:)' requires that '[String]' conform to 'ToOneValue'
    _ = try messages.read { $0.address.contains("a") }  // expect-error: referencing instance method 'contains' on 'Optional' requires that 'Address' conform to 'TextFieldValue'
}

func noCondition(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.read { true }  // expect-error: contextual type for closure argument list expects 1 argument, which cannot be implicitly ignored
    _ = try messages.read { $0.text }  // expect-error: referencing instance method 'read(orderedBy:limit:offset:where:)' on 'FieldExpression' requires the types 'String' and 'Bool' be equivalent
    _ = try messages.read { $0.text = "a" }  // expect-error: type '()' cannot conform to 'ConditionConvertible'
    _ = try messages.read { isRead == true }  // expect-error: cannot find 'isRead' in scope
    _ = try messages.erase { $0 }  // expect-error: instance method 'erase(where:)' requires that 'FieldProxy<MessageModel>' conform to 'ConditionConvertible'
}

func manyClauses(_ messages: DAO<MessageTranslator>, _ from: Date, _ to: Date) throws {
    _ = try messages.read {
        $0.date >= from && $0.date < to && !$0.isRead && $0.rating > 4.5 && $0.text.hasPrefix("a")
            && $0.draft == nil && $0.id > 5 && $0.id < "9"  // expect-error: binary operator '<' cannot be applied to operands of type 'FieldExpression<MessageModel, Int>' and 'String'
    }
    _ = try messages.erase {
        $0.date >= from && $0.date < to && !$0.isRead && $0.rating > 4.5 && $0.text.hasPrefix("a")
            && $0.drft == nil && $0.id > 5 && $0.id < 9  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'drft' using key path from root type 'MessageModel'
    }
    _ = try messages.read {
        $0.date >= from && $0.date < to && !$0.isRead && $0.rating > 4.5 && $0.text.hasPrefix("a")
            && $0.text == nil && $0.id > 5 && $0.id < 9  // expect-error: '==' is unavailable: a field that is not optional is never nil
    }
}

func keys(_ messages: DAO<MessageTranslator>) throws {
    _ = try messages.read(byPrimaryKey: 1.5)  // expect-error: argument type 'Double' does not conform to expected type 'UniqueIDConvertible'
    _ = try messages.read(byPrimaryKey: Date())  // expect-error: argument type 'Date' does not conform to expected type 'UniqueIDConvertible'
    _ = try messages.read(byPrimaryKeys: [Date()])  // expect-error: instance method 'read(byPrimaryKeys:)' requires that 'Date' conform to 'UniqueIDConvertible'
    _ = try messages.erase(byPrimaryKey: nil)  // expect-error: 'nil' is not compatible with expected argument type 'any UniqueIDConvertible'
    _ = try messages.read(5)  // expect-error: missing argument label 'byPrimaryKey:' in call
    _ = try messages.exists(byPrimaryKey: Date())  // expect-error: argument type 'Date' does not conform to expected type 'UniqueIDConvertible'
}

func asynchronous(_ messages: DAO<MessageTranslator>) async throws {
    _ = try await messages.read { $0.txt == "a" }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'txt' using key path from root type 'MessageModel'
    _ = try await messages.read { $0.text == nil }  // expect-error: '==' is unavailable: a field that is not optional is never nil
    _ = try await messages.read(orderedBy: .ascending(\.date), limit: 5) { $0.text == 5 }  // expect-error: binary operator '==' cannot be applied to operands of type 'FieldExpression<MessageModel, String>' and 'Int'
    _ = try await messages.count { $0.id > "5" }  // expect-error: binary operator '>' cannot be applied to operands of type 'FieldExpression<MessageModel, Int>' and 'String'
    _ = try await messages.erase { $0.date < 5 }  // expect-error: binary operator '<' cannot be applied to operands of type 'FieldExpression<MessageModel, Date>' and 'Int'
    _ = try await messages.sum(\.rating) { $0.isRaed }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'isRaed' using key path from root type 'MessageModel'
    _ = try await messages.read(byPrimaryKey: Date())  // expect-error: argument type 'Date' does not conform to expected type 'UniqueIDConvertible'
    for try await unread in messages.observe(where: { $0.isRaed }) { print(unread) }  // expect-error: value of type 'FieldProxy<MessageModel>' has no dynamic member 'isRaed' using key path from root type 'MessageModel'
}

func otherWay(_ messages: DAO<MessageTranslator>, _ ids: [Int], _ names: Set<String>, _ text: String?) throws {
    _ = try messages.read { ids.contains($0.id) }  // expect-error: 'contains' is unavailable: a condition asks the field: $0.field.in(values)
    _ = try messages.read { names.contains($0.text) && $0.isRead }  // expect-error: 'contains' is unavailable: a condition asks the field: $0.field.in(values)
    _ = try messages.read { text == nil || $0.text == text! }  // expect-error: '||' is unavailable: choose the condition before: Condition(unlessNil: value) { $0.field == $1 }
    _ = try messages.read { $0.date > 5 || $0.isRead }  // expect-error: 'FieldExpression<MessageModel, Date>'
    _ = try messages.read { $0.priority == Priority.medium }  // expect-error: type 'Priority' has no member 'medium'
    _ = ids.contains("a")  // expect-error: instance method 'contains' requires the types 'Int' and 'String.Element' (aka 'Character') be equivalent
    _ = ids.isEmpty || text  // expect-error: optional type 'String?' cannot be used as a boolean; test for '!= nil' instead
}
