internal import CCodings
internal import CCurl

/// Loads the libraries that are opened only when they are needed. Without the others halcyon does not start.
struct LibraryCheck {
    func run(_ report: inout DoctorReport) {
        if let failure = hc_load() {
            report.add(
                "libraries", "libcurl", .missing, "Nothing can be downloaded: \(String(cString: failure)).",
                advice: SystemPackage.libcurl.advice)
        } else {
            report.add("libraries", "libcurl", .ok, String(cString: hc_version()))
        }
        check("gzip", HC_GZIP, .zlib, &report)
        check("brotli", HC_BROTLI, .brotli, &report)
        check("zstd", HC_ZSTD, .zstd, &report)
    }

    private func check(_ name: String, _ coding: hc_coding, _ package: SystemPackage, _ report: inout DoctorReport) {
        let library = String(cString: hc_decoder_library(coding))
        guard let decoder = hc_decoder_open(coding) else {
            return report.add(
                "libraries", name, .missing,
                "\(library) cannot be loaded: responses in this content coding cannot be read.",
                advice: package.advice)
        }
        hc_decoder_close(decoder)
        report.add("libraries", name, .ok, library)
    }
}
