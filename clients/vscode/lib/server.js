"use strict";

const { format } = require("node:util");
const { events } = require("./protocol.js");

/**
 * The server that the extension uses, through the Node client in the folder `client`: started by the first call, started
 * again by the next call, or for those who listen, after it died. It never outlives the extension host.
 */
class Server {
  #options;
  #log;
  #opening;
  #client;
  #heard = new Map();
  #restarts = 0;

  /**
   * `options()` is asked for `{binary, args, env}` at the first start, and after each `stop`; `log(text)` gets what servers
   * write to their standard error.
   */
  constructor(options, log = () => {}) {
    this.#options = options;
    this.#log = log;
  }

  /** The process id of the server, or of the last one; undefined before the first call and after `stop`. */
  get pid() {
    return this.#client?.pid;
  }

  /**
   * Calls a method. `token` is a cancellation token of VS Code; `onProgress` is told of `receivedBytes` and `totalBytes`.
   * Rejects with a `HalcyonError`, when cancelled with the kind `requestCancelled`.
   */
  async call(method, params, { token, onProgress } = {}) {
    const restarts = this.#restarts;
    const client = await this.#open();
    this.#listen(client);
    const controller = new AbortController();
    const cancel = () => controller.abort(cancelled(method));
    if (token?.isCancellationRequested) cancel();
    const listener = token?.onCancellationRequested(cancel);
    try {
      return await client.call(method, params, { signal: controller.signal, onProgress });
    } catch (error) {
      // It was not sent: it waited for another server of a client that `restart` has closed meanwhile.
      if (error?.kind !== "clientClosed" || this.#restarts === restarts) throw error;
    } finally {
      listener?.dispose();
    }
    return this.call(method, params, { token, onProgress });
  }

  /**
   * Calls `listener(params)` at every such event, also of servers that are started later. Returns what ends that, with
   * `dispose()`. Throws for an event that does not exist.
   */
  on(event, listener) {
    if (!events.includes(event)) throw new TypeError(`There is no event "${event}"; there are ${events.join(", ")}.`);
    const heard = this.#heard.get(event) ?? { listeners: new Set(), client: undefined, controller: undefined };
    heard.listeners.add(listener);
    this.#heard.set(event, heard);
    this.#open().then(
      (client) => this.#listen(client),
      (error) => this.#log(`${error.message}\n`),
    );
    return {
      dispose: () => {
        if (!heard.listeners.delete(listener) || heard.listeners.size > 0) return;
        this.#heard.delete(event);
        heard.controller?.abort();
      },
    };
  }

  /** Lets the server end when it has answered what it was asked; the next call starts another. */
  async stop() {
    const opening = this.#opening;
    this.#opening = this.#client = undefined;
    const client = await opening?.catch(() => {});
    await client?.close();
  }

  /** Lets the server end, and starts another at once when somebody listens; else the next call does. */
  async restart() {
    this.#restarts += 1;
    await this.stop();
    if (this.#heard.size > 0) this.#listen(await this.#open());
  }

  async #open() {
    const opening = (this.#opening ??= this.#start());
    try {
      const client = await opening;
      if (this.#opening === opening) this.#client = client;
      return client;
    } catch (error) {
      if (this.#opening === opening) this.#opening = undefined;
      throw error;
    }
  }

  async #start() {
    await loaded;
    const { binary, args = [], env = {} } = this.#options();
    const fullEnv = { ...process.env, ...env };
    const setting = binary ? binary.replace(/^~(?=\/)/, fullEnv.HOME ?? "~") : undefined;
    const found = findBinary(setting, fullEnv, "the setting halcyon.binary");
    return new Client({ binary: found, args, env, stderr: this.#log });
  }

  /** Hears the events that somebody listens to, each in a loop of its own, which goes on with the next server of a client. */
  #listen(client) {
    for (const [event, heard] of this.#heard) {
      if (heard.client === client) continue;
      heard.client = client;
      heard.controller = new AbortController();
      this.#hear(client, event, heard, heard.controller.signal);
    }
  }

  async #hear(client, event, heard, signal) {
    try {
      for await (const { params } of client.events(event, { signal })) {
        for (const listener of [...heard.listeners]) this.#tell(listener, params);
      }
    } catch (error) {
      if (!signal.aborted) this.#log(`${error.message}\n`);
    }
    // A server that died at once, or too often: the next call tries again.
    if (heard.client === client) heard.client = undefined;
  }

  #tell(listener, params) {
    try {
      listener(params);
    } catch (error) {
      this.#log(format("A listener failed: %s\n", error?.stack ?? error));
    }
  }
}

let Client, findBinary, HalcyonError;
const loaded = Promise.all([
  import("../client/client.mjs"),
  import("../client/binary.mjs"),
  import("../client/errors.mjs"),
]).then((modules) => ({ Client, findBinary, HalcyonError } = Object.assign({}, ...modules)));

function cancelled(method) {
  return new HalcyonError("The request was cancelled.", { code: -32800, method });
}

module.exports = { Server };
