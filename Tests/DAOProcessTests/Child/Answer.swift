import Foundation

/// Writes a line to the parent immediately: the parent must get it even if this process is killed a moment
/// later.
func answer(_ something: some CustomStringConvertible) {
    var line = "\(something)\n"
    line.withUTF8 { bytes in
        var rest = UnsafeRawBufferPointer(bytes)[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
            if count > 0 { rest = rest.dropFirst(count) } else if errno != EINTR { exit(1) }
        }
    }
}
