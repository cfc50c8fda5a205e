internal import CCurl
internal import Glibc
internal import HTTPSemantics
internal import ImageEngine

/// Tells the proxies and the certificates that downloads use.
struct NetworkCheck {
    private let engine: EngineConfiguration

    init(_ engine: EngineConfiguration) { self.engine = engine }

    func run(_ report: inout DoctorReport) {
        if engine.offline {
            report.add("network", "offline", .note, "By the settings, nothing is loaded from the network.")
        }
        let table = ProxyTable(engine.downloader.proxy, variable: { try? environmentVariable($0) })
        for scheme in ["http", "https"] {
            // The name is reserved (RFC 2606); nothing is sent to it.
            let proxy = (try? WebURL("\(scheme)://example.com/")).flatMap(table.proxy)
            report.add("network", "proxy of \(scheme)", .ok, proxy.map(ProxyChoice.shown) ?? "none")
        }
        certificates(&report)
    }

    private func certificates(_ report: inout DoctorReport) {
        // What is missing has been told already.
        guard hc_load() == nil, let easy = hc_easy_init() else { return }
        defer { hc_easy_cleanup(easy) }
        let places =
            engine.downloader.tls.caFile.map { [$0] }
            ?? [CURLINFO_CAINFO, CURLINFO_CAPATH].compactMap { hc_info_string(easy, $0).map { String(cString: $0) } }
        if let place = places.first(where: { access($0, R_OK) == 0 }) {
            return report.add("network", "certificates", .ok, place)
        }
        report.add(
            "network", "certificates", .missing,
            "Nothing can be loaded by https: "
                + (places.isEmpty
                    ? "libcurl knows no place of the certificates of authorities."
                    : "the certificates of authorities cannot be read from \(places.joined(separator: " or "))."),
            advice: engine.downloader.tls.caFile == nil
                ? SystemPackage.certificates.advice + " Or name a file with --ca-file."
                : "Name another file with --ca-file, or leave the flag out.")
    }
}
