internal import ImageFormats
internal import Platform

/// The name of one entry of a cache: the requested key, the processors applied, and the user that it belongs to.
public struct CacheKey: Hashable, Sendable {
    /// What few keys have: the entries of users' own images are their keys alone.
    private final class Rare: Sendable {
        let identifier: String
        let expectedExtension: String?
        let partition: String

        private init(_ identifier: String, _ expectedExtension: String?, _ partition: String) {
            (self.identifier, self.expectedExtension, self.partition) = (identifier, expectedExtension, partition)
        }

        /// `nil` when there is nothing of it: an initialiser that fails would make an object first, for each key.
        static func of(_ identifier: String, _ expectedExtension: String?, _ partition: String) -> Rare? {
            if identifier.isEmpty, expectedExtension == nil, partition.isEmpty { return nil }
            return Rare(identifier, expectedExtension, partition)
        }
    }

    /// The caller's key: any text of any length; it never becomes part of a path.
    public let key: String
    private var rare: Rare?

    /// The identifier of the processors applied; empty for the original.
    public var identifier: String { rare?.identifier ?? "" }

    /// The extension that the file is likely to get, when that is not to be told by the key; no part of the name.
    package var expectedExtension: String? {
        get { rare?.expectedExtension }
        set { rare = Rare.of(identifier, newValue, partition) }
    }

    /// The user whom the image belongs to, by a digest; empty for the entry that users share.
    public private(set) var partition: String {
        get { rare?.partition ?? "" }
        set { rare = Rare.of(identifier, expectedExtension, newValue) }
    }

    /// A key for the original, or for what processors with `identifier` make of it.
    public init(_ key: String, identifier: String = "") {
        self.key = key
        rare = Rare.of(identifier, nil, "")
    }

    /// `true` when both have the same bytes; text that only looks the same is another key.
    public static func == (one: CacheKey, other: CacheKey) -> Bool {
        guard ExactText(one.key) == ExactText(other.key) else { return false }
        return one.rare === other.rare
            || ExactText(one.identifier) == ExactText(other.identifier) && one.partition == other.partition
    }

    /// Hashes the bytes.
    public func hash(into hasher: inout Hasher) {
        ExactText(key).hash(into: &hasher)
        guard let rare else { return }
        if !rare.identifier.isEmpty { ExactText(rare.identifier).hash(into: &hasher) }
        if !rare.partition.isEmpty { hasher.combine(rare.partition) }
    }

    /// The text that is hashed into the file name: the key, or `key@identifier`, as in Kingfisher. A key that reads like
    /// the text of a variant has one more `@`: otherwise the two would share a file.
    public var computed: String {
        let identifier = indexedIdentifier
        return identifier.isEmpty ? (readsLikeVariant ? key + "@" : key) : "\(key)@\(identifier)"
    }

    /// `true` when the key, but for further `@` at its end, is another key with the identifier of processors.
    private var readsLikeVariant: Bool {
        var text = key.utf8[...]
        while text.last == UInt8(ascii: "@") { text.removeLast() }
        // Asked for every key, and hardly any ends so.
        guard text.last == UInt8(ascii: ")") else { return false }
        return text.indices.contains { text[$0] == UInt8(ascii: "@") && Self.beginsIdentifier(text[$0...].dropFirst()) }
    }

    /// `true` when a text begins as each identifier does: `name.version(`.
    private static func beginsIdentifier(_ text: Substring.UTF8View) -> Bool {
        let rest = text.drop { (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0 | 0x20) }
        guard rest.startIndex > text.startIndex, rest.first == UInt8(ascii: ".") else { return false }
        let version = rest.dropFirst()
        let end = version.drop { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        return end.startIndex > version.startIndex && end.first == UInt8(ascii: "(")
    }

    /// The key as the index records it: keys beyond 2 KiB by their digest.
    var indexed: String { key.utf8.count <= 2048 ? key : "sha256:" + Digest(of: key).hex }

    /// The picture format that the key's extension foretells, before the bytes are known.
    package var foretoldExtension: String {
        expectedExtension ?? ImageFormat(fileExtension: rawExtension)?.fileExtension ?? ""
    }

    /// The extension that the key itself has: 1…16 letters and digits; empty for none or anything else.
    var ownExtension: String {
        let text = rawExtension
        let isPlain = text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
        return isPlain && text.utf8.count <= 16 ? text : ""
    }

    /// The text after the last dot of the last part of the key's path; neither query nor fragment counts.
    private var rawExtension: String {
        var name = key.utf8[...]
        let end = name.firstIndex { $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "#") }
        if let end, key.contains("://") { name = name[..<end] }
        if let slash = name.lastIndex(of: UInt8(ascii: "/")) { name = name[slash...].dropFirst() }
        guard let dot = name.lastIndex(of: UInt8(ascii: ".")), dot > name.startIndex else { return "" }
        return String(decoding: name[dot...].dropFirst(), as: UTF8.self)
    }
}

/// The entries that one key has for several users, each a variant of the key as a processed image is.
extension CacheKey {
    /// The identifier as the index records it: the processors and, for the entry of one user, one more.
    var indexedIdentifier: String {
        partition.isEmpty ? identifier : identifier + (identifier.isEmpty ? "" : "|>") + "user.1(\(partition))"
    }

    /// A key as the index records it; see ``indexedIdentifier``.
    init(_ key: String, indexedIdentifier text: String) {
        let (rest, ending) = (text.dropLast(40), text.suffix(40))
        guard ending.count == 40, ending.hasPrefix("user.1("), ending.hasSuffix(")"),
            rest.isEmpty || rest.hasSuffix("|>")
        else {
            self.init(key, identifier: text)
            return
        }
        self.init(key, identifier: String(rest.dropLast(2)))
        partition = String(ending.dropFirst(7).dropLast())
    }

    /// The entry of the user that `credentials` identify to a server; `nil` for the one that users share.
    ///
    /// The key is the salt of the digest, so that equal credentials of two keys have different digests.
    package func belonging(to credentials: String?) -> CacheKey {
        belonging(toPartition: credentials.map { String(Digest(of: "user\n\(key)\n\($0)").hex.prefix(32)) } ?? "")
    }

    /// The entry of a user by its digest.
    func belonging(toPartition partition: String) -> CacheKey {
        var own = self
        own.partition = partition
        return own
    }

    /// The entry of the same user for another key or other processors.
    package func sameUser(as other: CacheKey) -> CacheKey { belonging(toPartition: other.partition) }
}

/// The entries that a removal means: that of one key, and others with the same text.
package struct EntrySelection: Sendable {
    package let key: CacheKey
    /// `true` when what other processors made is meant too.
    let allVariants: Bool
    /// `true` when the entries that single users have under the key are meant too.
    let allUsers: Bool

    package init(_ key: CacheKey, allVariants: Bool = false, allUsers: Bool = true) {
        (self.key, self.allVariants, self.allUsers) = (key, allVariants, allUsers)
    }

    package func contains(_ other: CacheKey) -> Bool {
        ExactText(other.key) == ExactText(key.key)
            && (allVariants || ExactText(other.identifier) == ExactText(key.identifier))
            && (allUsers || other.partition == key.partition)
    }
}
