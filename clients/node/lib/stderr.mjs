const keptLines = 10;
const lineLimit = 500;

/** The last ten lines of a text that comes in pieces, each cut after 500 characters: for the report of a server's end. */
export class LastLines {
  #lines = [];
  #rest = "";

  /** Takes the next piece. */
  push(text) {
    const lines = (this.#rest + text).split("\n");
    this.#rest = lines.pop().slice(0, lineLimit);
    this.#lines = [...this.#lines, ...lines.map((line) => line.slice(0, lineLimit))].slice(-keptLines);
  }

  /** The last lines, also the one that has no end. */
  get lines() {
    return (this.#rest === "" ? this.#lines : [...this.#lines, this.#rest]).slice(-keptLines);
  }
}
