import DAOTestSupport
import Foundation

/// What a disk has of the files of one directory, and what only the operating system has.
///
/// A power cut leaves what was synced. Of each later write it leaves all, nothing, or some sectors, in any combination.
/// Of the later changes of names it leaves the first few, as journalling file systems do, and of the later changes of a
/// file's length too: a write is not there when an earlier change of the length is not. A file that is mapped for
/// writing has any content.
struct Disk {
    /// The smallest unit that a disk writes as a whole.
    private static let sector = 512

    private final class File {
        var durable: [UInt8] = []
        var pending: [Change] = []
        var isMapped = false

        func sync() {
            for change in pending { change.apply(to: &durable) }
            pending = []
        }
    }

    private enum Change {
        case write(offset: Int, bytes: [UInt8])
        case length(Int)

        func apply(to content: inout [UInt8]) {
            switch self {
            case .write(let offset, let bytes): Self.write(bytes[...], at: offset, to: &content)
            case .length(let length): Self.setLength(length, of: &content)
            }
        }

        /// Writes some of the sectors.
        func tear(_ content: inout [UInt8], _ random: inout SeededGenerator) {
            guard case .write(let offset, let bytes) = self else { return apply(to: &content) }
            let sectors = offset / sector...(offset + bytes.count - 1) / sector
            // The first sectors, the last sectors, whole pages, or any sectors.
            let (kind, middle) = (random.below(4), Int.random(in: sectors, using: &random))
            let pages = random.next()
            for number in sectors {
                let isThere =
                    switch kind {
                    case 0: number < middle
                    case 1: number > middle
                    case 2: pages >> UInt64(number / 8 % 64) & 1 == 1
                    default: random.chance(50)
                    }
                guard isThere else { continue }
                let range = max(number * sector, offset)..<min((number + 1) * sector, offset + bytes.count)
                Self.write(bytes[range.lowerBound - offset..<range.upperBound - offset], at: range.lowerBound, to: &content)
            }
        }

        private static func setLength(_ length: Int, of content: inout [UInt8]) {
            if length < content.count {
                content.removeLast(content.count - length)
            } else {
                content.append(contentsOf: repeatElement(0, count: length - content.count))
            }
        }

        private static func write(_ bytes: ArraySlice<UInt8>, at offset: Int, to content: inout [UInt8]) {
            if content.count < offset + bytes.count { setLength(offset + bytes.count, of: &content) }
            content.withUnsafeMutableBytes { content in
                bytes.withUnsafeBytes { content[offset..<offset + bytes.count].copyBytes(from: $0) }
            }
        }
    }

    private enum NameChange {
        case add(String, File)
        case rename(String, String)
        case remove(String)

        func apply(to names: inout [String: File]) {
            switch self {
            case .add(let name, let file): names[name] = file
            case .rename(let from, let to): names[to] = names.removeValue(forKey: from)
            case .remove(let name): names[name] = nil
            }
        }
    }

    /// By inode. Only files that the calls have created are known.
    private var files: [UInt64: File] = [:]
    private var names: [String: File] = [:]
    private var pendingNames: [NameChange] = []
    /// The files with all changes.
    private var current: [String: File] = [:]

    /// Counts a call that has returned.
    mutating func add(_ call: FileCall) {
        switch call {
        case .create(let number, let name):
            let file = File()
            files[number] = file
            change(.add(name, file))
        case .write(let number, let offset, let bytes): files[number]?.pending.append(.write(offset: offset, bytes: bytes))
        case .syncWrite(let number):
            // LMDB writes its meta pages so. No other write of them is pending.
            if let file = files[number] { file.pending.removeLast().apply(to: &file.durable) }
        case .truncate(let number, let length): files[number]?.pending.append(.length(length))
        case .sync(let number): files[number]?.sync()
        case .syncNames:
            for change in pendingNames { change.apply(to: &names) }
            pendingNames = []
        case .rename(let from, let to): change(.rename(from, to))
        case .remove(let name): change(.remove(name))
        case .link(let from, let to): if let file = current[from] { change(.add(to, file)) }
        case .map(let number): files[number]?.isMapped = true
        case .mark: break
        }
    }

    private mutating func change(_ name: NameChange) {
        pendingNames.append(name)
        name.apply(to: &current)
    }

    // MARK: Power cuts

    /// The files that a power cut leaves.
    struct State {
        var contents: [String: [UInt8]] = [:]
        /// What was lost.
        var description = ""
    }

    /// How many changes a power cut can lose.
    var pendingCount: Int { files.values.reduce(pendingNames.count) { $0 + ($1.isMapped ? 0 : $1.pending.count) } }

    /// Returns one of the states that a power cut can leave.
    ///
    /// - Parameter number: The number of the state. The first two are that everything is lost, and nothing. With few
    ///   changes all combinations of whole changes follow; all others are drawn.
    func state(_ number: Int, _ random: inout SeededGenerator) -> State {
        let all = pendingCount
        var combination: UInt64? = number == 0 ? 0 : number == 1 ? UInt64.max : nil
        if combination == nil, all <= 5, number < 2 + 1 << all { combination = UInt64(number - 2) }
        // How likely a change is there, and how likely it is torn.
        let (likelihood, tearing) = (random.pick([3, 20, 50, 80, 97]), random.pick([0, 10, 50]))
        var index = 0
        // Whether the next change is there.
        func isThere() -> Bool {
            defer { index += 1 }
            if let combination { return index >= 64 ? combination == UInt64.max : combination >> UInt64(index) & 1 == 1 }
            return random.chance(likelihood)
        }
        var names = self.names
        var lost = 0
        for (position, change) in pendingNames.enumerated() {
            guard isThere() else {
                lost = pendingNames.count - position
                index += lost - 1
                break
            }
            change.apply(to: &names)
        }
        var state = State(contents: [:], description: "names: \(lost) of \(pendingNames.count) lost")
        var done: [ObjectIdentifier: [UInt8]] = [:]
        for (name, file) in names.sorted(by: { $0.key < $1.key }) {
            if let content = done[ObjectIdentifier(file)] {
                state.contents[name] = content
                continue
            }
            var content = file.durable
            var fates = ""
            changes: for (position, change) in file.pending.enumerated() {
                switch (file.isMapped || isThere(), change) {
                case (true, _) where combination == nil && random.chance(tearing):
                    change.tear(&content, &random)
                    fates += "t"
                case (true, _):
                    change.apply(to: &content)
                    fates += "+"
                case (false, .write): fates += "-"
                case (false, .length):
                    fates += String(repeating: "-", count: file.pending.count - position)
                    break changes
                }
            }
            if file.isMapped, combination == nil, random.chance(30) {
                content.withUnsafeMutableBytes { content in
                    for position in Swift.stride(from: 0, to: content.count - 7, by: 8) {
                        content.storeBytes(of: random.next(), toByteOffset: position, as: UInt64.self)
                    }
                }
            }
            if !fates.isEmpty { state.description += "; \(name): \(fates)" }
            state.contents[name] = content
            done[ObjectIdentifier(file)] = content
        }
        return state
    }
}
