internal import HTTPSemantics
package import Platform

extension DownloadRequest {
    /// `true` when a partial body of this request may be resumed. Not when the request has conditions or a range, nor
    /// when a delegate may change what is sent, because the credentials of the partial body are unknown then.
    var canResume: Bool {
        validators == nil && method == .get
            && delegates?.questions.isDisjoint(with: [.modifyRequest, .redirect, .challenge]) ?? true
            && !headers.contains { field in
                let name = field.name.lowercased()
                return name.hasPrefix("if-") || name == "range" || name == "accept-encoding"
                    || name == "cache-control" && CacheControl(field.value).noStore
            }
    }

    /// A digest of everything that is sent: equal for requests with the same body.
    var resumeIdentity: Digest { identity() }

    /// A digest that is equal for two requests, of any process, that fetch the same body for the same destination. It
    /// covers everything that is sent, so that nobody waits for a body fetched with other credentials.
    ///
    /// - Parameters:
    ///   - place: The name of the destination.
    ///   - marks: Further properties that distinguish the request.
    package func identity(at place: [String] = ["", ""], marks: [String] = []) -> Digest {
        var fields = place + [webURL.text] + marks
        switch authorization ?? webURL.credentials {
        case .basic(let user, let password): fields += ["basic", user, password]
        case .bearer(let token): fields += ["bearer", token]
        case nil: fields += ["none"]
        }
        for (name, value) in headers { fields += [name.asciiLowercased, value] }
        // No header's name has upper-case letters here, so these words cannot collide with one.
        if method != .get {
            fields += ["METHOD", method.rawValue, (body ?? []).withUnsafeBytes { Digest(of: $0) }.hex]
        }
        if let dataModifier { fields += ["MODIFIER", dataModifier.rawValue] }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(fields.reduce(0) { $0 + $1.utf8.count + 8 })
        for field in fields {
            withUnsafeBytes(of: field.utf8.count.littleEndian) { bytes.append(contentsOf: $0) }
            bytes.append(contentsOf: field.utf8)
        }
        return bytes.withUnsafeBytes { Digest(of: $0) }
    }
}
