import { spawn } from "node:child_process";
import path from "node:path";
import { findBinary, toPath } from "./binary.mjs";
import { BinaryNotFoundError } from "./errors.mjs";
import { LastLines } from "./stderr.mjs";

const killDelayMs = 2000;
const leftoverOutputMs = 1000;

/**
 * All that the servers of one client are started with. Looked up once: the next is started as the first one was, wherever
 * this program is by then. Throws `BinaryNotFoundError` when there is no executable to start.
 */
export function launch({ binary, cacheDir, schemes, args = [], env = {}, stderr = "inherit" }) {
  const fullEnv = { ...process.env, ...env };
  const cache = cacheDir === undefined ? [] : ["--cache-dir", path.resolve(toPath(cacheDir))];
  const allowed = schemes === undefined ? [] : ["--allowed-schemes", [schemes].flat().join(",")];
  const logs = { inherit: (text) => process.stderr.write(text), ignore: () => {} };
  return {
    binary: findBinary(binary, fullEnv),
    args: ["serve", ...cache, ...allowed, ...args],
    env: fullEnv,
    log: typeof stderr === "function" ? stderr : logs[stderr],
  };
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

  /** The exit status, once the process has ended and all its output was read: `{exitCode, signal, stderr, error?}`. */
  exited;

  /** Starts the process, with what `launch` made. */
  constructor({ binary, args, env, log }) {
    this.binary = binary;
    this.#child = spawn(binary, args, { env, stdio: "pipe" });
    this.#child.stderr?.setEncoding("utf8").on("data", (text) => {
      this.#said.push(text);
      log(text);
    });
    this.exited = new Promise((resolve) => this.#watch(resolve));
  }

  get stdin() {
    return this.#child.stdin;
  }

  get stdout() {
    return this.#child.stdout;
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
    for (const handle of [this.#child, ...this.#child.stdio]) {
      if (wanted) handle?.ref?.();
      else handle?.unref?.();
    }
  }

  #after(milliseconds, action) {
    this.#timers.push(setTimeout(action, milliseconds));
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
      if (child.pid !== undefined) return;
      const message = `Cannot start ${JSON.stringify(this.binary)}: ${cause.message}.`;
      finish({ exitCode: null, signal: null, error: new BinaryNotFoundError(message, [this.binary], cause) });
    });
    child.on("close", (exitCode, signal) => finish({ exitCode, signal }));
    // `close` waits for the end of the output. A descendant that inherited it could hold it open; what the server
    // itself wrote is in the pipe already.
    child.on("exit", () => {
      this.#stopping = true;
      this.#updateReferences();
      this.#after(leftoverOutputMs, () => {
        child.stdout.destroy();
        child.stderr?.destroy();
      });
    });
    // A write that fails or output that ends is no news of its own: the process is ending, or must be made to.
    child.stdin.on("error", () => this.stop(leftoverOutputMs));
    child.stdout.on("error", () => this.stop(leftoverOutputMs));
    child.stdout.on("end", () => this.stop(leftoverOutputMs));
  }
}
