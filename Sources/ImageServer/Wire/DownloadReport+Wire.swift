internal import ImageEngine
internal import JSONRPC

extension DownloadReport {
    /// The schema of a report, in an event and in a result.
    static let schema = JSONLiteral.object(
        ofAll: [("url", textSchema)] + RenamedMember.finalUrl.properties(textSchema)
            + RenamedMember.statusCode.properties(["type": ["integer", "null"]])
            + RenamedMember.byteCount.properties(countSchema) + [
                ("resumedBytes", countSchema), ("seconds", secondsSchema),
                (
                    "timings",
                    .object(ofAll: [
                        ("dns", secondsSchema), ("connect", secondsSchema), ("tls", secondsSchema),
                        ("firstByte", ["type": ["number", "null"], "minimum": 0]),
                    ])
                ),
                ("reused", flagSchema), ("redirects", countSchema), ("httpVersion", textOrNullSchema),
                ("fromRevalidation", flagSchema), ("error", textOrNullSchema),
            ])

    /// Writes the report.
    func write(to writer: inout JSONWriter) {
        writer.object { params in
            params.field("url", url)
            params.field(.finalUrl, finalURL)
            params.field(.statusCode, status)
            params.field(.byteCount, bytes)
            params.field("resumedBytes", resumedBytes)
            params.field("seconds", seconds: seconds)
            params.key("timings")
            params.object { timings in
                timings.field("dns", seconds: dns)
                timings.field("connect", seconds: connect)
                timings.field("tls", seconds: tls)
                timings.field("firstByte", seconds: firstByte)
            }
            params.field("reused", isReused)
            params.field("redirects", redirects)
            params.field("httpVersion", httpVersion)
            params.field("fromRevalidation", fromRevalidation)
            params.field("error", errorName)
        }
    }
}

extension JSONWriter {
    /// Writes a member with a duration, to the microsecond.
    fileprivate mutating func field(_ name: StaticString, seconds: Double?) {
        key(name)
        if let seconds { write((seconds * 1e6).rounded() / 1e6) } else { writeNull() }
    }
}
