/// The header fields that go with a request whose own options do not name them, as far as an answer may be chosen by them
/// (RFC 9111, 4.1): a plain value.
struct AddedFields: Sendable, Equatable {
    /// By their names in small letters.
    private var fields: [String: String]

    /// The fields of every request.
    init(accept: String, userAgent: String) { fields = ["accept": accept, "user-agent": userAgent] }

    /// The fields of a request to a host, with what the rules add; of several rules for one host the first counts that
    /// names something.
    func adding(_ rules: [HostRule], to host: String) -> AddedFields {
        var added = self
        for rule in rules.reversed() where rule.matches(host) {
            for (name, value) in rule.headers { added.fields[name.asciiLowercased] = value }
        }
        return added
    }

    /// The value of a field; nil if it is not added.
    subscript(name: String) -> String? { fields[name] }
}

extension ImageDownloader {
    /// What goes with a request for `url` that names nothing itself: what the rules say of the host that it goes to, which
    /// may be that of a mirror, else the usual.
    func addedFields(for url: String) -> AddedFields {
        let usual = transport.settings.addedFields
        let rules = rules
        guard !rules.hosts.isEmpty, let web = try? WebURL(url),
            let hop = try? rules.rewritten(Hop(web, RequestContent()))
        else { return usual }
        return usual.adding(rules.hosts, to: hop.url.host)
    }
}
