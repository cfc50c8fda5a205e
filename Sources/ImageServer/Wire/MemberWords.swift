internal import JSONRPC

/// What members mean that have no words of their own, by name: those of nested objects.
private let memberWords: [String: String] = [
    "accept": "Whether to accept the response.",
    "active": "Whether downloads are running.",
    "allocatedBytes": "The space they take, in bytes of whole blocks.",
    "alpha": "How opaque the image is.",
    "amount": "The factor of the difference; 1 when left out.",
    "anchor": "Which part is kept: a position as fractions of the surplus, or by content; the middle when left out.",
    "authorization": "The credentials.",
    "auto": "As the EXIF orientation says.",
    "base64": "Bytes as base64.",
    "basic": "User and password.",
    "bearer": "The token.",
    "body": "The body to send.",
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
    "corners": "The corners to round; all when left out.",
    "count": "How many.",
    "date": "A moment (RFC 3339).",
    "days": "A number of days.",
    "degrees": "Degrees clockwise.",
    "delegates": "The questions that the client wants to answer.",
    "diameter": "Pixels across; the shorter side when left out.",
    "disk": "The disk tier.",
    "dns": "Seconds for resolving the name.",
    "downloader": "The downloader of all caches.",
    "dropQuery": "The query parameters to drop.",
    "error": "The error, as a request would get it.",
    "exponential": "The first pause in seconds, doubled each time.",
    "failures": "How often credentials were already refused.",
    "finalUrl": "The URL after redirects.",
    "firstByte": "Seconds to the first byte of the response.",
    "focus": "The point that aspectFill crops around.",
    "folder": "The folder.",
    "format": "The format.",
    "fraction": "From 0 to 1: of the shorter side for a radius, of the image that stays visible for a tint.",
    "frameCount": "How many pictures.",
    "frameSeconds": "How long each picture is shown, in seconds.",
    "framesDropped": "How many pictures of the original are missing; left out for none.",
    "from": "The beginning to replace.",
    "fromRevalidation": "Whether the server confirmed what was cached.",
    "gamma": "1 leaves it as it is.",
    "gravity": "Where the image is placed; in the middle when left out.",
    "hashes": "Names of files without extension.",
    "headers": "Header fields by name.",
    "height": "Pixels down.",
    "heldBytes": "The bytes held.",
    "horizontal": "Whether left and right are swapped.",
    "host": "The host.",
    "hosts": "The hosts that the rule applies to.",
    "httpVersion": "The version of HTTP.",
    "inputEV": "The exposure; 0 leaves it as it is.",
    "interval": "The pauses between attempts.",
    "isOpen": "Whether this server has used it.",
    "isProxy": "Whether a proxy asks for credentials.",
    "keepQuery": "The only query parameters to keep.",
    "kernel": "The resampling filter; lanczos3 when left out, nearest keeps hard edges.",
    "key": "The cache key.",
    "keys": "Cache keys; null where one is not known.",
    "leasedBytes": "The leased part, in bytes.",
    "level": "The level.",
    "loopCount": "How often it is played; 0 for ever.",
    "lossless": "Compress without loss, where the format can.",
    "max": "The longest, in milliseconds.",
    "maxBytes": "The largest size, in bytes.",
    "maxRetries": "The number of further attempts; 0 when left out.",
    "memory": "The memory tier.",
    "message": "A sentence.",
    "metadata": "Names and values.",
    "method": "The HTTP method.",
    "mode": "How the image is fitted to the size.",
    "name": "The name.",
    "omitted": "How many lines were left out before this one.",
    "operation": "The name of the operation.",
    "p50": "Half took no longer, in milliseconds.",
    "p95": "95 in 100 took no longer, in milliseconds.",
    "p99": "99 in 100 took no longer, in milliseconds.",
    "password": "The password.",
    "path": "A file.",
    "profile": "The colour profile.",
    "progressive": "Show coarsely first while loading, where the format can.",
    "quality": "From 1 to 100, on the scale of JPEG for every format.",
    "radius": "The radius, in pixels or as a fraction.",
    "realm": "The realm of the challenge.",
    "reason": "Why.",
    "redirects": "How many redirects were followed.",
    "resumedBytes": "The bytes that an earlier transfer had loaded.",
    "reused": "Whether an open connection was reused.",
    "saturation": "1 leaves it as it is.",
    "scheme": "The authentication scheme.",
    "seconds": "A number of seconds.",
    "settings": "The settings in force.",
    "statusCode": "The status code of the response.",
    "stored": "Why no tier keeps it.",
    "stride": "Bytes of one row.",
    "stripMetadata":
        "`true` removes EXIF and similar metadata; `false` keeps all of it, including where the picture was taken.",
    "targetSize": "The size that the radius is meant for.",
    "timings": "Seconds by phase.",
    "tls": "Seconds for TLS.",
    "to": "The format to convert to.",
    "tolerance": "The largest difference in a channel, of 255, that counts as the same colour; 10 when left out.",
    "unit": "The unit of all lengths: pixels when left out, or fraction for fractions of the sides.",
    "upscale": "Whether a smaller image is enlarged.",
    "uri": "The file's URL.",
    "url": "The URL.",
    "use": "The credentials to use.",
    "user": "The user.",
    "version": "The version.",
    "vertical": "Whether top and bottom are swapped.",
    "waits": "How often requests had to wait.",
    "width": "Pixels across.",
    "x": "The horizontal position, from 0 to 1.",
    "y": "The vertical position, from 0 to 1.",
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

    /// The schema with words about it, unless it has some.
    func described(as words: String?) -> JSONLiteral {
        guard let words, case .object(let members) = self,
            !members.contains(where: { $0.0 == "description" || $0.0 == "$ref" })
        else { return self }
        return .object([("description", .string(words))] + members)
    }
}
