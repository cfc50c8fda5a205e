import { Methods, sendMany } from "./methods.mjs";
import { Servers } from "./servers.mjs";
import { checkSignal, unlessAborted } from "./signals.mjs";

const closeTimeoutMs = 5000;

/** Calls what a user gave. What it throws is the program's to handle, and must not keep the answers behind from their calls. */
function tell(listener, ...values) {
  try {
    listener?.(...values);
  } catch (error) {
    process.nextTick(() => {
      throw error;
    });
  }
}

/**
 * A halcyon server of one's own: starts the process, calls its methods, ends it, and starts another when it died.
 *
 * The types, and what each method does, are in `index.d.ts`; the methods of the protocol come from `Methods`.
 */
export class Client extends Methods {
  #servers;
  #listeners = new Map();
  #loops = new Set();

  constructor({ onNotification, ...options } = {}) {
    super();
    this.#servers = new Servers(options, {
      onNotification: (method, params) => {
        for (const loop of this.#loops) loop.take(method, params);
        tell(this.#listeners.get(method)?.listener, method, params);
        tell(onNotification, method, params);
      },
      onEnd: () => this.#wakeLoops(),
    });
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
    return this.#servers.process.pid;
  }

  get binary() {
    return this.#servers.process.binary;
  }

  async call(method, params, options) {
    return (await this[sendMany](method, [params], options))[0];
  }

  notify(method, params) {
    const connection = this.#servers.living(method);
    if (connection) connection.notify(method, params);
    // When there is none, the next call tells why.
    else this.#next(method).then((next) => next.notify(method, params)).catch(() => {});
  }

  /** The connection to the next server, for those who found none that lives. */
  #next(method, signal) {
    return unlessAborted(this.#servers.next(method), signal, method);
  }

  async subscribe(events, listener, options) {
    const names = [events].flat();
    const entries = names.map((name) => {
      const before = this.#listeners.get(name);
      return { name, before, entry: { listener: listener ?? before?.listener } };
    });
    // Known before the server is asked: an event may come with the answer.
    for (const { name, entry } of entries) this.#listeners.set(name, entry);
    try {
      return (await this.call("subscribe", { events: names }, options)).events;
    } catch (error) {
      for (const { name, before, entry } of entries) {
        if (this.#listeners.get(name) !== entry) continue; // of one that was subscribed meanwhile
        if (before) this.#listeners.set(name, before);
        else this.#listeners.delete(name);
      }
      throw error;
    }
  }

  async *events(events, { signal } = {}) {
    checkSignal(signal);
    signal?.throwIfAborted();
    const waiting = [];
    const loop = {
      names: [events].flat(),
      take: (event, params) => {
        if (!loop.names.includes(event)) return;
        waiting.push({ event, params });
        loop.wake();
      },
      wake: () => {},
    };
    const end = () => loop.wake();
    signal?.addEventListener("abort", end, { once: true });
    this.#loops.add(loop);
    let isSubscribed = false;
    try {
      await this.call("subscribe", { events: loop.names }, { signal });
      isSubscribed = true;
      while (true) {
        while (waiting.length > 0) yield waiting.shift();
        if (signal?.aborted || this.#servers.isClosed || loop.names.length === 0) break;
        if (!this.#servers.living("subscribe")) {
          await this.#next("subscribe", signal);
          continue; // much may have happened meanwhile
        }
        const release = this.#servers.process.hold();
        await new Promise((resolve) => (loop.wake = resolve));
        release();
      }
      signal?.throwIfAborted();
    } catch (error) {
      signal?.throwIfAborted(); // its reason, also where a call says it in other words
      throw error;
    } finally {
      this.#loops.delete(loop);
      signal?.removeEventListener("abort", end);
      // An aborted call may have subscribed. Nobody waits for the answer, which may not come.
      const unheard = isSubscribed || signal?.aborted ? loop.names.filter((name) => !this.#isHeard(name)) : [];
      if (unheard.length > 0 && !this.#servers.isClosed) this.call("unsubscribe", { events: unheard }).catch(() => {});
    }
  }

  #isHeard(name) {
    return this.#listeners.has(name) || [...this.#loops].some((loop) => loop.names.includes(name));
  }

  #wakeLoops() {
    for (const loop of this.#loops) loop.wake();
  }

  async unsubscribe(events, options) {
    const names = [events].flat();
    const ended = names.map((name) => [name, this.#listeners.get(name)]);
    const loops = [...this.#loops];
    const left = (await this.call("unsubscribe", { events: names }, options)).events;
    // What was subscribed meanwhile stays.
    for (const [name, before] of ended) if (this.#listeners.get(name) === before) this.#listeners.delete(name);
    for (const loop of loops) loop.names = loop.names.filter((name) => !names.includes(name));
    this.#wakeLoops();
    return left;
  }

  async close(options) {
    const timeoutMs = options?.timeoutMs ?? closeTimeoutMs;
    const { exitCode, signal } = await this.#servers.close(Number.isNaN(timeoutMs) ? closeTimeoutMs : timeoutMs);
    return { exitCode, signal };
  }

  async [sendMany](method, paramsList, { signal, onProgress, settled = false } = {}, convert = (result) => result) {
    checkSignal(signal);
    let calls, notes;
    try {
      const connection = this.#servers.living(method) ?? (await this.#next(method, signal));
      notes = paramsList.map((params) => this.#servers.sent(method, params));
      calls = connection.callMany(method, paramsList, { signal, onProgress });
    } catch (reason) {
      calls = paramsList.map(() => Promise.reject(reason));
    }
    const results = calls.map(async (call, index) => {
      const result = await call;
      notes[index](result);
      return convert(result);
    });
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
