/// Schemas of fields that stand in many results.
let textSchema: JSONLiteral = ["type": "string"]
let textOrNullSchema: JSONLiteral = ["type": ["string", "null"]]
let countSchema: JSONLiteral = ["type": "integer", "minimum": 0]
let flagSchema: JSONLiteral = ["type": "boolean"]
