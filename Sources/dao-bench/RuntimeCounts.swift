import DAOCore
import Foundation

/// What calls cost beside time: memory that was allocated, and references that Swift counted up.
///
/// The addresses of the functions that do it are replaced in the tables of all loaded libraries while a closure runs. References
/// that the standard library counts by itself are left out. (The run time has variables for these functions, which tools replace.
/// But with them it takes short texts for objects, in Swift 6.3 on Linux.)
enum RuntimeCounts {
    #if os(Linux) && arch(x86_64)
        private typealias Allocate = @convention(c) (Int) -> UnsafeMutableRawPointer?
        private typealias Reallocate = @convention(c) (UnsafeMutableRawPointer?, Int) -> UnsafeMutableRawPointer?
        private typealias Clear = @convention(c) (Int, Int) -> UnsafeMutableRawPointer?
        private typealias Retain = @convention(c) (Int) -> Int
        private typealias RetainTimes = @convention(c) (Int, UInt32) -> Int

        private static let allocations = Atomic(0)
        private static let retains = Atomic(0)
        // Written before any of the closures below runs. Those of memory do not begin with their functions: the addresses would be
        // among the replaced ones.
        nonisolated(unsafe) private static var allocate: Allocate = { _ in nil }
        nonisolated(unsafe) private static var reallocate: Reallocate = { _, _ in nil }
        nonisolated(unsafe) private static var clear: Clear = { _, _ in nil }
        nonisolated(unsafe) private static var retain: Retain = { $0 }
        nonisolated(unsafe) private static var retainTimes: RetainTimes = { object, _ in object }

        /// Runs a closure, and returns what was counted; nil where the run time does not have these functions.
        static func count(_ body: () throws -> Void) rethrows -> (allocations: Int, retains: Int)? {
            func function<Function>(_ name: String, _: Function.Type) -> Function? {
                dlsym(UnsafeMutableRawPointer(bitPattern: 0), name).map { unsafeBitCast($0, to: Function.self) }
            }
            guard let malloc = function("malloc", Allocate.self), let realloc = function("realloc", Reallocate.self),
                let calloc = function("calloc", Clear.self),
                let up = function("swift_retain", Retain.self), let upTimes = function("swift_retain_n", RetainTimes.self)
            else { return nil }
            (allocate, reallocate, clear, retain, retainTimes) = (malloc, realloc, calloc, up, upTimes)
            let counting: Allocate = { size in
                RuntimeCounts.allocations.add(1, ordering: .relaxed)
                return RuntimeCounts.allocate(size)
            }
            let countingAgain: Reallocate = { memory, size in
                RuntimeCounts.allocations.add(1, ordering: .relaxed)
                return RuntimeCounts.reallocate(memory, size)
            }
            let countingClear: Clear = { count, size in
                RuntimeCounts.allocations.add(1, ordering: .relaxed)
                return RuntimeCounts.clear(count, size)
            }
            // A text that is short, or a literal, is passed like an object, and is negative: the functions then do nothing.
            let countingUp: Retain = { object in
                if object > 0 { RuntimeCounts.retains.add(1, ordering: .relaxed) }
                return RuntimeCounts.retain(object)
            }
            let countingUpTimes: RetainTimes = { object, times in
                if object > 0 { RuntimeCounts.retains.add(1, ordering: .relaxed) }
                return RuntimeCounts.retainTimes(object, times)
            }
            let replacements = [
                "malloc": unsafeBitCast(counting, to: UInt.self), "realloc": unsafeBitCast(countingAgain, to: UInt.self),
                "calloc": unsafeBitCast(countingClear, to: UInt.self),
                "swift_retain": unsafeBitCast(countingUp, to: UInt.self),
                "swift_bridgeObjectRetain": unsafeBitCast(countingUp, to: UInt.self),
                "swift_retain_n": unsafeBitCast(countingUpTimes, to: UInt.self),
                "swift_bridgeObjectRetain_n": unsafeBitCast(countingUpTimes, to: UInt.self),
            ]
            let places = ImportedFunctions.places(of: Set(replacements.keys)).map { place, name in
                (place, place.load(as: UInt.self), replacements[name] ?? 0)
            }
            let before = (allocations.load(ordering: .relaxed), retains.load(ordering: .relaxed))
            for (place, _, replacement) in places { place.storeBytes(of: replacement, as: UInt.self) }
            defer { for (place, function, _) in places { place.storeBytes(of: function, as: UInt.self) } }
            try body()
            return (allocations.load(ordering: .relaxed) - before.0, retains.load(ordering: .relaxed) - before.1)
        }
    #else
        /// Nil: the calling conventions of the run time's functions differ.
        static func count(_ body: () throws -> Void) rethrows -> (allocations: Int, retains: Int)? { nil }
    #endif
}

#if os(Linux) && arch(x86_64)
    /// The places where the program and its libraries have the addresses of functions of other libraries
    /// ([ELF](https://refspecs.linuxbase.org/elf/gabi4+/ch5.dynamic.html)).
    private enum ImportedFunctions {
        private typealias Visit = @convention(c) (UnsafeRawPointer?, Int, UnsafeMutableRawPointer?) -> CInt
        private typealias Iterate = @convention(c) (Visit, UnsafeMutableRawPointer?) -> CInt

        /// What a place is for.
        private struct Search {
            let names: Set<String>
            var found: [(place: UnsafeMutableRawPointer, name: String)] = []
        }

        /// The places that have the addresses of functions, with their names. They can be written.
        static func places(of names: Set<String>) -> [(place: UnsafeMutableRawPointer, name: String)] {
            guard let symbol = dlsym(UnsafeMutableRawPointer(bitPattern: 0), "dl_iterate_phdr") else { return [] }
            var search = Search(names: names)
            let iterate = unsafeBitCast(symbol, to: Iterate.self)
            withUnsafeMutablePointer(to: &search) { search in
                _ = iterate(
                    { library, _, search in
                        guard let library, let search = search?.assumingMemoryBound(to: Search.self) else { return 0 }
                        ImportedFunctions.add(library, to: &search.pointee)
                        return 0
                    }, search)
            }
            return search.found
        }

        /// Adds the places of a library: `dl_phdr_info` has its base, its name, its headers and their number.
        private static func add(_ library: UnsafeRawPointer, to search: inout Search) {
            let base = library.load(as: UInt.self)
            guard let headers = library.load(fromByteOffset: 16, as: UnsafeRawPointer?.self) else { return }
            for number in 0..<Int(library.load(fromByteOffset: 24, as: UInt16.self)) {
                let header = headers + number * 56
                // PT_DYNAMIC
                guard header.load(as: UInt32.self) == 2 else { continue }
                let address = base + header.load(fromByteOffset: 16, as: UInt.self)
                guard let section = UnsafeRawPointer(bitPattern: address) else { continue }
                addPlaces(base, section, to: &search)
            }
        }

        private static func addPlaces(_ base: UInt, _ section: UnsafeRawPointer, to search: inout Search) {
            var values: [Int: UInt] = [:]
            var entry = section
            while case let kind = entry.load(as: Int.self), kind != 0 {
                values[kind] = entry.load(fromByteOffset: 8, as: UInt.self)
                entry += 16
            }
            // DT_SYMTAB and DT_STRTAB; the kernel's own library has no addresses here, but offsets.
            guard let symbols = values[6], let names = values[5], symbols > base, names > base else { return }
            // DT_JMPREL with DT_PLTRELSZ, and DT_RELA with DT_RELASZ.
            for (start, size) in [(values[23], values[2]), (values[7], values[8])] {
                guard let start, let size else { continue }
                for offset in stride(from: 0, to: size, by: 24) {
                    guard let relocation = UnsafeRawPointer(bitPattern: start + offset) else { continue }
                    let number = UInt(relocation.load(fromByteOffset: 8, as: UInt64.self) >> 32)
                    guard number != 0, let symbol = UnsafeRawPointer(bitPattern: symbols + number * 24),
                        let text = UnsafePointer<CChar>(bitPattern: names + UInt(symbol.load(as: UInt32.self))),
                        case let name = String(cString: text), search.names.contains(name),
                        let place = UnsafeMutableRawPointer(bitPattern: base + relocation.load(as: UInt.self)),
                        mprotect(
                            UnsafeMutableRawPointer(bitPattern: UInt(bitPattern: place) & ~4095), 4096, PROT_READ | PROT_WRITE)
                            == 0
                    else { continue }
                    search.found.append((place, name))
                }
            }
        }
    }
#endif
