package import HTTPSemantics
internal import Platform

/// Credentials that a request is given by the configuration: marks that tell one set of them from another (C-10).
extension TransportSettings {
    /// The request with all that the configuration adds: by its rules, and cookies.
    func dressed(_ outgoing: HTTPRequest, by rules: RequestRules) -> HTTPRequest {
        var dressed = outgoing.dressed(by: rules)
        if let cookies, !dressed.fields.contains(where: { $0.name.text.asciiLowercased == "cookie" }),
            let value = cookies.value(for: outgoing.url, now: wallSeconds())
        {
            dressed.fields += HTTPRequest.fields([("Cookie", value)])
        }
        return dressed
    }

    /// The marks of a request.
    ///
    /// - Parameters:
    ///   - outgoing: The request without what the rules add.
    ///   - dressed: The request with it.
    func standingLogins(of outgoing: HTTPRequest, dressed: HTTPRequest) -> [String] {
        var marks: [String] = []
        if dressed.authorization == nil, outgoing.mayUseNetrc, let mark = netrcMark(for: outgoing.url.host) {
            marks.append(mark)
        }
        let secrets = dressed.fields.dropFirst(outgoing.fields.count).filter {
            !RequestContent.crossesOrigins($0.name.text)
        }
        var added = secrets.map { "\($0.name.text.asciiLowercased) \($0.value.text)" }
        if outgoing.authorization == nil, let authorization = dressed.authorization {
            added.append(authorization.scopeText)
        }
        if !added.isEmpty { marks.append("host " + Digest(of: added.joined(separator: "\n")).hex) }
        if let certificate = certificate(for: dressed) {
            // Whether the server asks for it is not known beforehand.
            let bytes = try? Files.read(certificate.file, followsLinks: true)
            marks.append(
                "certificate " + (bytes?.withUnsafeBytes { Digest(of: $0) } ?? Digest(of: certificate.file)).hex)
        }
        return marks
    }

    /// The certificate that the server of a request gets to see if it asks for one.
    package func certificate(for outgoing: HTTPRequest) -> ClientCertificate? {
        guard outgoing.url.isSecure else { return nil }
        if let certificate = outgoing.certificate { return certificate }
        return outgoing.isAtHome ? tls.clientCertificate.map { ClientCertificate(file: $0, key: tls.clientKey) } : nil
    }

    /// What tells one netrc file that has credentials for a host from another; nil when none has.
    ///
    /// Only libcurl reads it in earnest. Here it is enough to know whether it may be used: every change of the file counts.
    private func netrcMark(for host: String) -> String? {
        guard let netrc, let bytes = try? Files.read(netrc, followsLinks: true) else { return nil }
        // An address of IPv6 stands there without its brackets; words in any case, in quotes, and with backslashes.
        let text = String(decoding: bytes, as: UTF8.self).filter { $0 != "\\" }.lowercased()
        let words = Set(text.split { $0.isWhitespace || $0 == "\"" })
        let bare = host.filter { $0 != "[" && $0 != "]" }
        guard [host, bare, "default"].contains(where: { words.contains($0[...]) }) else { return nil }
        return "netrc " + bytes.withUnsafeBytes { Digest(of: $0) }.hex
    }
}

extension ImageDownloader {
    /// What a download that meets no redirect is given by the configuration, as ``Download/login`` says it; nil for
    /// nothing.
    package func standingLogin(of url: WebURL, _ request: RequestContent) -> String? {
        let rules = rules
        guard let outgoing = try? rules.rewritten(HTTPRequest(url, request)) else { return nil }
        let marks = transport.settings.standingLogins(
            of: outgoing, dressed: transport.settings.dressed(outgoing, by: rules))
        return marks.isEmpty ? nil : marks.joined(separator: "\n")
    }
}
