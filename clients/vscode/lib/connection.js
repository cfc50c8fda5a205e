"use strict";

const { HalcyonError } = require("./errors.js");
const { encodeFrame, FrameReader } = require("./framing.js");

const methodNotFound = -32601;
const maxMessageBytes = 64 * 1024 * 1024;

/**
 * JSON-RPC 2.0 in Content-Length frames over two streams, as `vscode-jsonrpc` speaks it. Every call ends exactly once: by
 * its answer, by its token, or by `fail`.
 */
class Connection {
  #input;
  #calls = new Map();
  #nextID = 1;
  #failure;
  #hooks;

  /**
   * `hooks.onNotification(method, params)` gets what belongs to no call, `hooks.onViolation(error)` is told when what
   * comes is no JSON-RPC.
   */
  constructor(input, output, hooks) {
    this.#input = input;
    this.#hooks = hooks;
    const reader = new FrameReader((body) => this.#receive(body));
    output.on("data", (chunk) => {
      if (this.#failure) return;
      try {
        reader.push(chunk);
      } catch (error) {
        this.#violation(error.message);
      }
    });
  }

  /** The number of calls that wait for an answer. */
  get openCount() {
    return this.#calls.size;
  }

  /**
   * Calls a method. `token` is a cancellation token of VS Code; `onProgress` is told of `receivedBytes` and `totalBytes`.
   * Rejects with a `HalcyonError`, when cancelled at once with the kind `requestCancelled`.
   */
  call(method, params, { token, onProgress } = {}) {
    if (this.#failure) return Promise.reject(this.#failure(method));
    if (token?.isCancellationRequested) return Promise.reject(cancelled(method));
    const id = this.#nextID++;
    const frame = encodeFrame({ id, method, params: onProgress ? { ...params, workDoneToken: id } : params });
    if (frame.length > maxMessageBytes) {
      const message = `Cannot send ${method}: the message has ${frame.length} bytes and the server reads at most ${maxMessageBytes}.`;
      return Promise.reject(new HalcyonError("messageTooLarge", message, { method }));
    }
    return new Promise((resolve, reject) => {
      const call = { method, onProgress, resolve, reject };
      this.#calls.set(id, call);
      call.listener = token?.onCancellationRequested(() => {
        if (!this.#take(id)) return;
        this.notify("$/cancelRequest", { id });
        reject(cancelled(method));
      });
      this.#input.write(frame);
    });
  }

  /** Sends a notification. */
  notify(method, params) {
    this.#input.write(encodeFrame({ method, params }));
  }

  /** Sends a message as it is. */
  send(message) {
    this.#input.write(encodeFrame(message));
  }

  /** Ends the input of the server, which then answers what it has and exits. */
  end() {
    this.#input.end();
  }

  /** Rejects every open call, and every later one, with what `makeError(method)` gives. */
  fail(makeError) {
    this.#failure ??= makeError;
    for (const id of [...this.#calls.keys()]) {
      const call = this.#take(id);
      call.reject(this.#failure(call.method));
    }
  }

  #take(id) {
    const call = this.#calls.get(id);
    if (!call) return undefined;
    this.#calls.delete(id);
    call.listener?.dispose();
    return call;
  }

  #receive(body) {
    let message;
    try {
      message = JSON.parse(body);
    } catch {
      this.#violation(`${JSON.stringify(body.slice(0, 80))} is no JSON`);
      return;
    }
    for (const one of Array.isArray(message) ? message : [message]) this.#dispatch(one);
  }

  #dispatch(message) {
    if (typeof message?.method === "string") {
      if (message.id !== undefined) {
        const error = { code: methodNotFound, message: `This client answers no requests, and so not ${message.method}.` };
        this.send({ id: message.id, error });
      } else if (message.method === "$/progress" && this.#calls.get(message.params?.token)?.onProgress) {
        this.#calls.get(message.params.token).onProgress(message.params.value);
      } else {
        this.#hooks.onNotification?.(message.method, message.params);
      }
    } else if (message?.id === null && message.error) {
      // The server could not tell which request it refused: rather fail all than leave one waiting for ever.
      for (const id of [...this.#calls.keys()]) this.#answer(id, message);
    } else if (message?.id !== undefined) {
      this.#answer(message.id, message);
    } else {
      this.#violation(`${JSON.stringify(message)?.slice(0, 80)} is no message`);
    }
  }

  #answer(id, { result, error }) {
    const call = this.#take(id);
    if (!call) return;
    if (error) call.reject(HalcyonError.fromResponse(error, call.method));
    else call.resolve(result);
  }

  #violation(what) {
    const message = `The server wrote something that is not JSON-RPC: ${what}. Check that the executable is halcyon.`;
    this.fail((method) => new HalcyonError("serverGone", message, { method, data: { retryable: false } }));
    this.#hooks.onViolation?.(message);
  }
}

function cancelled(method) {
  return new HalcyonError("requestCancelled", "The request was cancelled.", { code: -32800, method });
}

module.exports = { Connection };
