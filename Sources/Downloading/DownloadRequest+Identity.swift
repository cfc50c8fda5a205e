internal import HTTPSemantics
package import Platform

extension DownloadRequest {
    /// Whether the rest of a body may be asked for: not when the caller or the cache asks for something particular, nor
    /// when a delegate may have a say in what is sent, for then we do not know with which credentials it was fetched.
    var canResume: Bool {
        validators == nil && method == .get
            && delegates?.questions.isDisjoint(with: [.modifyRequest, .redirect, .challenge]) ?? true
            && !headers.contains { field in
                let name = field.name.lowercased()
                return name.hasPrefix("if-") || name == "range" || name == "accept-encoding"
                    || name == "cache-control" && CacheControl(field.value).noStore
            }
    }

    /// What two requests have in common that have the same body: everything that is sent.
    var resumeIdentity: Digest { identity() }

    /// A digest that is equal for two requests, of any process, that would bring the same to the same place. It is made of
    /// everything that is sent, so that nobody waits for what is fetched with other credentials.
    ///
    /// - Parameters:
    ///   - place: What names the place that it is brought to.
    ///   - marks: What else tells it from others.
    package func identity(at place: [String] = ["", ""], marks: [String] = []) -> Digest {
        var fields = place + [webURL.text] + marks
        switch authorization ?? webURL.credentials {
        case .basic(let user, let password): fields += ["basic", user, password]
        case .bearer(let token): fields += ["bearer", token]
        case nil: fields += ["none"]
        }
        for (name, value) in headers { fields += [name.asciiLowercased, value] }
        // No header's name has a capital here.
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
