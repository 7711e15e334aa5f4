// A stand-in for SwiftUI and for the parts of Apple's Foundation that the guide uses: their declarations, as Apple documents them, without
// anything that they do. The rehearsal type-checks the guide's code against it.

import Foundation

@resultBuilder public enum ViewBuilder {
    public static func buildBlock() -> EmptyView { EmptyView() }
    public static func buildBlock<each Content: View>(_ content: repeat each Content) -> TupleView<(repeat each Content)> {
        TupleView((repeat each content))
    }
    public static func buildBlock<Content: View>(_ content: Content) -> Content { content }
    public static func buildExpression<Content: View>(_ content: Content) -> Content { content }
    public static func buildIf<Content: View>(_ content: Content?) -> Content? { content }
    public static func buildEither<First: View, Second: View>(first: First) -> Either<First, Second> { Either() }
    public static func buildEither<First: View, Second: View>(second: Second) -> Either<First, Second> { Either() }
}

@MainActor @preconcurrency public protocol View {
    associatedtype Body: View
    @ViewBuilder @MainActor @preconcurrency var body: Body { get }
}

extension Never: View { public var body: Never { fatalError() } }
extension Optional: View where Wrapped: View { public var body: Never { fatalError() } }

public struct EmptyView: View {
    public nonisolated init() {}
    public var body: Never { fatalError() }
}
public struct TupleView<Content>: View {
    nonisolated init(_ content: Content) {}
    public var body: Never { fatalError() }
}
public struct Either<First: View, Second: View>: View {
    nonisolated init() {}
    public var body: Never { fatalError() }
}
public struct Text: View {
    public nonisolated init(_ text: some StringProtocol) {}
    public var body: Never { fatalError() }
}
public struct ProgressView: View {
    public nonisolated init() {}
    public var body: Never { fatalError() }
}
public struct Button: View {
    public init(_ title: some StringProtocol, action: @escaping @MainActor () -> Void) {}
    public var body: Never { fatalError() }
}
public struct TextField: View {
    public init(_ title: some StringProtocol, text: Binding<String>) {}
    public var body: Never { fatalError() }
}
public struct List: View {
    public init(@ViewBuilder content: () -> some View) {}
    public init<Elements: RandomAccessCollection, ID: Hashable>(
        _ elements: Elements, id: KeyPath<Elements.Element, ID>, @ViewBuilder rowContent: @escaping (Elements.Element) -> some View
    ) {}
    public var body: Never { fatalError() }
}
public struct ForEach: View {
    public init<Elements: RandomAccessCollection, ID: Hashable>(
        _ elements: Elements, id: KeyPath<Elements.Element, ID>, @ViewBuilder content: @escaping (Elements.Element) -> some View
    ) {}
    public var body: Never { fatalError() }
}

extension View {
    public nonisolated func overlay(@ViewBuilder content: () -> some View) -> some View { EmptyView() }
    public nonisolated func onSubmit(_ action: @escaping () -> Void) -> some View { EmptyView() }
    @inlinable public nonisolated func task(@_inheritActorContext _ action: sending @escaping @isolated(any) () async -> Void) -> some View {
        EmptyView()
    }
}

@propertyWrapper public struct State<Value> {
    public init(wrappedValue: Value) { fatalError() }
    public init(initialValue: Value) { fatalError() }
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
    public var projectedValue: Binding<Value> { fatalError() }
}
extension State where Value: ExpressibleByNilLiteral { public init() { fatalError() } }
@propertyWrapper public struct Binding<Value> {
    public init(get: @escaping () -> Value, set: @escaping (Value) -> Void) {}
    public var wrappedValue: Value {
        get { fatalError() }
        nonmutating set {}
    }
}
@propertyWrapper public struct Environment<Value> {
    public init(_ path: KeyPath<EnvironmentValues, Value>) {}
    public var wrappedValue: Value { fatalError() }
}
public struct EnvironmentValues { public var scenePhase: ScenePhase { fatalError() } }
public enum ScenePhase: Sendable { case background, inactive, active }

@resultBuilder public enum SceneBuilder {
    public static func buildBlock<Content: Scene>(_ content: Content) -> Content { content }
}
@MainActor @preconcurrency public protocol Scene {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
}
extension Never: Scene {}
public struct WindowGroup: Scene {
    public nonisolated init(@ViewBuilder content: () -> some View) {}
    public var body: Never { fatalError() }
}
extension Scene {
    public nonisolated func onChange<Value: Equatable>(
        of value: Value, initial: Bool = false, _ action: @escaping (_ old: Value, _ new: Value) -> Void
    ) -> some Scene { WindowGroup { EmptyView() } }
}
@MainActor @preconcurrency public protocol App {
    associatedtype Body: Scene
    @SceneBuilder @MainActor @preconcurrency var body: Body { get }
    @MainActor @preconcurrency init()
}
@MainActor @preconcurrency public protocol PreviewProvider {
    associatedtype Previews: View
    @ViewBuilder @MainActor @preconcurrency static var previews: Previews { get }
}

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier group: String) -> URL? { nil }
}
