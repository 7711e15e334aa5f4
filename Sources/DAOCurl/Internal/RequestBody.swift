import DAOSystemCurl
import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The body of a request while it is sent.
final class RequestBody {
    enum Step {
        /// So many bytes were read; none at the end.
        case bytes(Int)
        /// A stream has nothing yet; the loop is told when it has more.
        case nothingYet
        /// See ``error``.
        case failed
    }

    private enum Source {
        case data(Data)
        case stream(StreamReader)
    }

    /// The bytes of the whole body; nil when a stream does not tell.
    let size: Int?
    /// The bytes that were read so far.
    private(set) var sent = 0
    /// Why the body could not be read.
    private(set) var error: (any Error)?

    private var source: Source
    /// Makes the source once more; nil for a body that can be sent once.
    private let again: (() -> Source)?

    /// The body of a request; nil for a method that has none.
    init?(_ task: CurlTask, mayRepeat: Bool) {
        let request = task.sent.request
        let make: () -> Source
        var canRepeat = mayRepeat
        switch task.sent.body {
        case .data(let data):
            size = data.count
            make = { .data(data) }
        case .file(let url):
            size = Self.size(of: url)
            make = { Self.stream(task) { InputStream(url: url) } }
        case .stream(let makeStream):
            size = nil
            make = { Self.stream(task, makeStream) }
        case nil:
            if let data = request.httpBody {
                size = data.count
                make = { .data(data) }
            } else if request.httpBodyStream != nil {
                size = nil
                canRepeat = false
                make = { Self.stream(task) { request.httpBodyStream } }
            } else if ["POST", "PUT", "PATCH"].contains(request.httpMethod) {
                size = 0
                make = { .data(Data()) }
            } else {
                return nil
            }
        }
        source = make()
        again = canRepeat ? make : nil
    }

    /// The size of a file; nil for a pipe and the like.
    private static func size(of url: URL) -> Int? {
        let attributes = try? FileManager.default.attributesOfItem(atPath: url.resolvingSymlinksInPath().path)
        guard attributes?[.type] as? FileAttributeType == .typeRegular else { return nil }
        return (attributes?[.size] as? NSNumber)?.intValue
    }

    private static func stream(_ task: CurlTask, _ makeStream: @escaping @Sendable () -> InputStream?) -> Source {
        .stream(StreamReader(makeStream) { [weak task] in task.map { $0.loop.post(.feed($0)) } })
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        switch source {
        case .data(let data):
            let count = min(buffer.count, data.count - sent)
            let start = data.startIndex + sent
            if count > 0 { data.copyBytes(to: buffer, from: start..<start + count) }
            sent += count
            return .bytes(count)
        case .stream(let reader):
            // A file that grows meanwhile is sent as long as it was.
            let wanted = min(buffer.count, size.map { $0 - sent } ?? buffer.count)
            guard wanted > 0 else { return .bytes(0) }
            switch reader.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<wanted])) {
            case .bytes(0) where size != nil:
                error = URLError(.requestBodyStreamExhausted)
                return .failed
            case .bytes(let count):
                sent += count
                return .bytes(count)
            case .nothingYet:
                return .nothingYet
            case .failed(let failure):
                error = failure
                return .failed
            }
        }
    }

    /// Begins again.
    ///
    /// - Returns: false when the body may not, or cannot, be sent twice.
    func rewind() -> Bool {
        guard sent > 0 else { return true }
        guard let again else { return false }
        close()
        sent = 0
        source = again()
        return true
    }

    func close() {
        if case .stream(let reader) = source { reader.close() }
    }
}

/// Reads a stream on a thread of its own, since that can block, and at most a few blocks ahead.
final class StreamReader: @unchecked Sendable {
    // Sendable because every access to `state` happens between `condition.lock()` and `condition.unlock()`.

    enum Step {
        case bytes(Int)
        case nothingYet
        case failed(any Error)
    }

    private struct State {
        var blocks: [Data] = []
        /// The bytes of the first block that were read.
        var offset = 0
        var hasEnded = false
        var error: (any Error)?
        var isClosed = false
        /// Whether the loop waits for more.
        var isAwaited = false
    }

    private static let blockSize = 64 << 10
    private static let maximumBlocks = 4

    private let condition = NSCondition()
    private var state = State()
    private let tell: @Sendable () -> Void

    /// - Parameter tell: called on the reader's thread when there is more after ``Step/nothingYet``.
    init(_ makeStream: @escaping @Sendable () -> InputStream?, tell: @escaping @Sendable () -> Void) {
        self.tell = tell
        Thread.detachNewThread {
            dao_curl_name_thread("DAOCurl.stream")
            self.run(makeStream)
        }
    }

    private func run(_ makeStream: () -> InputStream?) {
        guard let stream = makeStream() else { return end(URLError(.requestBodyStreamExhausted)) }
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: Self.blockSize)
        while waitForSpace() {
            let count = stream.read(&buffer, maxLength: buffer.count)
            guard count > 0 else {
                return end(count < 0 ? stream.streamError ?? URLError(.requestBodyStreamExhausted) : nil)
            }
            change { $0.blocks.append(Data(buffer[..<count])) }
        }
    }

    /// Waits until the loop has taken a block. It ends at the latest with the transfer, which has a deadline.
    ///
    /// - Returns: false when nothing more is wanted.
    private func waitForSpace() -> Bool {
        condition.lock()
        defer { condition.unlock() }
        while state.blocks.count >= Self.maximumBlocks, !state.isClosed { condition.wait() }
        return !state.isClosed
    }

    private func end(_ error: (any Error)?) {
        change {
            $0.hasEnded = true
            $0.error = error
        }
    }

    private func change(_ body: (inout State) -> Void) {
        condition.lock()
        body(&state)
        let isAwaited = state.isAwaited
        state.isAwaited = false
        condition.unlock()
        if isAwaited { tell() }
    }

    /// Takes bytes that were read.
    func read(into buffer: UnsafeMutableRawBufferPointer) -> Step {
        condition.lock()
        defer { condition.unlock() }
        guard let block = state.blocks.first else {
            if let error = state.error { return .failed(error) }
            if state.hasEnded { return .bytes(0) }
            state.isAwaited = true
            return .nothingYet
        }
        let count = min(buffer.count, block.count - state.offset)
        block.copyBytes(to: buffer, from: state.offset..<state.offset + count)
        state.offset += count
        if state.offset == block.count {
            state.blocks.removeFirst()
            state.offset = 0
            condition.signal()
        }
        return .bytes(count)
    }

    /// Reads no more.
    func close() {
        condition.lock()
        state.isClosed = true
        state.blocks = []
        condition.signal()
        condition.unlock()
    }
}
