/// The reason why no tier keeps an image that was loaded or given. The raw value is the name on the wire.
public enum NotStoredReason: String, Sendable, Hashable, CaseIterable {
    /// The server or the request forbids it with `Cache-Control: no-store`, and the request goes by HTTP.
    case noStore
    /// The image is larger than its tier may hold.
    case tooLarge
    /// The disk has no room: it is full, its free-space floor is reached, or images that are lent fill the tier.
    case noRoom
    /// The cache folder cannot be written.
    case diskFailed
    /// Another process holds the index.
    case busy
    /// The image has no lifetime: memory alone was to keep it for no time, or it is made from an expired original.
    case expired
    /// Memory alone was to keep the image, and memory is off.
    case memoryOff
    /// The options name no tier.
    case notAsked
    /// Another image has the key and is not to be replaced.
    case occupied
}
