internal import ImageFormats

/// The way in which a file keeps its samples, which the results of automatic outputs keep too.
enum SourceCoding {
    /// Whatever the format has.
    case usual
    /// A WebP without loss.
    case losslessWebP
    /// A PNG or GIF whose pixels are numbers of colours.
    case palette

    /// The coding that the first bytes tell.
    init(of file: SourceBytes, _ format: ImageFormat) {
        switch format {
        case .gif: self = .palette
        // The type of colours in IHDR (PNG, 11.2.2).
        case .png where file.byte(25) == 3: self = .palette
        case .webp where Self.isLosslessWebP(file): self = .losslessWebP
        default: self = .usual
        }
    }

    /// `true` when the first picture of a WebP has no loss (RFC 9649, sections 2.5 to 2.7). That of an animation is in a
    /// chunk of its frame.
    ///
    /// - Complexity: O(chunks before the first picture).
    private static func isLosslessWebP(_ file: SourceBytes) -> Bool {
        var place = 12
        while let size = file.little32(place + 4) {
            if file.matches("VP8L", at: place) { return true }
            if file.matches("VP8 ", at: place) { return false }
            place += file.matches("ANMF", at: place) ? 24 : 8 + size + size & 1
        }
        return false
    }
}
