extension TransportSettings {
    /// What tells one netrc file that has credentials for a host from another; nil when none has.
    ///
    /// Only libcurl reads it in earnest. Here it is enough to know whether it may be used: every change of the file counts.
    func netrcMark(for host: String) -> String? {
        guard let netrc, let bytes = try? StorageFolder.read(netrc, followsLinks: true) else { return nil }
        let words = String(decoding: bytes, as: UTF8.self).split { $0.isWhitespace || $0 == "\"" }
        guard words.contains(where: { $0 == "default" || $0.lowercased() == host }) else { return nil }
        return "netrc " + bytes.withUnsafeBytes { Digest(of: $0) }.hex
    }
}

extension ImageDownloader {
    /// See ``TransportSettings/netrcMark(for:)``.
    func netrcMark(for host: String) -> String? { transport.settings.netrcMark(for: host) }
}
