import DAOTransport
import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A request for the loop, and the transfer that takes its response.
final class CurlTask: TransferTask {
    let sent: RedirectableRequest
    let url: URL
    let headerLimit: Int
    let transfer: Transfer
    let loop: CurlLoop

    init(_ sent: RedirectableRequest, url: URL, headerLimit: Int, transfer: Transfer, loop: CurlLoop) {
        self.sent = sent
        self.url = url
        self.headerLimit = headerLimit
        self.transfer = transfer
        self.loop = loop
    }

    /// The transfer has every response that arrived.
    var response: URLResponse? { nil }

    func resume() { loop.post(.start(self)) }
    func cancel() { loop.post(.stop(self)) }

    /// Ends the transfer with an error of URL loading.
    func fail(_ code: URLError.Code, _ text: String) {
        transfer.finish(
            URLError(code, userInfo: [NSLocalizedDescriptionKey: text, NSURLErrorFailingURLErrorKey: url]))
    }
}
