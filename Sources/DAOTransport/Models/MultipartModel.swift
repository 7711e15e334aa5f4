import Foundation

/// A file that is sent with a form.
public enum MultipartFile: Sendable, Hashable {
    /// Bytes in memory, with the file name and the content type to send.
    case data(Data, fileName: String, contentType: String)
    /// A file on disk, read when the body is made. It keeps its name and is sent as
    /// `application/octet-stream`.
    case url(URL)
    /// A file on disk, read when the body is made, with another name and content type.
    case customWithURL(URL, fileName: String, contentType: String)
}

/// A model with files: the payload maps through both layers, and the files stay unchanged.
///
/// ```swift
/// let form = MultipartModel(payloadModel: profile, files: ["avatar": .url(avatar)])
/// let body = try HTTPBody.multipart(form.toDTO().toRaw())
/// ```
public struct MultipartModel<Payload> {
    /// The fields of the form.
    public var payloadModel: Payload

    /// The files by the name of their form field.
    public var files: [String: MultipartFile]

    /// Creates a model with files.
    public init(payloadModel: Payload, files: [String: MultipartFile] = [:]) {
        self.payloadModel = payloadModel
        self.files = files
    }
}

extension MultipartModel: Sendable where Payload: Sendable {}
extension MultipartModel: Equatable where Payload: Equatable {}

extension MultipartModel: RawEncodable where Payload: RawEncodable {
    /// The raw payload with the same files.
    public func toRaw() throws -> MultipartModel<Payload.Raw> {
        MultipartModel<Payload.Raw>(payloadModel: try payloadModel.toRaw(), files: files)
    }
}

extension MultipartModel: DTOEncodable where Payload: DTOEncodable {
    /// The payload's entry with the same files.
    public func toDTO() throws -> MultipartModel<Payload.DTO> {
        MultipartModel<Payload.DTO>(payloadModel: try payloadModel.toDTO(), files: files)
    }
}

extension HTTPBody {
    /// A `multipart/form-data` body: a part for every member of the payload, then a part for every file, both
    /// ordered by name.
    ///
    /// Strings are sent unchanged, other values as their JSON text. `null` is not sent. In the names of fields and files,
    /// quotes and control characters are percent-encoded.
    ///
    /// - Throws: ``MappingError/cantMapObjectToRaw`` when the payload is not an object;
    ///   ``TransferError/invalidHeader(_:)`` when the content type of a file has a line break or another control
    ///   character; Foundation's error when a file cannot be read.
    public static func multipart(
        _ form: MultipartModel<Json>,
        boundary: String = "boundary-\(UUID().uuidString)"
    ) throws -> HTTPBody {
        guard case .object(let members) = form.payloadModel else { throw MappingError.cantMapObjectToRaw }
        var data = Data()
        func append(_ disposition: String, contentType: String? = nil, _ content: Data) {
            data.append(Data("--\(boundary)\r\nContent-Disposition: form-data; \(disposition)\r\n".utf8))
            if let contentType { data.append(Data("Content-Type: \(contentType)\r\n".utf8)) }
            data.append(Data("\r\n".utf8))
            data.append(content)
            data.append(Data("\r\n".utf8))
        }

        for (name, value) in members.sorted(by: { $0.key < $1.key }) where !value.isNull {
            append("name=\"\(quoted(name))\"", Data((value.stringValue ?? value.serialized()).utf8))
        }
        for (name, file) in form.files.sorted(by: { $0.key < $1.key }) {
            let (content, fileName, contentType) = try contents(of: file)
            guard contentType.isHeaderValue else { throw TransferError.invalidHeader("Content-Type") }
            append("name=\"\(quoted(name))\"; filename=\"\(quoted(fileName))\"", contentType: contentType, content)
        }
        data.append(Data("--\(boundary)--\r\n".utf8))
        return HTTPBody(data: data, contentType: "multipart/form-data; boundary=\(boundary)")
    }

    private static func contents(of file: MultipartFile) throws -> (Data, name: String, contentType: String) {
        switch file {
        case .data(let data, let fileName, let contentType): (data, fileName, contentType)
        case .url(let url): (try Data(contentsOf: url), url.lastPathComponent, "application/octet-stream")
        case .customWithURL(let url, let fileName, let contentType): (try Data(contentsOf: url), fileName, contentType)
        }
    }

    /// A name escaped for a header as browsers do: line breaks and quotes must not end it. Nor does a header have other
    /// control characters than tabs. Scalars count: a line break or a quote can be a part of a longer character.
    private static func quoted(_ name: String) -> String {
        var quoted = ""
        for scalar in name.unicodeScalars {
            let isControl = scalar.value < 0x20 && scalar != "\t" || scalar.value == 0x7F
            if isControl || scalar == "\"" {
                let digits = String(scalar.value, radix: 16, uppercase: true)
                quoted += digits.count == 1 ? "%0\(digits)" : "%\(digits)"
            } else {
                quoted.unicodeScalars.append(scalar)
            }
        }
        return quoted
    }
}
