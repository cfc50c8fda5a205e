import type { ErrorCode } from "./codes.js";

/** The name of a server's code, or of a failure on this side; `"unknown"` for a code that this version does not know. */
export type ErrorKind =
  | keyof typeof ErrorCode
  | "binaryNotFound"
  | "serverGone"
  | "clientClosed"
  | "messageTooLarge"
  | "unknown";

/** What the server says about an error besides its code and message. */
export interface ErrorData {
  /** The name of the code, also of one that this version does not know. */
  name?: string;
  url?: string;
  key?: string;
  /** The HTTP status, with `invalidStatusCode`. */
  statusCode?: number;
  /** The setting whose limit was passed, with `limitExceeded`. */
  limit?: string | number;
  retryable?: boolean;
  hint?: string;
  /** Why the image is not stored, when that is the error, such as `"noStore"`. */
  stored?: string;
  [name: string]: unknown;
}

/** A failure: what the server answered, or one of the subclasses. Its `message` is a sentence to act on. */
export class HalcyonError extends Error {
  /** The server's code (see `ErrorCode`), or for a failure on this side a string such as `"HALCYON_SERVER_GONE"`. */
  readonly code: number | string;
  /** The name of the code, such as `"invalidStatusCode"`: decide by it. */
  readonly kind: ErrorKind;
  /** What else is known; empty when nothing is. */
  readonly data: ErrorData;
  /** The method that was called. */
  readonly method: string | undefined;
  /** Whether the same call may succeed later without a change. */
  readonly retryable: boolean;
  /** What to change, when the server knows. */
  readonly hint: string | undefined;
}

/** No executable was found where the client looked. Its `code` is `"HALCYON_BINARY_NOT_FOUND"`. */
export class BinaryNotFoundError extends HalcyonError {
  readonly code: "HALCYON_BINARY_NOT_FOUND";
  /** Every path that was tried, in order. */
  readonly searched: readonly string[];
}

/**
 * The server process ended, could not be started for want of something such as file descriptors, or wrote what is not
 * JSON-RPC. Its `code` is `"HALCYON_SERVER_GONE"`.
 */
export class ServerGoneError extends HalcyonError {
  readonly code: "HALCYON_SERVER_GONE";
  /** The exit code; null when a signal ended the process or when it still runs. */
  readonly exitCode: number | null;
  /** The signal that ended the process, such as `"SIGKILL"`; else null. */
  readonly signal: NodeJS.Signals | null;
  /** The last lines of its standard error, ten at most. */
  readonly stderr: readonly string[];
  /** The milliseconds until another may be started; undefined when the next call starts one. */
  readonly retryAfterMs: number | undefined;
}

/** The client was closed before the call was made. Its `code` is `"HALCYON_CLIENT_CLOSED"`. */
export class ClientClosedError extends HalcyonError {
  readonly code: "HALCYON_CLIENT_CLOSED";
}

/**
 * A message is over 64 MiB, the most the server reads; nothing was sent. Its `code` is `"HALCYON_MESSAGE_TOO_LARGE"`.
 */
export class MessageTooLargeError extends HalcyonError {
  readonly code: "HALCYON_MESSAGE_TOO_LARGE";
}

/**
 * A call was given up because its signal was aborted without a reason. `cause` is the server's answer, a
 * `HalcyonError` with code −32800, when there was one.
 */
export class AbortError extends Error {
  readonly name: "AbortError";
  readonly code: "ABORT_ERR";
  readonly cause?: unknown;
}
