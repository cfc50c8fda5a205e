public import ImageRecipes

/// Raw pixels: RGBA, eight bits each, sRGB, not premultiplied; the frames one below the other.
@dynamicMemberLookup
public struct PixelFile: Sendable {
    /// The path of the file, which lasts for the lease of the options, 60 s by default; without a lease, as long as this value.
    public let path: String
    let file: RenderedFile

    /// What the codec worker says of the file.
    public subscript<Value>(dynamicMember path: KeyPath<RenderedImage, Value>) -> Value { file.image[keyPath: path] }
}
