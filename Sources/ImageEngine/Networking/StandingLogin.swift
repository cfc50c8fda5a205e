/// Credentials that a request is given by the configuration: marks that tell one set of them from another (C-10).
extension TransportSettings {
    /// The marks of a request.
    ///
    /// - Parameters:
    ///   - hop: The request without what the rules add.
    ///   - dressed: The request with it.
    func standingLogins(of hop: Hop, dressed: Hop) -> [String] {
        var marks: [String] = []
        if dressed.authorization == nil, hop.mayUseNetrc, let mark = netrcMark(for: hop.url.host) { marks.append(mark) }
        let secrets = dressed.fields.dropFirst(hop.fields.count).filter { !Hop.crossesOrigins($0.name.text) }
        var added = secrets.map { "\($0.name.text.asciiLowercased) \($0.value.text)" }
        if hop.authorization == nil, let authorization = dressed.authorization { added.append(authorization.scopeText) }
        if !added.isEmpty { marks.append("host " + Digest(of: added.joined(separator: "\n")).hex) }
        if let certificate = certificate(for: dressed) {
            // Whether the server asks for it is not known beforehand.
            let bytes = try? StorageFolder.read(certificate.file, followsLinks: true)
            marks.append(
                "certificate " + (bytes?.withUnsafeBytes { Digest(of: $0) } ?? Digest(of: certificate.file)).hex)
        }
        return marks
    }

    /// The certificate that the server of a request gets to see if it asks for one.
    func certificate(for hop: Hop) -> ClientCertificate? {
        guard hop.url.isSecure else { return nil }
        if let certificate = hop.certificate { return certificate }
        return hop.isAtHome ? tls.clientCertificate.map { ClientCertificate(file: $0, key: tls.clientKey) } : nil
    }

    /// What tells one netrc file that has credentials for a host from another; nil when none has.
    ///
    /// Only libcurl reads it in earnest. Here it is enough to know whether it may be used: every change of the file counts.
    private func netrcMark(for host: String) -> String? {
        guard let netrc, let bytes = try? StorageFolder.read(netrc, followsLinks: true) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace || $0 == "\"" }
        guard words.contains(where: { $0 == "default" || $0.lowercased() == host }) else { return nil }
        return "netrc " + bytes.withUnsafeBytes { Digest(of: $0) }.hex
    }
}

extension ImageDownloader {
    /// What a download that meets no redirect is given by the configuration, as ``Download/login`` says it; nil for
    /// nothing.
    func standingLogin(of url: WebURL, _ options: ImageOptions) -> String? {
        let rules = rules
        guard let hop = try? rules.rewritten(Hop(url, options)) else { return nil }
        let marks = transport.settings.standingLogins(of: hop, dressed: hop.dressed(by: rules))
        return marks.isEmpty ? nil : marks.joined(separator: "\n")
    }
}
