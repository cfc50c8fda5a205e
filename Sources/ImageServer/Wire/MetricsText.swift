internal import ImageEngine
internal import JSONRPC
internal import RemoteStorage

extension ImageServer {
    /// What the server has done since it started, in the text format of Prometheus: names, units and kinds by its conventions.
    package var metrics: String {
        Metric.all(manager.statistics, self).map(\.text).joined()
    }

    /// What the server has done as JSON, in the members of `stats`, but for the time since the start: equal as long as nothing is done.
    package var counters: [UInt8] {
        let reply = StatsReply(self)
        var writer = JSONWriter()
        writer.object { writer in
            for field in StatsReply.fields where field.name.description != "uptimeSeconds" {
                field.write(reply, &writer)
            }
        }
        return writer.bytes
    }
}

/// One metric of the text format: its description and its values, told apart by labels.
private struct Metric {
    enum Kind: String { case counter, gauge, histogram }

    let name: String
    let kind: Kind
    let help: String
    /// The end of the name, the labels as they are written, and the value.
    let samples: [(end: String, labels: String, value: String)]

    var text: String {
        let lines = samples.map { "\(name)\($0.end)\($0.labels.isEmpty ? "" : "{\($0.labels)}") \($0.value)\n" }
        return "# HELP \(name) \(help)\n# TYPE \(name) \(kind.rawValue)\n" + lines.joined()
    }

    private init(
        _ name: String, _ kind: Kind, _ help: String, _ samples: [(end: String, labels: String, value: String)]
    ) {
        (self.name, self.kind, self.help, self.samples) = ("halcyon_" + name, kind, help, samples)
    }

    private static func one(_ name: String, _ kind: Kind, _ help: String, _ value: Int) -> Metric {
        Metric(name, kind, help, [("", "", "\(value)")])
    }

    /// A metric with one value for each value of a label.
    private static func each(
        _ name: String, _ kind: Kind, _ help: String, _ label: String, _ values: [(name: String, value: Int)]
    ) -> Metric {
        Metric(name, kind, help, values.map { ("", "\(label)=\"\($0.name)\"", "\($0.value)") })
    }

    static func all(_ statistics: EngineStatistics, _ server: ImageServer) -> [Metric] {
        [
            each(
                "answers_total", .counter, "Look-ups of images, by the tier that had them; none: no cache had them.",
                "tier",
                [("memory", statistics.memoryHits), ("disk", statistics.diskHits), ("none", statistics.misses)]),
            one("merged_requests_total", .counter, "Requests that joined running work.", statistics.merged),
            each(
                "downloads_total", .counter,
                "Downloads that have ended, by how: shared ones were another process's.", "result",
                [
                    ("success", statistics.downloads), ("failure", statistics.failedDownloads),
                    ("shared", statistics.sharedDownloads),
                ]),
            one("downloaded_bytes_total", .counter, "Bytes of bodies received.", statistics.downloadedBytes),
            each(
                "open_downloads", .gauge,
                "Downloads that have not ended; stalled ones run, and their servers are silent.",
                "state",
                [
                    ("running", statistics.runningDownloads - statistics.stalledDownloads),
                    ("stalled", statistics.stalledDownloads),
                    ("waiting", statistics.waitingDownloads),
                ]),
            one(
                "evictions_total", .counter, "Images evicted from disk to stay within its limit.", statistics.evictions),
            one(
                "damaged_files_total", .counter, "Images removed because other programs had changed their files.",
                statistics.damagedFiles),
            one(
                "remembered_failures", .gauge, "Failures that are repeated without asking.",
                statistics.rememberedFailures),
            each(
                "not_stored_total", .counter, "Loaded images that no tier keeps although they were to be kept.",
                "reason",
                NotStoredReason.allCases.map { ($0.rawValue, statistics.notStored[$0] ?? 0) }),
        ] + remote(statistics.remote) + [
            one("requests_in_flight", .gauge, "Requests that have not been answered yet.", server.requestsInFlight),
            one("output_held_bytes", .gauge, "Bytes of answers that the client has not read.", server.output.held),
            durations(server.latencies.recorded),
            Metric("uptime_seconds", .gauge, "Seconds since the server started.", [("", "", "\(server.uptime)")]),
        ]
    }

    /// The metrics of the remote tier; none when there is no such tier.
    private static func remote(_ counts: RemoteCounts?) -> [Metric] {
        guard let counts else { return [] }
        return [
            each(
                "remote_answers_total", .counter, "Look-ups in the remote tier, by whether it answered.", "result",
                [("hit", counts.hits), ("miss", counts.misses), ("wrong", counts.wrong)]),
            one("remote_errors_total", .counter, "Operations of the remote tier that failed.", counts.errors),
            each(
                "remote_uploads_total", .counter, "Uploads to the remote tier that were done, or were left out.",
                "result",
                [("success", counts.uploads), ("dropped", counts.dropped)]),
            one("remote_queued_uploads", .gauge, "Uploads to the remote tier that wait or run.", counts.queued),
            each(
                "remote_bytes_total", .counter, "Bytes of objects of the remote tier.", "direction",
                [("read", counts.bytesRead), ("written", counts.bytesWritten)]),
            one(
                "remote_available", .gauge, "1 when the remote tier is used, 0 when it is left out for a while.",
                counts.breaker == .closed ? 1 : 0),
        ]
    }

    /// The bounds of the histograms of durations, in seconds.
    private static let bounds = [0.0001, 0.001, 0.01, 0.1, 1, 10, 60]

    private static func durations(_ recorded: [(method: Int, histogram: LatencyHistogram)]) -> Metric {
        Metric(
            "request_duration_seconds", .histogram,
            "Time of requests from being read to being answered; bounds are met to an eighth.",
            recorded.flatMap { number, histogram in
                let method = "method=\"\(Method.all[number].name)\""
                let buckets = bounds.map { bound in
                    ("_bucket", "\(method),le=\"\(bound)\"", "\(histogram.count(within: Int(bound * 1e9)))")
                }
                return buckets + [
                    ("_bucket", "\(method),le=\"+Inf\"", "\(histogram.count)"),
                    ("_sum", method, "\(Double(histogram.sum) / 1e9)"), ("_count", method, "\(histogram.count)"),
                ]
            })
    }
}
