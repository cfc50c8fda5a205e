"use strict";

const headEnd = Buffer.from("\r\n\r\n");

/** Writes one frame as vscode-jsonrpc does: a Content-Length header, then the text in UTF-8. */
function frame(text) {
  const body = Buffer.from(text, "utf8");
  return Buffer.concat([Buffer.from(`Content-Length: ${body.length}\r\n\r\n`, "latin1"), body]);
}

/** Writes one message of JSON-RPC. */
function encodeFrame(message) {
  return frame(JSON.stringify({ jsonrpc: "2.0", ...message }));
}

/**
 * Cuts a stream of bytes into frames.
 *
 * Chunks are joined once per frame, so a frame of any length costs time in proportion to its length. Headers other than
 * Content-Length are ignored.
 */
class FrameReader {
  #parts = [];
  #length = 0;
  #needed = 1;
  #bodyLength;
  #onBody;

  /** Calls `onBody` with the text of every frame. */
  constructor(onBody) {
    this.#onBody = onBody;
  }

  /** Takes the next bytes. Throws when they begin no frame: then the stream is of no more use. */
  push(chunk) {
    this.#parts.push(chunk);
    this.#length += chunk.length;
    while (this.#length >= this.#needed) {
      const bytes = this.#parts.length === 1 ? this.#parts[0] : Buffer.concat(this.#parts);
      this.#parts = [bytes];
      if (this.#bodyLength === undefined) {
        if (!this.#readHead(bytes)) return;
      } else {
        this.#keep(bytes.subarray(this.#bodyLength));
        const body = bytes.toString("utf8", 0, this.#bodyLength);
        this.#bodyLength = undefined;
        this.#needed = 1;
        this.#onBody(body);
      }
    }
  }

  #readHead(bytes) {
    const end = bytes.indexOf(headEnd);
    if (end === -1) {
      // Bytes that cannot become a header are reported at once instead of waiting for its end.
      const isHeader = /^[A-Za-z-]*$|^[A-Za-z-]+:/.test(bytes.toString("latin1", 0, 80));
      if (!isHeader || bytes.length > 8192) throw new Error(`no header in ${JSON.stringify(bytes.toString("latin1", 0, 80))}`);
      this.#needed = bytes.length + 1;
      return false;
    }
    const head = bytes.toString("latin1", 0, end);
    const match = /^content-length:[ \t]*(\d+)[ \t]*$/im.exec(head);
    if (!match) throw new Error(`no Content-Length in ${JSON.stringify(head.slice(0, 80))}`);
    this.#keep(bytes.subarray(end + headEnd.length));
    this.#bodyLength = Number(match[1]);
    this.#needed = this.#bodyLength;
    return true;
  }

  #keep(rest) {
    this.#parts = [rest];
    this.#length = rest.length;
  }
}

module.exports = { encodeFrame, frame, FrameReader };
