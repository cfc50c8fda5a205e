import { spawn } from "node:child_process";
import { EventEmitter } from "node:events";
import path from "node:path";
import { PassThrough } from "node:stream";
import { findBinary, toPath } from "./binary.mjs";
import { LastLines } from "./stderr.mjs";

const killDelayMs = 2000;
const leftoverOutputMs = 1000;
const longestTimerMs = 2 ** 31 - 1;

const logs = new Map([
  ["inherit", (text) => process.stderr.write(text)],
  ["ignore", () => {}],
]);

/**
 * All that the servers of one client are started with. Looked up once: the next is started as the first one was, wherever
 * this program is by then. Throws `BinaryNotFoundError` when there is no executable to start, and a `TypeError` for another
 * `stderr`.
 */
export function launch({ binary, cacheDir, schemes, args = [], env = {}, stderr = "inherit" }) {
  const fullEnv = { ...process.env, ...env };
  const cache = cacheDir === undefined ? [] : ["--cache-dir", path.resolve(toPath(cacheDir))];
  const allowed = schemes === undefined ? [] : ["--allowed-schemes", [schemes].flat().join(",")];
  const log = typeof stderr === "function" ? stderr : logs.get(stderr);
  if (!log) throw new TypeError('`stderr` must be "inherit", "ignore" or a function that receives text.');
  return {
    binary: findBinary(binary, fullEnv),
    args: ["serve", ...cache, ...allowed, ...args],
    env: fullEnv,
    log,
  };
}

/** Starts a child. Whatever the system has against it comes as the event `error`, also what `spawn` throws. */
function startChild(binary, args, env) {
  try {
    return spawn(binary, args, { env, stdio: "pipe" });
  } catch (error) {
    if (error instanceof TypeError) throw error; // such as a flag with a NUL character
    const child = new EventEmitter();
    process.nextTick(() => child.emit("error", error));
    return child;
  }
}

/**
 * The server as a child process.
 *
 * The child is never detached and holds the only far ends of its pipes: when this process ends in any way, the child
 * reads the end of its input and exits by itself. `stop` does the same in good order.
 */
export class ServerProcess {
  #child;
  #busy = false;
  #holds = 0;
  #stopping = false;
  #ended = false;
  #timers = [];
  #said = new LastLines();

  /** The input and the output. They lead nowhere when the process could not be started, and Node made none. */
  stdin;
  stdout;

  /**
   * The exit status, once the process has ended and all its output was read: `{exitCode, signal, stderr, cause}`; `cause` is
   * why it could not be started.
   */
  exited;

  /** Starts the process, with what `launch` made. */
  constructor({ binary, args, env, log }) {
    this.binary = binary;
    this.#child = startChild(binary, args, env);
    this.stdin = this.#child.stdin ?? new PassThrough();
    this.stdout = this.#child.stdout ?? new PassThrough();
    this.#child.stderr?.setEncoding("utf8").on("data", (text) => {
      this.#said.push(text);
      log(text);
    });
    this.exited = new Promise((resolve) => this.#watch(resolve));
  }

  /** The process id, or undefined when the process could not be started. */
  get pid() {
    return this.#child.pid;
  }

  /** True when it has ended, or is ending: it takes no more calls. */
  get isEnding() {
    return this.#stopping;
  }

  /** Tells whether calls are open. Only then, while it is held, and while it stops does it keep the event loop alive. */
  setBusy(busy) {
    this.#busy = busy;
    this.#updateReferences();
  }

  /** Keeps the event loop alive, as an open call does, until the function that is returned is called. */
  hold() {
    this.#holds += 1;
    this.#updateReferences();
    return () => {
      this.#holds -= 1;
      this.#updateReferences();
    };
  }

  /**
   * Makes sure that the process ends: its input has ended or soon will; after `timeoutMs` it gets SIGTERM, and two
   * seconds later SIGKILL.
   */
  stop(timeoutMs) {
    if (this.#stopping) return;
    this.#stopping = true;
    this.#updateReferences();
    this.#after(timeoutMs, () => {
      this.#child.kill("SIGTERM");
      this.#after(killDelayMs, () => this.#child.kill("SIGKILL"));
    });
  }

  #updateReferences() {
    if (this.#ended) return; // the handles are closed
    const wanted = this.#busy || this.#holds > 0 || this.#stopping;
    for (const handle of [this.#child, ...(this.#child.stdio ?? [])]) {
      if (handle?.destroyed) continue; // it would wait for a connection
      if (wanted) handle?.ref?.();
      else handle?.unref?.();
    }
  }

  #after(milliseconds, action) {
    if (milliseconds === Infinity) return;
    this.#timers.push(setTimeout(action, Math.min(milliseconds, longestTimerMs)));
  }

  #watch(resolve) {
    const child = this.#child;
    const finish = (end) => {
      this.#stopping = this.#ended = true;
      for (const timer of this.#timers) clearTimeout(timer);
      resolve({ ...end, stderr: this.#said.lines });
    };
    child.on("error", (cause) => {
      // Also emitted when a signal cannot be sent: then the process runs, and `exit` is still to come.
      if (child.pid === undefined) finish({ exitCode: null, signal: null, cause });
    });
    child.on("close", (exitCode, signal) => finish({ exitCode, signal }));
    // `close` waits for the end of the output. A descendant that inherited it could hold it open; what the server
    // itself wrote is in the pipe already.
    child.on("exit", () => {
      this.#stopping = true;
      this.#updateReferences();
      this.#after(leftoverOutputMs, () => {
        this.stdout.destroy();
        child.stderr?.destroy();
      });
    });
    // A write that fails or output that ends is no news of its own: the process is ending, or must be made to.
    this.stdin.on("error", () => this.stop(leftoverOutputMs));
    this.stdout.on("error", () => this.stop(leftoverOutputMs));
    this.stdout.on("end", () => this.stop(leftoverOutputMs));
  }
}
