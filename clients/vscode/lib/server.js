"use strict";

const { spawn } = require("node:child_process");
const { findBinary } = require("./binary.js");
const { Connection } = require("./connection.js");
const { HalcyonError } = require("./errors.js");
const { events } = require("./protocol.js");

const closeTimeoutMs = 5000;
const maxRevivals = 3;

/**
 * The server that the extension uses: started by the first call, started again by the next call after it died. It never
 * outlives the extension host: it reads the end of its input.
 */
class Server {
  #options;
  #current;
  #revivals = 0;
  #listeners = new Map();

  /**
   * `options()` is asked at every start for `{binary, args, env}`; `log(text)` gets what servers write to their standard
   * error.
   */
  constructor(options, log = () => {}) {
    this.#options = options;
    this.log = log;
    this.starts = 0;
  }

  /** The process id, while a server runs. */
  get pid() {
    return this.#current?.child.pid;
  }

  /** The executable of the last start. */
  binary;

  /** Calls a method; see `Connection.call`. */
  async call(method, params, options) {
    this.#revivals = 0;
    return this.#start().connection.call(method, params, options);
  }

  /**
   * Calls `listener(params)` at every such event, also of servers that are started later. Returns what ends that, with
   * `dispose()`. Throws for an event that does not exist.
   */
  on(event, listener) {
    if (!events.includes(event)) throw new TypeError(`There is no event "${event}"; there are ${events.join(", ")}.`);
    const listeners = this.#listeners.get(event) ?? new Set();
    const isFirst = listeners.size === 0;
    listeners.add(listener);
    this.#listeners.set(event, listeners);
    if (isFirst && this.#current) this.#subscribe(this.#current, "subscribe", [event]);
    else if (!this.#current) this.#start();
    return {
      dispose: () => {
        if (!listeners.delete(listener) || listeners.size > 0) return;
        this.#listeners.delete(event);
        if (this.#current) this.#subscribe(this.#current, "unsubscribe", [event]);
      },
    };
  }

  /** Lets the server end when it has answered what it was asked; the next call starts another. */
  async stop() {
    const stopped = this.#current;
    if (!stopped) return;
    this.#current = undefined;
    stopped.isStopped = true;
    stopped.connection.end();
    const timer = setTimeout(() => stopped.child.kill("SIGKILL"), closeTimeoutMs);
    await stopped.ended;
    clearTimeout(timer);
  }

  /** Lets the server end, and starts another at once when somebody listens; else the next call does. */
  async restart() {
    await this.stop();
    this.#revivals = 0;
    if (this.#listeners.size > 0) this.#start();
  }

  #start() {
    if (this.#current) return this.#current;
    const { binary, args = [], env = {} } = this.#options();
    const fullEnv = { ...process.env, ...env };
    this.binary = findBinary(binary, fullEnv);
    const child = spawn(this.binary, args, { env: fullEnv, stdio: ["pipe", "pipe", "pipe"] });
    const server = { child, isStopped: false, hasSpoken: false };
    this.#current = server;
    this.starts += 1;
    let said = "";
    child.stderr.setEncoding("utf8").on("data", (text) => {
      said = (said + text).slice(-4096);
      this.log(text);
    });
    child.stdout.once("data", () => (server.hasSpoken = true));
    child.stdin.on("error", () => {});
    server.connection = new Connection(child.stdin, child.stdout, {
      onNotification: (method, params) => {
        for (const listener of [...(this.#listeners.get(method) ?? [])]) listener(params);
      },
      onViolation: () => child.kill("SIGTERM"),
    });
    server.ended = new Promise((resolve) => {
      const finish = (how) => {
        server.connection.fail((method) => gone(how, said, method));
        this.#ended(server);
        resolve();
      };
      child.on("error", (error) => child.pid === undefined && finish(`could not be started: ${error.message}`));
      child.on("close", (code, signal) => finish(signal ? `was ended by ${signal}` : `ended with exit code ${code}`));
    });
    if (this.#listeners.size > 0) this.#subscribe(server, "subscribe", [...this.#listeners.keys()]);
    return server;
  }

  #subscribe(server, method, events) {
    // The callers of methods get the error that ends the connection.
    server.connection.call(method, { events }).catch((error) => this.log(`${error.message}\n`));
  }

  #ended(server) {
    if (this.#current === server) this.#current = undefined;
    // Listeners need a running server, so it is restarted. A server that exits before its first message, or again and
    // again, is only restarted by the next call.
    if (server.isStopped || !server.hasSpoken || this.#listeners.size === 0 || this.#revivals >= maxRevivals) return;
    this.#revivals += 1;
    try {
      this.#start();
    } catch (error) {
      this.log(`${error.message}\n`);
    }
  }
}

function gone(how, said, method) {
  const last = said.trim().split("\n").pop();
  const message = `No answer to ${method}: the server process ${how}.${last ? ` It said: ${last}` : ""} The next call starts another.`;
  return new HalcyonError("serverGone", message, { method, data: { retryable: true } });
}

module.exports = { Server };
