/// What members mean that have no words of their own, by name: those of nested objects.
private let memberWords: [String: String] = [
    "accept": "Whether the answer is accepted.",
    "active": "Whether downloads are running.",
    "allocatedBytes": "What they take, in bytes.",
    "alpha": "How opaque the image is.",
    "anchor": "Which part is taken, as fractions of what is left over; the middle when left out.",
    "authorization": "The credentials.",
    "auto": "As the EXIF orientation says.",
    "base64": "Bytes as base64.",
    "basic": "User and password.",
    "bearer": "The token.",
    "body": "What is sent.",
    "brightness": "0 leaves it as it is.",
    "byteCount": "The size in bytes.",
    "bytesLimit": "The limit, in bytes.",
    "cache": "The name of the cache.",
    "caches": "Settings by the name of the cache.",
    "clientCertificate": "The file of a certificate (PEM).",
    "clientKey": "The file of its private key (PEM).",
    "connect": "Seconds for the connection.",
    "contentType": "The declared media type.",
    "contrast": "1 leaves it as it is.",
    "corners": "Which corners; all when left out.",
    "count": "How many.",
    "date": "A moment (RFC 3339).",
    "days": "A number of days.",
    "degrees": "Degrees clockwise.",
    "delegates": "What the client wants to be asked.",
    "disk": "The disk tier.",
    "dns": "Seconds for the name.",
    "downloader": "The downloader of all caches.",
    "dropQuery": "The parameters of a query that do not count.",
    "error": "The error, as of a request.",
    "exponential": "Seconds before the first, doubled each time.",
    "failures": "How often credentials were refused.",
    "finalUrl": "The URL after redirects.",
    "firstByte": "Seconds to the first byte of the answer.",
    "folder": "The folder.",
    "format": "The format.",
    "fraction": "A fraction.",
    "frameCount": "How many pictures.",
    "frameSeconds": "How long each picture is shown, in seconds.",
    "from": "What it was.",
    "fromRevalidation": "Whether the server confirmed what was cached.",
    "hashes": "Names of files without extension.",
    "headers": "Header fields by name.",
    "height": "Pixels down.",
    "heldBytes": "What is held, in bytes.",
    "host": "The host.",
    "hosts": "The hosts that it counts for.",
    "httpVersion": "The version of HTTP.",
    "inputEV": "The exposure; 0 leaves it as it is.",
    "interval": "The pauses.",
    "isOpen": "Whether this server has used it.",
    "isProxy": "Whether a proxy asks.",
    "keepQuery": "The only parameters of a query that count.",
    "key": "The cache key.",
    "keys": "Cache keys, null where one is not known.",
    "leasedBytes": "What is lent out of it, in bytes.",
    "level": "The level.",
    "loopCount": "How often it is played; 0 for ever.",
    "lossless": "Without loss, where the format can.",
    "max": "The longest, in milliseconds.",
    "maxBytes": "The largest size, in bytes.",
    "maxRetries": "How often it is tried again; 0 when left out.",
    "memory": "The memory tier.",
    "message": "A sentence.",
    "metadata": "Names and values.",
    "method": "The HTTP method.",
    "mode": "How it is done.",
    "name": "The name.",
    "omitted": "How many lines were left out before.",
    "operation": "The name of the operation.",
    "p50": "Half took no longer, in milliseconds.",
    "p95": "95 in 100 took no longer, in milliseconds.",
    "p99": "99 in 100 took no longer, in milliseconds.",
    "password": "The password.",
    "path": "A file.",
    "profile": "The colour profile.",
    "progressive": "Coarse first, where the format can.",
    "quality": "From 1 to 100.",
    "radius": "The radius, in pixels or as a fraction.",
    "realm": "The realm of the challenge.",
    "reason": "Why.",
    "redirects": "How many redirects were followed.",
    "resumedBytes": "Those that an earlier transfer had loaded.",
    "reused": "Whether the connection was open already.",
    "saturation": "1 leaves it as it is.",
    "scheme": "The way to log in.",
    "seconds": "A number of seconds.",
    "settings": "The settings in force.",
    "statusCode": "The status of the answer.",
    "stored": "Why no tier keeps it.",
    "stride": "Bytes of one row.",
    "stripMetadata": "`true`: without EXIF and the like; `false`: with all of it, also where the picture was taken.",
    "targetSize": "The size that the radius is meant for.",
    "timings": "Seconds by phase.",
    "tls": "Seconds for TLS.",
    "to": "What it becomes.",
    "upscale": "Whether a smaller image is enlarged.",
    "uri": "The file's URL.",
    "url": "The URL.",
    "use": "The credentials to use.",
    "user": "The user.",
    "version": "The version.",
    "waits": "How often requests had to wait.",
    "width": "Pixels across.",
    "x": "Across, from 0 to 1.",
    "y": "Down, from 0 to 1.",
]

extension JSONLiteral {
    /// The schemas below, with a description for each property that has none.
    ///
    /// - Parameter isNaming: `true` for an object whose members are named by properties.
    func describingMembers(isNaming: Bool = false) -> JSONLiteral {
        switch self {
        case .array(let elements): .array(elements.map { $0.describingMembers() })
        case .object(let members):
            .object(
                members.map { name, value in
                    let inner = value.describingMembers(isNaming: name == "properties" && !isNaming)
                    return (name, isNaming ? inner.described(as: memberWords[name]) : inner)
                })
        default: self
        }
    }

    private func described(as words: String?) -> JSONLiteral {
        guard let words, case .object(let members) = self,
            !members.contains(where: { $0.0 == "description" || $0.0 == "$ref" })
        else { return self }
        return .object([("description", .string(words))] + members)
    }
}
