import { spawn } from "node:child_process";
import { once } from "node:events";

/**
 * A server spoken to in bytes, in either framing. Shares no code with the package: what checks the protocol must not
 * make the same mistakes.
 */
export class Wire {
  #framing;
  #bytes = Buffer.alloc(0);
  #messages = [];
  #wake = () => {};
  #ended = false;
  #fault;

  constructor(binary, args, framing, options = {}) {
    this.#framing = framing;
    this.child = spawn(binary, args, { stdio: ["pipe", "pipe", "inherit"], ...options });
    this.exit = once(this.child, "close");
    this.child.stdin.on("error", () => {});
    this.child.stdout.on("data", (chunk) => this.#receive(chunk));
    this.child.stdout.on("end", () => {
      this.#ended = true;
      this.#wake();
    });
  }

  /** Sends `body` as one frame. */
  send(body) {
    const head = this.#framing === "lines" ? "" : `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n`;
    this.child.stdin.write(head + body + (this.#framing === "lines" ? "\n" : ""));
  }

  /** Waits for the next message of the server; undefined at the end of its output. Throws for a broken frame. */
  async next() {
    while (this.#messages.length === 0 && !this.#ended && !this.#fault) {
      await new Promise((resolve) => (this.#wake = resolve));
    }
    if (this.#messages.length === 0 && this.#fault) throw this.#fault;
    return this.#messages.shift();
  }

  /** Bytes that came and are no whole frame. */
  get rest() {
    return this.#bytes.toString("utf8");
  }

  #receive(chunk) {
    this.#bytes = Buffer.concat([this.#bytes, chunk]);
    try {
      for (let frame = this.#cut(); frame !== undefined; frame = this.#cut()) {
        this.#messages.push(JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(frame)));
      }
    } catch (error) {
      this.#fault ??= error;
    }
    this.#wake();
  }

  #cut() {
    if (this.#framing === "lines") {
      const end = this.#bytes.indexOf("\n");
      return end === -1 ? undefined : this.#take(0, end, 1);
    }
    const end = this.#bytes.indexOf("\r\n\r\n");
    if (end === -1) return undefined;
    const head = this.#bytes.toString("latin1", 0, end);
    const match = /^Content-Length: (\d+)$/.exec(head);
    if (!match) throw new Error(`A frame must begin with exactly one header Content-Length, not ${JSON.stringify(head)}.`);
    const length = Number(match[1]);
    return this.#bytes.length < end + 4 + length ? undefined : this.#take(end + 4, end + 4 + length, 0);
  }

  #take(start, end, after) {
    const frame = this.#bytes.subarray(start, end);
    this.#bytes = this.#bytes.subarray(end + after);
    return frame;
  }
}
