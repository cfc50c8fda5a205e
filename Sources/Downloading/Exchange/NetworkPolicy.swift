internal import HTTPSemantics

/// The hosts and networks that may be loaded from.
///
/// Checked against the address of each connection, after name resolution, for every request of a download. So unusual
/// notations of an address, and names that resolve differently the next time, make no difference.
public struct NetworkPolicy: Sendable, Hashable {
    /// The range of permitted addresses.
    public enum Reach: String, Sendable, CaseIterable {
        /// Direct requests may go to private addresses and this machine. No redirect, and no name resolved again, by this
        /// process or another on the same folder, may lead to a more private address than before. Link-local addresses and cloud metadata services are never
        /// permitted.
        case noCrossover
        /// Public addresses only.
        case `public`
        /// Every address.
        case any
    }

    /// The range of permitted addresses.
    public var reach = Reach.noCrossover
    /// The only permitted hosts: names, addresses, or `*.example.com` for every name below one. Empty: all.
    public var allowedHosts: [String] = []
    /// The permitted schemes, among http, https, file and data.
    public var allowedSchemes = NetworkPolicy.schemes

    /// All supported schemes.
    public static let schemes = ["http", "https", "file", "data"]

    /// Creates the default policy.
    public init() {}

    /// The reason why a lower-case scheme is forbidden. `nil`: it is permitted.
    package func refusal(scheme: String) -> String? {
        guard !allowedSchemes.contains(scheme) else { return nil }
        return "The scheme \"\(scheme)\" is switched off (add it to allowedSchemes)."
    }

    /// The reason why a host is forbidden, regardless of its address. `nil`: it is permitted.
    package func refusal(host: String) -> String? {
        guard !allowedHosts.isEmpty, !allowedHosts.contains(where: { HostPattern.matches(host, $0) }) else {
            return nil
        }
        return "The host \"\(host)\" is not one of the hosts that may be loaded from (add it to allowedHosts)."
    }

    /// The reason why an address is forbidden. `nil`: it is permitted.
    ///
    /// - Parameters:
    ///   - type: The class of the address.
    ///   - origin: The most public address that led here by a redirect, or that the same name had before. `nil`: none.
    package func refusal(_ type: AddressClass, after origin: AddressClass?) -> String? {
        switch reach {
        case .any: return nil
        case .public:
            return type == .public
                ? nil : "It leads to \(type.words), and only public ones are allowed (change networkPolicy)."
        case .noCrossover:
            if type >= .linkLocal {
                return "It leads to \(type.words) (set networkPolicy to \"any\" to allow that)."
            }
            guard let origin, type > origin else { return nil }
            return "It leads from \(origin.words) to \(type.words) (set networkPolicy to \"any\" to allow that)."
        }
    }
}
