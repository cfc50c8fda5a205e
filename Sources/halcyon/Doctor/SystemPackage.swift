/// The packages of distributions that bring one thing.
struct SystemPackage {
    /// Of Debian and Ubuntu.
    let debian: String
    let fedora: String
    let arch: String

    /// What to do when it is missing, as a sentence.
    var advice: String {
        "Install the package \(debian) of Debian and Ubuntu, \(fedora) of Fedora, or \(arch) of Arch Linux."
    }

    static let libcurl = SystemPackage(debian: "libcurl4", fedora: "libcurl", arch: "curl")
    static let zlib = SystemPackage(debian: "zlib1g", fedora: "zlib-ng-compat", arch: "zlib")
    static let brotli = SystemPackage(debian: "libbrotli1", fedora: "libbrotli", arch: "brotli")
    static let zstd = SystemPackage(debian: "libzstd1", fedora: "libzstd", arch: "zstd")
    static let certificates = SystemPackage(
        debian: "ca-certificates", fedora: "ca-certificates", arch: "ca-certificates")

    /// What decodes or encodes a format, by the format's name. Distributions that divide libvips or libheif have packages
    /// of plug-ins; in the others the packages of the libraries have everything.
    static func codec(of format: String, encodes: Bool) -> SystemPackage {
        switch format {
        case "avif":
            SystemPackage(
                debian: encodes ? "libheif-plugin-aomenc" : "libheif-plugin-dav1d", fedora: "vips-heif", arch: "libheif"
            )
        case "heic":
            SystemPackage(
                debian: encodes ? "libheif-plugin-x265" : "libheif-plugin-libde265", fedora: "libheif-freeworld",
                arch: "libheif")
        case "jxl": SystemPackage(debian: "libvips42", fedora: "vips-jxl", arch: "libjxl")
        case "pdf": SystemPackage(debian: "libvips42", fedora: "vips-poppler", arch: "poppler-glib")
        case "svg": SystemPackage(debian: "librsvg2-2", fedora: "librsvg2", arch: "librsvg")
        case "jp2": SystemPackage(debian: "libopenjp2-7", fedora: "openjpeg", arch: "openjpeg2")
        default: SystemPackage(debian: "libvips42", fedora: "vips", arch: "libvips")
        }
    }
}
