import path from "node:path";
import { toPath } from "./binary.mjs";
import { Connection } from "./connection.mjs";
import { Delegates } from "./delegates.mjs";
import { ClientClosedError, ServerGoneError } from "./errors.mjs";
import { ServerProcess } from "./process.mjs";

const closeTimeoutMs = 5000;
const violationTimeoutMs = 1000;

/**
 * A halcyon server of one's own: starts the process, calls its methods, ends it.
 *
 * The types and what each method does, with units, defaults and errors, are in `index.d.ts`.
 */
export class Client {
  #process;
  #connection;
  #closing;
  #listeners = new Map();
  #delegates;

  constructor(options = {}) {
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
    return (await this.#callMany(method, [params], options))[0];
  }

  notify(method, params) {
    if (this.#closing) throw new ClientClosedError(method);
    this.#connection.notify(method, params);
  }

  async retrieve(request, options) {
    return withBytes(await this.call("retrieve", named("url", request), options));
  }

  async store({ data, path: file, ...rest }, options) {
    const params = { ...rest };
    if (file !== undefined) params.path = path.resolve(toPath(file));
    if (data !== undefined) params.data = base64(data);
    return withBytes(await this.call("store", params, options));
  }

  async remove(request, options) {
    return this.call("remove", named("key", request), options);
  }

  async isCached(request, options) {
    return this.call("isCached", named("key", request), options);
  }

  async cachePath(request, options) {
    return this.call("cachePath", named("key", request), options);
  }

  async retrieveMany(requests, options) {
    return this.#callMany("retrieve", listOf("url", requests), options, withBytes);
  }

  async isCachedMany(requests, options) {
    return this.#callMany("isCached", listOf("key", requests), options);
  }

  async cachePathMany(requests, options) {
    return this.#callMany("cachePath", listOf("key", requests), options);
  }

  async calculateSize(request, options) {
    return this.call("calculateSize", request, options);
  }

  async clear(request, options) {
    return this.call("clear", request, options);
  }

  async clearMemory(request, options) {
    return this.call("clearMemory", request, options);
  }

  async clearDisk(request, options) {
    return this.call("clearDisk", request, options);
  }

  async configure(request, options) {
    return this.call("configure", request, options);
  }

  async caches(options) {
    return (await this.call("caches", undefined, options)).caches;
  }

  async addReadOnlyCachePath(request, options) {
    const { path: folder, ...rest } = named("path", request);
    return this.call("addReadOnlyCachePath", { ...rest, path: path.resolve(toPath(folder)) }, options);
  }

  async inspect(request, options) {
    return this.call("inspect", named("key", request), options);
  }

  async *listEntries(request = {}, options) {
    const { pageSize, ...filters } = request;
    let cursor;
    do {
      const page = await this.call("list", { ...filters, limit: pageSize, cursor }, options);
      yield* page.entries;
      cursor = page.cursor;
    } while (cursor !== null && cursor !== undefined);
  }

  async cleanExpired(request, options) {
    return this.call("cleanExpired", request, options);
  }

  async explain(request, options) {
    return this.call("explain", named("url", request), options);
  }

  async listFailures(request, options) {
    return (await this.call("listFailures", request, options)).failures;
  }

  async forgetFailures(request, options) {
    return (await this.call("forgetFailures", named("url", request), options)).forgotten;
  }

  async pause(what, options) {
    return this.call("pause", { what }, options);
  }

  async resume(options) {
    return this.call("resume", undefined, options);
  }

  async verify(request, options) {
    return this.call("verify", request, options);
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
        await new Promise((resolve) => (wake = resolve));
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

  async stats(options) {
    return this.call("stats", undefined, options);
  }

  async ping(options) {
    return this.call("ping", undefined, options);
  }

  async discover(options) {
    return this.call("rpc.discover", undefined, options);
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

  async #callMany(method, paramsList, { signal, onProgress, settled = false } = {}, convert = (result) => result) {
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

/** A string or a URL stands for the one parameter that every request has. */
function named(name, request) {
  return typeof request === "string" || request instanceof URL ? { [name]: String(request) } : request;
}

function listOf(name, requests) {
  return Array.from(requests, (request) => named(name, request));
}

function base64(data) {
  if (!(data instanceof Uint8Array)) throw new TypeError("`data` must be a Buffer or a Uint8Array.");
  return Buffer.from(data.buffer, data.byteOffset, data.byteLength).toString("base64");
}

function withBytes(result) {
  return typeof result?.data === "string" ? { ...result, data: Buffer.from(result.data, "base64") } : result;
}
