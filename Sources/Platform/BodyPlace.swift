/// The place of the bytes of a body.
package enum BodyPlace: Sendable {
    /// In memory.
    case memory([UInt8])
    /// In a file that can be linked.
    case file(path: String)
    /// In a file without a name, which can be opened for reading at this path.
    case unnamed(path: String)
}
