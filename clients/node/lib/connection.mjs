import { ErrorCode, maxMessageBytes } from "./codes.mjs";
import { cancellationError, HalcyonError, isObject, MessageTooLargeError, ServerGoneError, wordsOf } from "./errors.mjs";
import { encodeMessage, LineSplitter, longestLine } from "./framing.mjs";
import { Outbox } from "./outbox.mjs";

const cancelGraceMs = 1000;
const tokenPrefix = "halcyon-client ";

/**
 * JSON-RPC 2.0 over two streams: numbers requests, matches replies, carries cancellation and progress.
 *
 * Knows nothing of processes or images. Every call ends exactly once: by its reply, by its signal, or by `fail`.
 */
export class Connection {
  #outbox;
  #calls = new Map();
  #nextID = 1;
  #failure;
  #hooks;

  /**
   * `hooks.onBusy(busy)` is told when the first call begins and when the last one ends; `hooks.onNotification(method,
   * params)` gets the notifications that belong to no call; `hooks.onRequest(id, method, params)` answers, when it can,
   * with `reply`, and else returns false; `hooks.onViolation(error)` is told when what comes is not JSON-RPC.
   */
  constructor(input, output, hooks) {
    this.#hooks = hooks;
    this.#outbox = new Outbox(input);
    const tooLong = `a line of more than ${longestLine} bytes`;
    const lines = new LineSplitter(
      (line) => this.#receive(line),
      (head) => this.#violation(head, { what: tooLong }),
    );
    output.on("data", (chunk) => lines.push(chunk));
  }

  /** Sends one request for each element of `paramsList`, all in one write, and returns a promise for each. */
  callMany(method, paramsList, { signal, onProgress } = {}) {
    const group = { left: paramsList.length, signal, onAbort: undefined, calls: [] };
    if (signal && group.left > 0) {
      group.onAbort = () => group.calls.forEach((call) => this.#cancel(call, signal.reason));
      signal.addEventListener("abort", group.onAbort, { once: true });
    }
    return paramsList.map((params, index) => this.#begin(group, method, params, index, onProgress));
  }

  /** Sends a notification. */
  notify(method, params) {
    if (this.#failure) throw this.failure(method);
    this.#outbox.push(encode(method, { method, params }));
  }

  /** Sends the answer to a request of the server: `{result}` or `{error}`; for one that it could not read, why. */
  reply(id, answer) {
    let text;
    try {
      text = encode("an answer", { id, ...answer });
    } catch (error) {
      text = encodeMessage({ id, error: { code: ErrorCode.internalError, message: wordsOf(error) } });
    }
    this.#outbox.push(text);
  }

  /** Sends what waits, then ends the input of the server. */
  end() {
    this.#outbox.end();
  }

  /** Rejects every open call, and every later one, with the error that `makeError(method)` gives. */
  fail(makeError) {
    this.#failure ??= makeError;
    for (const call of [...this.#calls.values()]) this.#settle(call, { error: this.failure(call.method) });
  }

  /** The error of a call that comes after `fail`. */
  failure(method) {
    return this.#failure(method);
  }

  async #begin(group, method, params, index, onProgress) {
    const id = this.#nextID++;
    try {
      if (group.signal?.aborted) throw cancellationError(group.signal.reason, method);
      if (this.#failure) throw this.failure(method);
      const progress = onProgress && ((value) => onProgress(value, index));
      const text = encode(method, { id, method, params: progress ? withToken(params, tokenPrefix + id) : params });
      return await new Promise((resolve, reject) => {
        const call = { id, method, group, progress, resolve, reject, slip: this.#outbox.push(text) };
        group.calls.push(call);
        this.#calls.set(id, call);
        if (this.#calls.size === 1) this.#hooks.onBusy(true);
      });
    } finally {
      group.left -= 1;
      if (group.left === 0 && group.onAbort) group.signal.removeEventListener("abort", group.onAbort);
    }
  }

  /** Ends a call, with the reply `{result}` or `{error}`. The reply of a cancelled call is only told as the cause. */
  #settle(call, reply) {
    if (!this.#calls.delete(call.id)) return;
    clearTimeout(call.timer);
    if (call.cancelled) call.reject(cancellationError(call.cancelled.reason, call.method, reply.error));
    else if (reply.error) call.reject(reply.error);
    else call.resolve(reply.result);
    if (this.#calls.size === 0) this.#hooks.onBusy(false);
  }

  #cancel(call, reason) {
    if (call.cancelled || !this.#calls.has(call.id)) return;
    call.cancelled = { reason };
    if (this.#outbox.takeBack(call.slip)) {
      this.#settle(call, {});
      return;
    }
    this.#outbox.pushFirst(encodeMessage({ method: "$/cancelRequest", params: { id: call.id } }));
    // The server answers a cancel at once; one that is stuck must not hold the caller too.
    call.timer = setTimeout(() => this.#settle(call, {}), cancelGraceMs);
  }

  #receive(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch (cause) {
      this.#violation(line, { cause });
      return;
    }
    for (const one of Array.isArray(message) ? message : [message]) this.#dispatch(one, line);
  }

  #dispatch(message, line) {
    if (!isObject(message)) this.#violation(line);
    else if (typeof message.method === "string") this.#receiveRequest(message);
    else if (message.id === null && message.error) this.#rejectAll(message.error);
    else if (!("result" in message) && !message.error) this.#violation(line);
    else this.#receiveReply(message);
  }

  #receiveReply({ id, result, error }) {
    const call = this.#calls.get(id);
    // A call that was given up after its cancel was not answered in time has left already.
    if (call) this.#settle(call, error ? { error: HalcyonError.fromResponse(error, call.method) } : { result });
  }

  #receiveRequest({ id, method, params }) {
    if (id !== undefined) {
      if (this.#hooks.onRequest?.(id, method, params)) return;
      const error = { code: ErrorCode.methodNotFound, message: `This client answers no requests, and so not ${method}.` };
      this.reply(id, { error });
      return;
    }
    const call = method === "$/progress" ? this.#callOf(params?.token) : undefined;
    if (call?.progress) this.#reportProgress(call, params.value);
    else this.#hooks.onNotification(method, params);
  }

  /** The open call whose progress has this token. */
  #callOf(token) {
    if (typeof token !== "string" || !token.startsWith(tokenPrefix)) return undefined;
    return this.#calls.get(Number(token.slice(tokenPrefix.length)));
  }

  #reportProgress(call, value) {
    if (call.cancelled) return;
    try {
      call.progress(value);
    } catch (error) {
      this.#cancel(call, error);
    }
  }

  /** The server could not tell which request it refused: rather fail all than leave one waiting for ever. */
  #rejectAll(error) {
    for (const call of [...this.#calls.values()]) {
      this.#settle(call, { error: HalcyonError.fromResponse(error, call.method) });
    }
  }

  #violation(line, { what = "something that is not JSON-RPC", cause } = {}) {
    const shown = JSON.stringify(line.length > 80 ? `${line.slice(0, 80)}…` : line);
    const message = `The server wrote ${what}: ${shown}. Check that the executable is halcyon.`;
    this.#hooks.onViolation((method) => new ServerGoneError(message, { method, cause }));
  }
}

function encode(method, message) {
  const text = encodeMessage(message);
  // A character takes three bytes at most: only long messages need counting.
  if (text.length * 3 > maxMessageBytes) {
    const bytes = Buffer.byteLength(text) - 1;
    if (bytes > maxMessageBytes) throw new MessageTooLargeError(method, bytes, maxMessageBytes);
  }
  return text;
}

function withToken(params, token) {
  if (Array.isArray(params)) throw new TypeError("onProgress needs named parameters: give an object, not an array.");
  return { ...params, workDoneToken: token };
}
