const charactersPerWrite = 256 * 1024;

/**
 * The messages that wait to be written to the server.
 *
 * Messages added in one turn of the event loop leave in one write. While the stream asks to wait, messages stay here,
 * where they can still be taken back; reading never waits for this, so neither side can block the other for ever.
 */
export class Outbox {
  #stream;
  #waiting = [];
  #urgent = [];
  #blocked = false;
  #scheduled = false;
  #ended = false;

  constructor(stream) {
    this.#stream = stream;
    stream.on("drain", () => {
      this.#blocked = false;
      this.#flush();
    });
  }

  /** Adds a message and returns its slip, which `takeBack` understands. */
  push(text) {
    const slip = { text };
    this.#waiting.push(slip);
    this.#schedule();
    return slip;
  }

  /** Adds a message before all that wait, and after the earlier ones of its kind. */
  pushFirst(text) {
    this.#urgent.push({ text });
    this.#schedule();
  }

  /** Takes a message back. Returns false when it is already on its way. */
  takeBack(slip) {
    if (slip.text === null) return false;
    slip.text = null;
    return true;
  }

  /** Writes what waits, then ends the stream. Later messages are dropped. */
  end() {
    if (this.#ended) return;
    this.#ended = true;
    this.#blocked = false;
    while (this.#hasMore) this.#writeSome();
    this.#stream.end();
  }

  get #hasMore() {
    return this.#urgent.length + this.#waiting.length > 0;
  }

  #schedule() {
    if (this.#scheduled || this.#blocked || this.#ended) return;
    this.#scheduled = true;
    process.nextTick(() => {
      this.#scheduled = false;
      this.#flush();
    });
  }

  #flush() {
    while (this.#hasMore && !this.#blocked && !this.#ended) {
      if (!this.#writeSome()) this.#blocked = true;
    }
  }

  /** Writes about 256 KiB of messages. Returns false when the stream asks to wait. */
  #writeSome() {
    if (this.#urgent.length > 0) this.#waiting = this.#urgent.concat(this.#waiting);
    this.#urgent = [];
    let count = 0;
    let text = "";
    while (count < this.#waiting.length && text.length < charactersPerWrite) {
      const slip = this.#waiting[count++];
      if (slip.text !== null) text += slip.text;
      slip.text = null;
    }
    this.#waiting.splice(0, count);
    return text === "" || !this.#stream.writable || this.#stream.write(text);
  }
}
