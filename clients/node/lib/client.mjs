import { Connection } from "./connection.mjs";
import { Delegates } from "./delegates.mjs";
import { ClientClosedError, ServerGoneError } from "./errors.mjs";
import { Methods, sendMany } from "./methods.mjs";
import { ServerProcess } from "./process.mjs";

const closeTimeoutMs = 5000;
const violationTimeoutMs = 1000;

/**
 * A halcyon server of one's own: starts the process, calls its methods, ends it.
 *
 * The types, and what each method does, are in `index.d.ts`; the methods of the protocol come from `Methods`.
 */
export class Client extends Methods {
  #process;
  #connection;
  #closing;
  #listeners = new Map();
  #delegates;

  constructor(options = {}) {
    super();
    this.#delegates = new Delegates(options.delegates ?? {}, (id, answer) => this.#connection.reply(id, answer));
    const server = new ServerProcess(options);
    this.#process = server;
    this.#connection = new Connection(server.stdin, server.stdout, {
      onBusy: (busy) => server.setBusy(busy),
      onRequest: (id, method, params) => this.#delegates.ask(id, method, params),
      onNotification: (method, params) => {
        if (method === "$/cancelRequest") return this.#delegates.cancel(params?.id);
        this.#listeners.get(method)?.(method, params);
        options.onNotification?.(method, params);
      },
      onViolation: (makeError) => {
        this.#connection.fail(makeError);
        this.#connection.end();
        server.stop(violationTimeoutMs);
      },
    });
    server.setBusy(false);
    if (this.#delegates.names.length > 0) {
      const capabilities = { delegates: this.#delegates.names };
      // A server that refuses this asks nothing, and says with the next call what is wrong with it.
      this.call("initialize", { capabilities }).catch(() => {});
    }
    server.exited.then((end) => this.#connection.fail((method) => end.error ?? goneError(end, method)));
  }

  static async start(options) {
    const client = new Client(options);
    try {
      await client.ping();
    } catch (error) {
      await client.close();
      throw error;
    }
    return client;
  }

  get pid() {
    return this.#process.pid;
  }

  get binary() {
    return this.#process.binary;
  }

  async call(method, params, options) {
    return (await this[sendMany](method, [params], options))[0];
  }

  notify(method, params) {
    if (this.#closing) throw new ClientClosedError(method);
    this.#connection.notify(method, params);
  }

  async subscribe(events, listener, options) {
    const names = [events].flat();
    const earlier = names.map((name) => [name, this.#listeners.get(name)]);
    // Known before the server is asked: an event may come with the answer.
    for (const name of names) if (listener) this.#listeners.set(name, listener);
    try {
      return (await this.call("subscribe", { events: names }, options)).events;
    } catch (error) {
      for (const [name, before] of earlier) before ? this.#listeners.set(name, before) : this.#listeners.delete(name);
      throw error;
    }
  }

  async *events(names, { signal } = {}) {
    signal?.throwIfAborted();
    const waiting = [];
    let wake = () => {};
    let isOver = false;
    const end = () => {
      isOver = true;
      wake();
    };
    signal?.addEventListener("abort", end, { once: true });
    this.#process.exited.then(end);
    try {
      await this.subscribe(names, (event, params) => {
        waiting.push({ event, params });
        wake();
      });
      while (true) {
        while (waiting.length > 0) yield waiting.shift();
        if (isOver) break;
        const release = this.#process.hold();
        await new Promise((resolve) => (wake = resolve));
        release();
      }
      signal?.throwIfAborted();
    } finally {
      signal?.removeEventListener("abort", end);
      if (!isOver || signal?.aborted) await this.unsubscribe(names).catch(() => {});
    }
  }

  async unsubscribe(events, options) {
    const names = [events].flat();
    const left = (await this.call("unsubscribe", { events: names }, options)).events;
    for (const name of names) this.#listeners.delete(name);
    return left;
  }

  async close({ timeoutMs = closeTimeoutMs } = {}) {
    if (!this.#closing) {
      this.#closing = true;
      this.#connection.end();
      this.#process.stop(timeoutMs);
    }
    const { exitCode, signal } = await this.#process.exited;
    return { exitCode, signal };
  }

  async [sendMany](method, paramsList, { signal, onProgress, settled = false } = {}, convert = (result) => result) {
    if (this.#closing) throw new ClientClosedError(method);
    const calls = this.#connection.callMany(method, paramsList, { signal, onProgress });
    const results = calls.map((call) => call.then(convert));
    return settled ? Promise.allSettled(results) : Promise.all(results);
  }

  static {
    // Node 18 before 18.18 has no such symbol.
    if (Symbol.asyncDispose) {
      this.prototype[Symbol.asyncDispose] = async function () {
        await this.close();
      };
    }
  }
}

function goneError({ exitCode, signal }, method) {
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
  const message =
    `No answer to ${method}: the server process ${how}. ` +
    "What it had to say is on its standard error; start another with Client.start().";
  return new ServerGoneError(message, { exitCode, signal, method });
}
