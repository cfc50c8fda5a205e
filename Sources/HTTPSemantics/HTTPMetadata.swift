internal import Platform

/// The stored facts about a response beside its body. Any process can derive its freshness and its permitted readers
/// from them. Has a compact text form.
package struct HTTPMetadata: Sendable, Equatable {
    /// The time of arrival, on the cache's clock.
    package var receivedAt: Int
    /// The age on arrival, in seconds.
    var initialAge: Int
    /// The response's `Date`, in seconds since 1970.
    package var date: Int
    package var status = 200
    package var cacheControl: String?
    package var expires: String?
    /// The names in `Vary`, in lower case and sorted. `*` alone: no other request matches.
    var vary: [String] = []
    /// `true` when a delegate was asked about the request and added no credentials.
    package var isApproved = false
    /// `true` when it was asked for without anything of one user, and may go to other machines.
    package var isShareable = false
    /// `true` when it came from an alternative source and not from the one requested first.
    package var isAlternative = false
    package private(set) var route: RedirectConstraints?
    /// The salt of the digests, so that equal credentials of two entries have different digests.
    private var salt = ""
    /// The digest of the request fields that ``vary`` names.
    private var variant: String?
    private var credentials: String?
    /// The method and the digest of the body of a request that is not a GET.
    private var demand: String?

    /// Extracts the facts from a response.
    ///
    /// - Parameters:
    ///   - fields: Its header fields, with lower-case names.
    ///   - moment: The time of arrival, on the cache's clock.
    ///   - wall: The same moment in seconds since 1970.
    ///   - route: The constraints of the redirects that led to it.
    package init(
        _ fields: [String: String], status: Int = 200, to scope: HTTPScope, at moment: Int, wall: Int,
        delay: Int = 0, isAlternative: Bool = false, route: RedirectConstraints? = nil
    ) {
        (self.route, receivedAt, self.status, self.isAlternative) = (route, moment, status, isAlternative)
        let date = fields["date"].flatMap(HTTPDate.seconds)
        self.date = date ?? wall
        initialAge = HTTPFreshness.initialAge(age: fields["age"], date: date, at: wall, delay: delay)
        cacheControl = Self.plain(fields["cache-control"], limit: 2048, otherwise: "no-cache")
        expires = Self.plain(fields["expires"], limit: 64, otherwise: "0")
        vary = Self.names(fields["vary"])
        seal(for: scope)
    }

    /// Returns the entry after a successful revalidation: new header fields replace the old ones (RFC 9111, 3.2 and
    /// 4.3.4).
    package func merging(
        _ fields: [String: String], to scope: HTTPScope, at moment: Int, wall: Int, delay: Int = 0,
        route: RedirectConstraints? = nil
    ) -> HTTPMetadata {
        let new = HTTPMetadata(fields, to: scope, at: moment, wall: wall, delay: delay)
        var merged = self
        (merged.route, merged.receivedAt) = (route, moment)
        (merged.initialAge, merged.date) = (new.initialAge, new.date)
        if fields["cache-control"] != nil { merged.cacheControl = new.cacheControl }
        if fields["expires"] != nil { merged.expires = new.expires }
        if fields["vary"] != nil { merged.vary = new.vary }
        merged.seal(for: scope)
        return merged
    }

    /// The freshness of the response.
    ///
    /// - Parameter lastModified: The response's `Last-Modified`, which is stored elsewhere.
    package func freshness(lastModified: String?) -> HTTPFreshness {
        HTTPFreshness(
            cacheControl: cacheControl, expires: expires, date: date, lastModified: lastModified, status: status,
            route: route?.control, initialAge: initialAge)
    }

    /// The age in seconds at a moment on the cache's clock.
    package func age(at moment: Int) -> Int {
        HTTPFreshness.clamped(initialAge + HTTPFreshness.span(from: receivedAt, to: moment))
    }

    /// `true` when the response may answer a request in `scope` to which its credentials permit that: method and body are
    /// the same, and so are all fields that `Vary` names.
    package func suits(_ scope: HTTPScope) -> Bool {
        guard isDemanded(by: scope) else { return false }
        let names = allVary
        return names.isEmpty || !names.contains("*") && variant == digest(scope.values(of: names))
    }

    /// `true` when method and body are those of a request in `scope`.
    package func isDemanded(by scope: HTTPScope) -> Bool { demand == scope.demand }

    /// `true` when the credentials of a request in `scope` permit it to use this response: both have none or the same,
    /// or the server says that the response is for everybody.
    package func belongs(to scope: HTTPScope) -> Bool {
        guard let credentials else { return scope.credentials == nil || isForEverybody }
        return credentials == scope.credentials.map(digest)
    }

    /// `true` when the server says that the response is public and does not vary. To a redirect that led there, it does
    /// not say that: another user may be sent elsewhere.
    package var isForEverybody: Bool {
        vary.isEmpty && route?.isRedirected != true && cacheControl.map { CacheControl($0).isPublic } == true
    }

    /// `true` when the text form says that the response was fetched with credentials. Does not parse the whole text.
    package static func isPersonal(_ text: String) -> Bool {
        var text = text
        return text.withUTF8 { text in
            var line = text[...]
            while line.first != UInt8(ascii: "u") {
                guard let end = line.firstIndex(of: UInt8(ascii: "\n")) else { return false }
                line = line[(end + 1)...]
            }
            return true
        }
    }

    /// The text form of a response that was fetched with credentials that no request has.
    package static let nobodys = "r0\na0\nd0\ncno-cache\nu-"

    /// Forgets the digest of the credentials: the entry belongs to their user by its name.
    package mutating func forgetCredentials() { credentials = nil }

    private mutating func seal(for scope: HTTPScope) {
        let secret = scope.credentials
        let names = allVary
        if salt.isEmpty, secret != nil || !names.isEmpty { salt = String(UInt64.random(in: .min ... .max), radix: 36) }
        credentials = secret.map(digest)
        demand = scope.demand
        variant = names.isEmpty || names.contains("*") ? nil : digest(scope.values(of: names))
    }

    /// The names in `Vary` of the response and of the redirects that led to it.
    private var allVary: [String] {
        guard let route, !route.vary.isEmpty else { return vary }
        return route.vary.union(vary).sorted()
    }

    private func digest(_ text: String) -> String { String(Digest(of: salt + "\n" + text).hex.prefix(32)) }

    /// The field in a form that can be stored. An implausible value is replaced by a strict one.
    private static func plain(_ text: String?, limit: Int, otherwise: String) -> String? {
        guard let text else { return nil }
        return text.utf8.count <= limit && text.has(only: 0x20...0x7E) ? text : otherwise
    }

    private static func names(_ text: String?) -> [String] {
        guard let text else { return [] }
        let names = Set(text.lowercased().split { ", \t".contains($0) }.map(String.init))
        let isHonest = text.utf8.count <= 1024 && names.allSatisfy { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) } }
        return !isHonest || names.contains("*") ? ["*"] : names.sorted()
    }
}

/// The text form: one line for each part, its letter and its value.
extension HTTPMetadata {
    /// The text stored in the index.
    package var text: String {
        var text = ""
        func add(_ letter: String, _ value: String = "") {
            if !text.isEmpty { text += "\n" }
            text += letter
            text += value
        }
        add("r", String(receivedAt))
        add("a", String(initialAge))
        add("d", String(date))
        if status != 200 { add("s", String(status)) }
        if let cacheControl { add("c", cacheControl) }
        if let expires { add("e", expires) }
        if !vary.isEmpty { add("v", vary.joined(separator: ",")) }
        if isAlternative { add("o") }
        if isApproved { add("q") }
        if isShareable { add("x") }
        if let route {
            add("l", route.text)
            if !route.vary.isEmpty { add("w", route.vary.sorted().joined(separator: ",")) }
        }
        if !salt.isEmpty { add("n", salt) }
        if let variant { add("h", variant) }
        if let credentials { add("u", credentials) }
        if let demand { add("p", demand) }
        return text
    }

    /// Reads the text form. `nil`: it is not one that this software writes.
    package init?(_ text: String) {
        var values: [Character: String] = [:]
        for line in text.split(separator: "\n") { values[line[line.startIndex]] = String(line.dropFirst()) }
        func number(_ letter: Character) -> Int? { values[letter].flatMap { Int($0) } }
        func list(_ letter: Character) -> [String] { values[letter]?.split(separator: ",").map(String.init) ?? [] }
        guard let moment = number("r"), HTTPDate.years.contains(moment), let age = number("a"), let date = number("d")
        else { return nil }
        self.init([:], to: HTTPScope(), at: moment, wall: date)
        initialAge = HTTPFreshness.clamped(age)
        if values["s"] != nil { status = number("s") ?? 0 }
        (cacheControl, expires, vary) = (values["c"], values["e"], list("v"))
        (isAlternative, isApproved) = (values["o"] != nil, values["q"] != nil)
        isShareable = values["x"] != nil
        route = values["l"].map { RedirectConstraints($0, vary: Set(list("w"))) }
        (salt, variant, credentials, demand) = (values["n"] ?? "", values["h"], values["u"], values["p"])
    }
}
