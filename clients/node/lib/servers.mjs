import { Connection } from "./connection.mjs";
import { Delegates } from "./delegates.mjs";
import { BinaryNotFoundError, ClientClosedError, ServerGoneError } from "./errors.mjs";
import { Lives } from "./lives.mjs";
import { launch, ServerProcess } from "./process.mjs";
import { Restored } from "./restored.mjs";

const violationTimeoutMs = 1000;

/**
 * The servers of one client, one after the other: the next is started by the first call after the last one ended.
 *
 * Calls that were open when a server ended have failed; they may have been done, and are not sent again.
 */
export class Servers {
  #launch;
  #handlers;
  #hooks;
  #current;
  #closed = false;
  #lives = new Lives();
  #restored = new Restored();

  /** `hooks.onNotification(method, params)` gets what belongs to no call; `hooks.onEnd()` is told when a server has ended. */
  constructor({ delegates = {}, ...options }, hooks) {
    this.#handlers = delegates;
    this.#hooks = hooks;
    this.#launch = launch(options);
    this.#current = this.#start();
  }

  /** The process of the server, or of the last one. */
  get process() {
    return this.#current.process;
  }

  /** True when this side has ended the server, and starts no other. */
  get isClosed() {
    return this.#closed;
  }

  /** The connection to the server; undefined when that is ending or has ended. Throws when this client was closed. */
  living(method) {
    if (this.#closed) throw new ClientClosedError(method);
    return this.#current.process.isEnding ? undefined : this.#current.connection;
  }

  /**
   * The connection to the server that comes after one that ends. Rejects with the error of that end when the time for another
   * has not come, or another cannot be started.
   */
  async next(method) {
    const last = this.#current;
    const release = last.process.hold();
    await last.process.exited;
    release();
    if (this.#closed) throw new ClientClosedError(method);
    if (this.#current === last) {
      if (this.#lives.waitMs > 0) {
        const error = last.connection.failure(method);
        if (error instanceof ServerGoneError) this.#lives.explain(error);
        throw error;
      }
      this.#current = this.#start();
      for (const { method, params } of this.#restored.calls) this.#tell(method, params);
    }
    return this.#current.connection;
  }

  /** Looks at a call as it is sent. Returns what is told its result when it has succeeded: the next server is set so too. */
  sent(method, params) {
    return this.#restored.sent(method, params);
  }

  /** Ends the server, and starts no other. */
  async close(timeoutMs) {
    if (!this.#closed) {
      this.#closed = true;
      this.#current.connection.end();
      this.#current.process.stop(timeoutMs);
    }
    return this.#current.process.exited;
  }

  #start() {
    const delegates = new Delegates(this.#handlers, (id, answer) => connection.reply(id, answer));
    const server = new ServerProcess(this.#launch);
    const connection = new Connection(server.stdin, server.stdout, {
      onBusy: (busy) => server.setBusy(busy),
      onRequest: (id, method, params) => delegates.ask(id, method, params),
      onNotification: (method, params) => {
        if (method === "$/cancelRequest") delegates.cancel(params?.id);
        else this.#hooks.onNotification(method, params);
      },
      onViolation: (makeError) => {
        connection.fail(makeError);
        connection.end();
        server.stop(violationTimeoutMs);
      },
    });
    this.#lives.begin();
    server.setBusy(false);
    server.exited.then((end) => {
      this.#lives.end();
      delegates.end();
      connection.fail((method) => (end.cause ? startError(end.cause, server.binary, method) : goneError(end, method)));
      this.#hooks.onEnd();
    });
    if (delegates.names.length > 0) {
      const capabilities = { delegates: delegates.names };
      // A server that refuses this asks nothing, and says with the next call what is wrong with it.
      connection.callMany("initialize", [{ capabilities }])[0].catch(() => {});
    }
    return { process: server, connection };
  }

  #tell(method, params) {
    this.#current.connection.callMany(method, [params])[0].catch((error) => {
      if (error instanceof ServerGoneError) return;
      process.emitWarning(`The new halcyon server does not take ${method} of the last one: ${error.message}`);
    });
  }
}

/** What the system says when a file is no executable, or not one for this user. */
const notExecutable = new Set(["EACCES", "ENOENT"]);

function startError(cause, binary, method) {
  const message = `Cannot start ${JSON.stringify(binary)}: ${cause.message}.`;
  if (notExecutable.has(cause.code)) return new BinaryNotFoundError(message, [binary], cause);
  return new ServerGoneError(message, { method, cause });
}

function goneError({ exitCode, signal, stderr }, method) {
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${exitCode}`;
  const said = stderr.length > 0 ? ` It said:${stderr.map((line) => `\n    ${line}`).join("")}` : "";
  const message = `No answer to ${method}: the server process ${how}.${said}`;
  return new ServerGoneError(message, { exitCode, signal, stderr, method });
}
