public import ImageRecipes

/// Raw pixels: RGBA, eight bits each, sRGB, not premultiplied; the frames one below the other.
@dynamicMemberLookup
public struct PixelFile: Sendable {
    /// The path of the file, which lasts for the lease of the options, 60 s by default, or until the process ends.
    public let path: String
    let image: RenderedImage

    /// What the codec worker says of the file.
    public subscript<Value>(dynamicMember path: KeyPath<RenderedImage, Value>) -> Value { image[keyPath: path] }
}
