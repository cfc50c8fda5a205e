internal import JSONRPC

/// The schemas of fields that many results share.
let textSchema: JSONLiteral = ["type": "string"]
let textOrNullSchema: JSONLiteral = ["type": ["string", "null"]]
let countSchema: JSONLiteral = ["type": "integer", "minimum": 0]
let secondsSchema: JSONLiteral = ["type": "number", "minimum": 0]
let frameSecondsSchema: JSONLiteral = ["type": "array", "items": secondsSchema]
let flagSchema: JSONLiteral = ["type": "boolean"]
let countOrNullSchema: JSONLiteral = ["type": ["integer", "null"], "minimum": 0]
let dateOrNullSchema: JSONLiteral = ["type": ["string", "null"], "format": "date-time"]
