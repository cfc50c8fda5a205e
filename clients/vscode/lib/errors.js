"use strict";

/** Any failure of a call. `kind` is the stable name, such as `notCached`: decide by it. */
class HalcyonError extends Error {
  constructor(kind, message, { code, data, method } = {}) {
    super(message);
    this.name = "HalcyonError";
    this.kind = kind;
    this.code = code;
    this.data = data ?? {};
    this.method = method;
    this.retryable = this.data.retryable === true;
    this.hint = typeof this.data.hint === "string" ? this.data.hint : undefined;
  }

  /** Makes the error that a JSON-RPC `error` object describes. */
  static fromResponse(error, method) {
    const data = typeof error.data === "object" && error.data !== null ? error.data : {};
    return new HalcyonError(data.name ?? "unknown", String(error.message ?? "The server gave no reason."), { code: error.code, data, method });
  }
}

module.exports = { HalcyonError };
