import { format } from "node:util";
import { ErrorCode } from "./codes.mjs";

const kinds = new Map(Object.entries(ErrorCode).map(([name, code]) => [code, name]));

/** Any failure of this package. `code` is the server's number, or a string for a failure on this side. */
export class HalcyonError extends Error {
  constructor(message, { code, kind, data, method, cause } = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.code = code;
    this.kind = kind ?? kinds.get(code) ?? "unknown";
    this.data = data ?? {};
    this.method = method;
    this.retryable = this.data.retryable === true;
    this.hint = typeof this.data.hint === "string" ? this.data.hint : undefined;
  }

  /** Makes the error that a JSON-RPC `error` object describes. */
  static fromResponse(error, method) {
    const data = isObject(error?.data) ? error.data : error?.data === undefined ? {} : { value: error.data };
    return new HalcyonError(format("%s", error?.message ?? "The server reported an error without a message."), {
      code: error?.code,
      data,
      method,
    });
  }
}

/** No executable was found where the client looked. */
export class BinaryNotFoundError extends HalcyonError {
  constructor(message, searched, cause) {
    super(message, { code: "HALCYON_BINARY_NOT_FOUND", kind: "binaryNotFound", cause });
    this.searched = searched;
  }
}

/** The server process ended while something was still wanted from it. */
export class ServerGoneError extends HalcyonError {
  constructor(message, { exitCode = null, signal = null, stderr = [], method, cause } = {}) {
    super(message, { code: "HALCYON_SERVER_GONE", kind: "serverGone", data: { retryable: true }, method, cause });
    this.exitCode = exitCode;
    this.signal = signal;
    this.stderr = stderr;
    this.retryAfterMs = undefined;
  }
}

/** The client was closed before the call was made. */
export class ClientClosedError extends HalcyonError {
  constructor(method) {
    super(`Cannot call ${method}: this client was closed. Start another one with Client.start().`, {
      code: "HALCYON_CLIENT_CLOSED",
      kind: "clientClosed",
      method,
    });
  }
}

/** A message is too long for the server to read. */
export class MessageTooLargeError extends HalcyonError {
  constructor(method, bytes, limit) {
    super(
      `Cannot send ${method}: the message has ${bytes} bytes and the server reads at most ${limit}. ` +
        "Give the image as a path instead of as data.",
      { code: "HALCYON_MESSAGE_TOO_LARGE", kind: "messageTooLarge", method, data: { limit } },
    );
  }
}

/** A call was given up because its `AbortSignal` was aborted without a reason of its own. */
export class AbortError extends Error {
  constructor(method, cause) {
    super(`The call of ${method} was aborted.`, cause === undefined ? undefined : { cause });
    this.name = "AbortError";
    this.code = "ABORT_ERR";
  }
}

/**
 * The error of an aborted call: the reason that the caller passed to `abort()`, or else an `AbortError` whose cause is
 * the server's answer.
 */
export function cancellationError(reason, method, cause) {
  const isDefault = reason === undefined || (reason instanceof DOMException && reason.name === "AbortError");
  return isDefault ? new AbortError(method, cause) : reason;
}

/** The words of whatever was thrown, a thousand characters at most, as text that can be sent. */
export function wordsOf(error) {
  return format("%s", error?.message ?? error).slice(0, 1000).replace(/\p{Surrogate}/gu, "\ufffd");
}

export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
