import { constants } from "node:buffer";

const newline = 0x0a;
const shownBytes = 100;

/** The most bytes that a line may have: a longer one may be no text. */
export const longestLine = constants.MAX_STRING_LENGTH;

/** Half of a surrogate pair in JSON: an escape, before which the number of backslashes is even. */
const halfPair = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** Writes one JSON-RPC message as one line. Throws a `TypeError` for what the server could not read, or would read as `null`. */
export function encodeMessage(message) {
  const text = JSON.stringify({ jsonrpc: "2.0", ...message }, checked);
  if (text.includes("\\ud") && halfPair.test(text)) {
    throw new TypeError("Text must be Unicode: there is half of a surrogate pair, which cannot be sent.");
  }
  return text + "\n";
}

function checked(_key, value) {
  if (typeof value !== "number") return value;
  if (!Number.isFinite(value)) throw new TypeError(`Numbers must be finite: ${value} cannot be sent.`);
  // From 1e21 on it is written with an exponent.
  if (Math.abs(value) >= 2 ** 63 && Math.abs(value) < 1e21) {
    throw new TypeError(`Whole numbers must have 64 bits at most: ${value} cannot be sent.`);
  }
  return value;
}

/**
 * Cuts a stream of bytes into lines.
 *
 * Bytes are joined once per line and decoded only when the line is whole, so a line of any length costs time in
 * proportion to its length, and a character that is split between two chunks survives.
 */
export class LineSplitter {
  #parts = [];
  #length = 0;
  #isClosed = false;
  #onLine;
  #onTooLong;

  /**
   * Calls `onLine` with the text of every line that is not blank, without its line ending; and `onTooLong`, once, with the
   * beginning of a line that is longer than `longestLine`, after which it reads nothing.
   */
  constructor(onLine, onTooLong) {
    this.#onLine = onLine;
    this.#onTooLong = onTooLong;
  }

  /** Takes the next bytes of the stream. */
  push(chunk) {
    let start = 0;
    let end = chunk.indexOf(newline);
    while (end !== -1) {
      this.#keep(chunk.subarray(start, end));
      this.#emit();
      start = end + 1;
      end = chunk.indexOf(newline, start);
    }
    if (start < chunk.length) this.#keep(chunk.subarray(start));
  }

  #keep(part) {
    if (this.#isClosed) return;
    this.#parts.push(part);
    this.#length += part.length;
    if (this.#length <= longestLine) return;
    this.#isClosed = true;
    const head = this.#parts[0].toString("utf8", 0, shownBytes);
    this.#parts = [];
    this.#onTooLong(head);
  }

  #emit() {
    if (this.#isClosed) return;
    const line = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
    this.#parts = [];
    this.#length = 0;
    const text = line.toString("utf8");
    if (text.trim() !== "") this.#onLine(text);
  }
}
