internal import Platform

/// The directives of a `Cache-Control` field, of a response or of a request, that concern a private cache (RFC 9111,
/// 5.2; RFC 5861; RFC 8246).
///
/// `s-maxage`, `proxy-revalidate` and `private` address shared caches and have no effect here.
package struct CacheControl: Sendable, Equatable {
    /// The freshness lifetime in seconds. 0 when the value is not a number.
    package var maxAge: Int?
    /// `true` when the response must not be stored.
    package var noStore = false
    /// `true` when the response must be revalidated at every use.
    package var noCache = false
    /// `true` when the response must not be used without revalidation once it is stale.
    package var mustRevalidate = false
    /// `true` when the response is for everybody; `private` beside it is the stricter.
    package var isPublic = false
    /// `true` when the response does not change while it is fresh.
    package var immutable = false
    /// The number of seconds past freshness in which it may be used while it is refreshed in the background.
    package var staleWhileRevalidate = 0
    /// The number of seconds past freshness in which it may be used when revalidation fails.
    package var staleIfError = 0

    /// The number of seconds for which a request wants the response to remain fresh (RFC 9111, 5.2.1.3).
    package var minFresh = 0
    /// The number of seconds past freshness that a request accepts without revalidation; any number when it names none
    /// (RFC 9111, 5.2.1.2).
    package var maxStale: Int?
    /// `true` when a request accepts only a stored response (RFC 9111, 5.2.1.7).
    package var onlyIfCached = false

    /// Parses a field. The stricter of contradictory directives counts.
    package init(_ text: String) {
        var isPrivate = false
        for directive in Self.directives(text) {
            switch directive.name {
            case "max-age": maxAge = min(maxAge ?? .max, Self.seconds(directive.value) ?? 0)
            case "min-fresh": minFresh = max(minFresh, Self.seconds(directive.value) ?? HTTPFreshness.longest)
            case "max-stale":
                // A value that is not a number allows nothing.
                let seconds = directive.value.map { Self.seconds($0) ?? 0 }
                maxStale = min(maxStale ?? .max, seconds ?? HTTPFreshness.longest)
            case "only-if-cached": onlyIfCached = true
            case "no-store": noStore = true
            // A list of fields in `no-cache` does not make the rest of the response usable.
            case "no-cache": noCache = true
            case "must-revalidate": mustRevalidate = true
            case "public": isPublic = true
            case "private": isPrivate = true
            case "immutable": immutable = true
            case "stale-while-revalidate": staleWhileRevalidate = Self.seconds(directive.value) ?? 0
            case "stale-if-error": staleIfError = Self.seconds(directive.value) ?? 0
            default: break
            }
        }
        if isPrivate { isPublic = false }
    }

    /// Reads the directives of a request's header fields. `nil`: it has none. `Pragma` counts only without
    /// `Cache-Control` (RFC 9111, 5.4).
    package init?(of headers: [String: String]) {
        func values(_ name: String) -> [String] { headers.filter { $0.key.lowercased() == name }.map(\.value) }
        let own = values("cache-control")
        if own.isEmpty, !values("pragma").contains(where: { CacheControl($0).noCache }) { return nil }
        self.init(own.isEmpty ? "no-cache" : own.joined(separator: ","))
    }

    /// A number of seconds, clamped so that sums cannot overflow. `nil`: not a number.
    package static func seconds(_ text: String?) -> Int? {
        guard let text, !text.isEmpty, text.has(only: 0x30...0x39) else { return nil }
        return text.utf8.count > 18 ? HTTPFreshness.longest : min(Int(text) ?? 0, HTTPFreshness.longest)
    }

    /// The lower-case names, and the values without quotes. A comma in quotes is no separator.
    private static func directives(_ text: String) -> [(name: String, value: String?)] {
        var found: [(name: String, value: String?)] = [("", nil)]
        var (isQuoted, isEscaped) = (false, false)
        for character in text {
            let last = found.count - 1
            switch character {
            case "\\" where isQuoted && !isEscaped: isEscaped = true
            case "\"" where isQuoted && !isEscaped: isQuoted = false
            case "," where !isQuoted: found.append(("", nil))
            case "=" where found[last].value == nil: found[last].value = ""
            case "\"" where found[last].value != nil && !isQuoted: isQuoted = true
            default:
                isEscaped = false
                if found[last].value == nil {
                    found[last].name.append(character)
                } else {
                    found[last].value?.append(character)
                }
            }
        }
        // The meaning of the text after an unclosed quote is unknown.
        if isQuoted { found.append(("no-cache", nil)) }
        return found.map { (trimmed($0.name).lowercased(), $0.value.map(trimmed)) }.filter { !$0.0.isEmpty }
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
