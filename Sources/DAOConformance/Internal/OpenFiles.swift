import Foundation

/// Returns the names of the files in a directory that this process has open, in any order.
func openFiles(in directory: URL) -> [String] {
    guard let real = realpath(directory.path, nil) else { return [] }
    defer { free(real) }
    let folder = String(cString: real) + "/"
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: "/dev/fd")) ?? []
    return numbers.compactMap { CInt($0).flatMap(path) }.filter { $0.hasPrefix(folder) }.map {
        String($0.dropFirst(folder.count))
    }
}

/// The path of an open file; nil for a number that no file has.
private func path(of descriptor: CInt) -> String? {
    #if canImport(Darwin)
        var path = [CChar](repeating: 0, count: Int(MAXPATHLEN))
        return path.withUnsafeMutableBufferPointer { path in
            fcntl(descriptor, F_GETPATH, path.baseAddress!) == 0 ? String(cString: path.baseAddress!) : nil
        }
    #else
        return try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/\(descriptor)")
    #endif
}
