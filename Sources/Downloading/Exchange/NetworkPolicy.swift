internal import HTTPSemantics
internal import Platform

/// Which hosts and networks may be loaded from: a plain value.
///
/// Judged on the address that is about to be dialled, after names have been resolved, for every request of a download
/// (E2-92): odd ways to write an address, and names that lead elsewhere the next time, change nothing.
public struct NetworkPolicy: Sendable, Hashable {
    /// How far downloads reach.
    public enum Reach: String, Sendable, CaseIterable {
        /// What is asked for directly may be private or this machine, but no redirect and no name that is resolved again
        /// leads to a more private address than before. Link-local addresses and cloud metadata are never loaded from.
        case noCrossover
        /// Public addresses only.
        case `public`
        /// Every address.
        case any
    }

    /// How far downloads reach.
    public var reach = Reach.noCrossover
    /// The only hosts that may be loaded from: names, addresses, or `*.example.com` for every name below one; any when
    /// empty.
    public var allowedHosts: [String] = []
    /// The schemes that may be loaded from, of http, https, file and data (D-13).
    public var allowedSchemes = NetworkPolicy.schemes

    /// The schemes that can be loaded from.
    public static let schemes = ["http", "https", "file", "data"]

    /// The default policy.
    public init() {}

    /// Why a scheme, in small letters, may not be loaded from; nil if it may.
    package func refusal(scheme: String) -> String? {
        guard !allowedSchemes.contains(scheme) else { return nil }
        return "The scheme \"\(scheme)\" is switched off (add it to allowedSchemes)."
    }

    /// Why a host may not be loaded from, whatever its address; nil if it may.
    package func refusal(host: String) -> String? {
        guard !allowedHosts.isEmpty, !allowedHosts.contains(where: { HostPattern.matches(host, $0) }) else {
            return nil
        }
        return "The host \"\(host)\" is not among those that may be loaded from (add it to allowedHosts)."
    }

    /// Why an address may not be dialled; nil if it may.
    ///
    /// - Parameters:
    ///   - type: The address's class.
    ///   - origin: The most public address that led here, by a redirect or under the same name; nil for none.
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

/// The most public address that each name has had, so that one that is resolved again is not believed when it leads
/// inside. Bounded: the oldest names are forgotten.
struct ResolvedNames: Sendable {
    static let limit = 4096
    private var classes: [String: AddressClass] = [:]
    private var order: [String] = []

    /// The most public class that `name` has had.
    subscript(name: String) -> AddressClass? { classes[name] }

    /// Remembers that `name` led to an address.
    mutating func note(_ name: String, _ type: AddressClass) {
        if let known = classes[name] {
            classes[name] = min(known, type)
            return
        }
        if order.count >= Self.limit {
            for name in order.prefix(Self.limit / 2) { classes[name] = nil }
            order.removeFirst(Self.limit / 2)
        }
        classes[name] = type
        order.append(name)
    }
}
