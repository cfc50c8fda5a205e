/// Where an image was found.
public enum CacheType: String, Sendable, CaseIterable {
    /// In no cache: it was downloaded or read now.
    case none
    /// In the memory tier.
    case memory
    /// In the disk tier.
    case disk
}
