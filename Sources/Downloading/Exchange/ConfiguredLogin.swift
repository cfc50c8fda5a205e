package import HTTPSemantics
internal import Platform

/// Credentials that the configuration adds to a request, and marks that distinguish one set of them from another. A
/// response fetched with credentials answers only requests with the same.
extension TransportSettings {
    /// The request with everything that the configuration adds: by rules, and cookies.
    func configured(_ outgoing: HTTPRequest, by rules: RequestRules) -> HTTPRequest {
        var configured = outgoing.applying(rules)
        if let cookies, !configured.fields.contains(where: { $0.name.text.asciiLowercased == "cookie" }),
            let value = cookies.value(for: outgoing.url, now: wallSeconds())
        {
            configured.fields += HTTPRequest.fields([("Cookie", value)])
        }
        return configured
    }

    /// The marks of a request's configured credentials.
    ///
    /// - Parameters:
    ///   - outgoing: The request without the additions of the configuration.
    ///   - configured: The request with them.
    func configuredLogins(of outgoing: HTTPRequest, configured: HTTPRequest) -> [String] {
        var marks: [String] = []
        if configured.authorization == nil, outgoing.mayUseNetrc, let mark = netrcMark(for: outgoing.url.host) {
            marks.append(mark)
        }
        let secrets = configured.fields.dropFirst(outgoing.fields.count).filter {
            !RequestContent.crossesOrigins($0.name.text)
        }
        var added = secrets.map { "\($0.name.text.asciiLowercased) \($0.value.text)" }
        if outgoing.authorization == nil, let authorization = configured.authorization {
            added.append(authorization.scopeText)
        }
        if !added.isEmpty { marks.append("host " + Digest(of: added.joined(separator: "\n")).hex) }
        if let certificate = certificate(for: configured) {
            // Counts even if the server does not request the certificate, because that is not known beforehand.
            let bytes = try? Files.read(certificate.file, followsLinks: true)
            marks.append(
                "certificate " + (bytes?.withUnsafeBytes { Digest(of: $0) } ?? Digest(of: certificate.file)).hex)
        }
        return marks
    }

    /// The certificate that the server of a request receives if it requests one.
    package func certificate(for outgoing: HTTPRequest) -> ClientCertificate? {
        guard outgoing.url.isSecure else { return nil }
        if let certificate = outgoing.certificate { return certificate }
        return outgoing.isAtOriginalOrigin
            ? tls.clientCertificate.map { ClientCertificate(file: $0, key: tls.clientKey) } : nil
    }

    /// A mark that distinguishes netrc files with credentials for a host. `nil`: the file has none.
    ///
    /// libcurl parses the file. Here it is enough to know whether it may be used, so every change of the file counts.
    private func netrcMark(for host: String) -> String? {
        guard let netrc, let bytes = try? Files.read(netrc, followsLinks: true) else { return nil }
        // netrc files name IPv6 addresses without brackets, and words in any case, in quotes, and with backslashes.
        let text = String(decoding: bytes, as: UTF8.self).filter { $0 != "\\" }.lowercased()
        let words = Set(text.split { $0.isWhitespace || $0 == "\"" })
        let bare = host.filter { $0 != "[" && $0 != "]" }
        guard [host, bare, "default"].contains(where: { words.contains($0[...]) }) else { return nil }
        return "netrc " + bytes.withUnsafeBytes { Digest(of: $0) }.hex
    }
}

extension ImageDownloader {
    /// The marks of the credentials that the configuration adds to a download without redirects, as in
    /// ``Download/login``. `nil`: none.
    package func configuredLogin(of url: WebURL, _ request: RequestContent) -> String? {
        let rules = rules
        guard let outgoing = try? rules.rewritten(HTTPRequest(url, request)) else { return nil }
        let marks = transport.settings.configuredLogins(
            of: outgoing, configured: transport.settings.configured(outgoing, by: rules))
        return marks.isEmpty ? nil : marks.joined(separator: "\n")
    }
}
