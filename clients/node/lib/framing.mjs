const newline = 0x0a;

/** Writes one JSON-RPC message as one line. */
export function encodeMessage(message) {
  return JSON.stringify({ jsonrpc: "2.0", ...message }) + "\n";
}

/**
 * Cuts a stream of bytes into lines.
 *
 * Bytes are joined once per line and decoded only when the line is whole, so a line of any length costs time in
 * proportion to its length, and a character that is split between two chunks survives.
 */
export class LineSplitter {
  #parts = [];
  #onLine;

  /** Calls `onLine` with the text of every line that is not blank, without its line ending. */
  constructor(onLine) {
    this.#onLine = onLine;
  }

  /** Takes the next bytes of the stream. */
  push(chunk) {
    let start = 0;
    let end = chunk.indexOf(newline);
    while (end !== -1) {
      this.#emit(chunk.subarray(start, end));
      start = end + 1;
      end = chunk.indexOf(newline, start);
    }
    if (start < chunk.length) this.#parts.push(start === 0 ? chunk : chunk.subarray(start));
  }

  #emit(last) {
    let line = last;
    if (this.#parts.length > 0) {
      this.#parts.push(last);
      line = Buffer.concat(this.#parts);
      this.#parts = [];
    }
    const text = line.toString("utf8");
    if (text.trim() !== "") this.#onLine(text);
  }
}
