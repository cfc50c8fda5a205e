internal import Platform

/// The directives of a `Cache-Control` field, of an answer or of a request, that concern a private cache (RFC 9111, 5.2;
/// RFC 5861; RFC 8246).
///
/// `s-maxage`, `proxy-revalidate`, `public` and `private` are for caches that many users share, and say nothing here.
package struct CacheControl: Sendable, Equatable {
    /// Seconds for which the answer is fresh; 0 for what is no number of seconds.
    package var maxAge: Int?
    /// It is not to be kept.
    package var noStore = false
    /// It is not to be used again unasked.
    package var noCache = false
    /// Once stale it is never to be used unasked.
    package var mustRevalidate = false
    /// It does not change as long as it is fresh.
    package var immutable = false
    /// Seconds past freshness for which it may be used while it is asked for anew.
    package var staleWhileRevalidate = 0
    /// Seconds past freshness for which it may be used when asking fails.
    package var staleIfError = 0

    /// Seconds for which a request wants the answer to be fresh yet (RFC 9111, 5.2.1.3).
    package var minFresh = 0
    /// Seconds past freshness for which a request takes the answer unasked; any when it names none (RFC 9111, 5.2.1.2).
    package var maxStale: Int?
    /// A request is content with what is stored, or nothing (RFC 9111, 5.2.1.7).
    package var onlyIfCached = false

    /// What a field says; of directives that contradict each other the stricter counts.
    package init(_ text: String) {
        for directive in Self.directives(text) {
            switch directive.name {
            case "max-age": maxAge = min(maxAge ?? .max, Self.seconds(directive.value) ?? 0)
            case "min-fresh": minFresh = max(minFresh, Self.seconds(directive.value) ?? HTTPFreshness.longest)
            case "max-stale":
                // One that is no number allows nothing.
                let seconds = directive.value.map { Self.seconds($0) ?? 0 }
                maxStale = min(maxStale ?? .max, seconds ?? HTTPFreshness.longest)
            case "only-if-cached": onlyIfCached = true
            case "no-store": noStore = true
            // Naming single fields does not make the rest any fresher.
            case "no-cache": noCache = true
            case "must-revalidate": mustRevalidate = true
            case "immutable": immutable = true
            case "stale-while-revalidate": staleWhileRevalidate = Self.seconds(directive.value) ?? 0
            case "stale-if-error": staleIfError = Self.seconds(directive.value) ?? 0
            default: break
            }
        }
    }

    /// What a request says with its header fields; nil if it says nothing. `Pragma` counts where there is no other word
    /// (RFC 9111, 5.4).
    package init?(of headers: [String: String]) {
        func values(_ name: String) -> [String] { headers.filter { $0.key.lowercased() == name }.map(\.value) }
        let own = values("cache-control")
        if own.isEmpty, !values("pragma").contains(where: { CacheControl($0).noCache }) { return nil }
        self.init(own.isEmpty ? "no-cache" : own.joined(separator: ","))
    }

    /// A span in seconds; nil for what is none. Clamped, so that it can be calculated with.
    package static func seconds(_ text: String?) -> Int? {
        guard let text, !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
        return text.utf8.count > 18 ? HTTPFreshness.longest : min(Int(text) ?? 0, HTTPFreshness.longest)
    }

    /// Names in small letters, and values without their quotes. A comma within quotes separates nothing.
    private static func directives(_ text: String) -> [(name: String, value: String?)] {
        var found: [(name: String, value: String?)] = []
        var name = ""
        var value: String?
        var isQuoted = false
        var isEscaped = false
        func end() {
            let trimmed = trimmed(name).lowercased()
            if !trimmed.isEmpty { found.append((trimmed, value.map(Self.trimmed))) }
            name = ""
            value = nil
        }
        for character in text {
            if isEscaped {
                value?.append(character)
                isEscaped = false
            } else if isQuoted {
                switch character {
                case "\"": isQuoted = false
                case "\\": isEscaped = true
                default: value?.append(character)
                }
            } else {
                switch character {
                case ",": end()
                case "=" where value == nil: value = ""
                case "\"" where value != nil: isQuoted = true
                default:
                    if value == nil { name.append(character) } else { value?.append(character) }
                }
            }
        }
        end()
        // What follows a quote that is never closed is not known.
        return isQuoted ? found + [("no-cache", nil)] : found
    }

    private static func trimmed(_ text: String) -> String {
        let start = text.drop(while: \.isWhitespace)
        return String(start.reversed().drop(while: \.isWhitespace).reversed())
    }
}
