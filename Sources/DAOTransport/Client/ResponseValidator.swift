import Foundation

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The usual judgement of an answer: first what the server says is wrong, then its status.
public enum ResponseValidator {
    private struct ErrorBody: Decodable {
        struct Details: Decodable {
            let code: APIError.Code
            let title: String?
            let description: String?
        }

        let error: Details
    }

    /// Checks an answer.
    ///
    /// - Throws: ``APIError`` when the body is `{"error": {"code": …}}`, whatever the status; else ``HTTPError`` when the status
    ///   is outside 200..<300.
    public static func validate(_ response: HTTPURLResponse, with body: Data) throws {
        if let details = try? JSONDecoder().decode(ErrorBody.self, from: body).error {
            throw APIError(
                code: details.code,
                title: details.title ?? details.description,
                statusCode: response.statusCode
            )
        }
        guard (200..<300).contains(response.statusCode) else {
            throw HTTPError(statusCode: response.statusCode, url: response.url, body: body)
        }
    }
}
