/// Random numbers that follow from a seed: the same ones in every run, on every machine.
///
/// SplitMix64 of Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014.
package struct SeededGenerator: RandomNumberGenerator, Sendable {
    private var state: UInt64

    /// Begins with a seed.
    package init(seed: UInt64) { state = seed }

    /// The next number.
    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number from zero to below a bound.
    package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }

    /// True in so many cases of a hundred.
    package mutating func chance(_ percent: Int) -> Bool { below(100) < percent }

    /// One of a list that is not empty.
    package mutating func pick<Element>(_ elements: [Element]) -> Element { elements[below(elements.count)] }

    /// One of a list that is not empty, each as often as its weight says.
    package mutating func weighted<Element>(_ elements: [(weight: Int, element: Element)]) -> Element {
        var ticket = below(elements.reduce(0) { $0 + $1.weight })
        for (weight, element) in elements {
            if ticket < weight { return element }
            ticket -= weight
        }
        return elements[elements.count - 1].element
    }

    /// A value, or nil one time in three.
    package mutating func maybe<Value>(_ value: Value) -> Value? { below(3) == 0 ? nil : value }
}
