internal import ImageEngine
internal import JSONRPC

/// A picture whose size is known as coded, and perhaps the turn that shows it upright.
protocol DisplayedPicture: Sendable {
    var width: Int { get }
    var height: Int { get }
    var orientation: Int? { get }
    var hasAlpha: Bool? { get }
}

extension ImageHeader: DisplayedPicture {}
extension ImageProbe: DisplayedPicture {}

extension DisplayedPicture {
    /// The size as displayed: of the orientations from 5 on, width and height change places (EXIF 2.3, section 4.6.4).
    private var displayedSize: (width: Int, height: Int)? {
        orientation.map { $0 >= 5 ? (height, width) : (width, height) }
    }

    fileprivate var displayedWidth: Int? { displayedSize?.width }
    fileprivate var displayedHeight: Int? { displayedSize?.height }
}

extension WireField {
    /// The members that say how a picture is shown. What older versions have stored does not tell.
    static func display(_ picture: @escaping @Sendable (borrowing Root) -> some DisplayedPicture) -> [WireField] {
        let unknown = "left out for images stored by an older version (use probe)"
        return [
            WireField(
                "orientation", "The orientation, 1 to 8 as in EXIF; \(unknown).", countSchema, isOptional: true
            ) { if let orientation = picture($0).orientation { $1.field("orientation", orientation) } },
            WireField("hasAlpha", "Whether the image may be transparent; \(unknown).", flagSchema, isOptional: true) {
                if let hasAlpha = picture($0).hasAlpha { $1.field("hasAlpha", hasAlpha) }
            },
        ] + displayedSize(picture, unknown)
    }

    /// The size of a picture as displayed.
    ///
    /// - Parameter unknown: Why it may be left out, and when.
    static func displayedSize(
        _ picture: @escaping @Sendable (borrowing Root) -> some DisplayedPicture, _ unknown: String
    ) -> [WireField] {
        [
            WireField(
                "displayWidth", "Pixels across after applying the orientation; \(unknown).", countSchema,
                isOptional: true
            ) { if let width = picture($0).displayedWidth { $1.field("displayWidth", width) } },
            WireField(
                "displayHeight", "Pixels down after applying the orientation; \(unknown).", countSchema,
                isOptional: true
            ) { if let height = picture($0).displayedHeight { $1.field("displayHeight", height) } },
        ]
    }
}
