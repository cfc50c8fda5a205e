import { ErrorCode } from "./codes.mjs";
import { wordsOf } from "./errors.mjs";

/** The answers for a handler that returns nothing: no opinion. Only `null` is a veto. */
const noOpinion = { "downloader/modifyRequest": {}, "downloader/redirect": {} };

/** Answers the questions that the server asks about downloads, each by the handler of its name. */
export class Delegates {
  #handlers;
  #reply;
  #asked = new Map();

  /**
   * `handlers` has a function for each name, or undefined as if it had not the name; `reply(id, answer)` sends what it
   * returned, or its failure.
   */
  constructor(handlers, reply) {
    const given = Object.entries(handlers).filter(([, handler]) => handler !== undefined);
    for (const [name, handler] of given) {
      if (typeof handler !== "function") throw new TypeError(`The delegate ${name} must be a function.`);
    }
    this.#handlers = Object.fromEntries(given);
    this.#reply = reply;
  }

  /** The names of the questions that are answered. */
  get names() {
    return Object.keys(this.#handlers);
  }

  /** Answers a question, now or later; returns false when there is no handler for it. */
  ask(id, method, params) {
    if (!Object.hasOwn(this.#handlers, method)) return false;
    this.#answer(id, method, params);
    return true;
  }

  /** The server no longer wants an answer. */
  cancel(id) {
    const controller = this.#asked.get(id);
    this.#asked.delete(id);
    controller?.abort();
  }

  /** The server has ended, and wants no answer any more. */
  end() {
    for (const id of [...this.#asked.keys()]) this.cancel(id);
  }

  async #answer(id, method, params) {
    const controller = new AbortController();
    this.#asked.set(id, controller);
    let answer;
    try {
      const result = await this.#handlers[method](params, { signal: controller.signal });
      answer = { result: result === undefined ? (noOpinion[method] ?? null) : result };
    } catch (error) {
      answer = { error: { code: ErrorCode.internalError, message: wordsOf(error) } };
    }
    if (this.#asked.delete(id)) this.#reply(id, answer);
  }
}
