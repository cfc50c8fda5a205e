// Made by clients/generate.py from protocol/openrpc.json.

/** The events that can be listened to. */
module.exports = { events: ["cache/didClean", "image/didChange", "activity/didChange", "download/didFinish", "remote/didChange", "log"] };
