internal import ImageEngine
internal import RemoteStorage

extension SettingType<[String]> {
    /// Hosts with commas between them: names, addresses, or `*.example.com` for every name below one. An empty text names none;
    /// one of commas or spaces alone, as of a template whose variables are empty, is a mistake.
    static let hosts = list { (hosts, text) in
        let bad = hosts.isEmpty && !text.isEmpty ? text : hosts.first { !HostPattern.isValid($0) }
        return bad.map { bad in
            "must be hosts such as example.com or *.example.com with commas between them, not \(bad.quoted)"
        }
    }

    /// At least one of the schemes that can be loaded from, with commas between them.
    static let schemes = list { (schemes, text) in
        schemes.isEmpty || !schemes.allSatisfy(NetworkPolicy.schemes.contains)
            ? "must be some of http, https, file and data with commas between them, not \(text.quoted)" : nil
    }

    /// A list with commas.
    ///
    /// - Parameter problem: Returns the problem with the elements of a text; `nil` when there is none.
    private static func list(_ problem: @escaping @Sendable ([String], String) -> String?) -> SettingType {
        SettingType(form: .text("list")) { (text, _) throws(SettingProblem) in
            let elements = text.split(separator: ",").map { part in
                String(part.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
            }.filter { !$0.isEmpty }
            if let problem = problem(elements, text) { throw SettingProblem(problem) }
            return elements
        } literal: {
            $0.isEmpty ? .null : .string($0.joined(separator: ","))
        }
    }
}

extension SettingType<ProxyChoice> {
    /// The URL of a proxy, or `none`. It is shown without its password.
    static let proxy = SettingType(form: .text("url")) { (text, _) throws(SettingProblem) in
        guard text == "none" || isProxy(text) else {
            throw SettingProblem("must be none or a URL such as http://proxy.example:3128, not \(text.quoted)")
        }
        return ProxyChoice(text)
    } literal: { choice in
        switch choice {
        case .environment: .null
        case .none: "none"
        case .url(let url): .string(ProxyChoice.shown(url))
        }
    }

    /// `true` when libcurl takes the text as a proxy. Any other would later look like a name that cannot be resolved.
    private static func isProxy(_ text: String) -> Bool {
        let schemes = ["http://", "https://", "socks://", "socks4://", "socks4a://", "socks5://", "socks5h://"]
        let text = text.lowercased()
        guard schemes.contains(where: { text.hasPrefix($0) && text.utf8.count > $0.utf8.count }) else { return false }
        let authority = text[(text.firstRange(of: "://")?.upperBound ?? text.startIndex)...].prefix {
            !"/?#".contains($0)
        }
        let place = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let port = place.lastIndex(of: ":").map { place[place.index(after: $0)...] }
        guard let port, !port.contains("]") else { return !place.isEmpty }
        return place.first != ":" && (port.isEmpty || (1...65_535).contains(Int(port) ?? 0))
    }
}

extension SettingType<RemoteURL?> {
    /// The URL of a remote tier; an empty text for none. It is neither shown with its user and password nor repeated in
    /// problems.
    static let remote = SettingType(form: .text("url")) { (text, _) throws(SettingProblem) in
        if text.isEmpty { return nil }
        do throws(RemoteURL.Problem) { return try RemoteURL(text) } catch { throw SettingProblem(error.predicate) }
    } literal: {
        $0.map { .string($0.shown) } ?? .null
    }
}

extension SettingType<Double> {
    /// A short time in seconds, from a millisecond to a minute.
    static let remoteSeconds = SettingType(form: .number(unit: "seconds")) { (text, _) throws(SettingProblem) in
        guard let number = Double(text), (0.001...60).contains(number) else {
            throw SettingProblem("must be a number from 0.001 to 60, not \(text.quoted)")
        }
        return number
    } literal: {
        $0.literal
    }
}
