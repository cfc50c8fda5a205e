/// <reference types="node" />

import type { Readable } from "node:stream";
import type { CallOptions } from "./types/calls.js";
import type { Delegates } from "./types/delegates.js";
import type { CacheEvents } from "./types/events.js";
import { Methods } from "./types/methods.js";

export * from "./types/calls.js";
export * from "./types/codes.js";
export * from "./types/delegates.js";
export * from "./types/errors.js";
export * from "./types/events.js";
export * from "./types/options.js";
export * from "./types/questions.js";
export * from "./types/requests.js";
export * from "./types/results.js";
export * from "./types/settings.js";

declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** The options for finding and starting a server. */
export interface ClientOptions {
  /**
   * The executable, as a path, a `file:` URL or a name to find on `PATH`. Default: the environment variable
   * `HALCYON_BIN`, then `halcyon` on `PATH`. A value that leads nowhere is an error, not a reason to look further.
   */
  binary?: string | URL;
  /** The folder of the cache. Default: the server's own, `$XDG_CACHE_HOME/halcyon`. Made when missing. */
  cacheDir?: string | URL;
  /**
   * The only URL schemes to load from, such as `["https"]`. Default: http, https, file and data, so that a URL may name a
   * file of this machine.
   */
  schemes?: string | readonly string[];
  /** More flags for the server, such as `["--memory-limit", "1000000"]`. Default: none. */
  args?: readonly string[];
  /** Environment variables set over those of this process; `undefined` removes one. Default: none. */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * The destination of the server's standard error, which contains its log: this process's standard error, nowhere, or
   * a function that receives text in pieces that need not be whole lines. Default: `"inherit"`.
   */
  stderr?: "inherit" | "ignore" | ((text: string) => void);
  /** Gets every notification that belongs to no call. Default: they are dropped. */
  onNotification?: (method: string, params: unknown) => void;
  /** Decides about downloads while they run. The client then sends `initialize` by itself. Default: nothing is asked. */
  delegates?: Delegates;
}

/**
 * The bytes of an image as a stream: those that came with the answer, else those of its file. `Readable.toWeb` of
 * `node:stream` makes it one of the web.
 *
 * A file that was removed meanwhile ends the stream with an error; what a result names stays for 60 seconds at least. Throws
 * a `TypeError` for a result with neither.
 */
export function createReadStream(image: {
  readonly data?: Uint8Array;
  readonly path?: string | null;
  readonly uri?: string | null;
}): Readable;

/** The exit status of a server. */
export interface ServerExit {
  /** The exit code; null when a signal ended it, or when it never started. */
  exitCode: number | null;
  /** The signal that ended it; else null. */
  signal: NodeJS.Signals | null;
}

/**
 * A halcyon server of one's own: starts the process, calls its methods, ends it.
 *
 * Calls may overlap in any number; those made in one turn of the event loop leave in one write, and answers come in any
 * order. The server sees them in the order they were made: `store`, then `isCached` of the same key without waiting,
 * sees the store.
 *
 * The server keeps Node alive while calls are open, while a loop waits for events, and while it is being closed, and not
 * otherwise: a program that has nothing left to do ends, and its server with it.
 *
 * A server that died is started again by the next call, with the settings, read-only folders, pause, subscriptions and
 * delegates of the last, except parameters that were given by position. What was open has failed, and is not sent again.
 * After the fourth death in a row within ten seconds of the start, calls fail for a second, then for two, up to a minute.
 *
 * Every method rejects with `HalcyonError` when the server answers with an error, with `ServerGoneError` when the
 * process ends first, and with `ClientClosedError` after `close()`. The methods of the protocol are in `types/methods.d.ts`.
 */
export class Client extends Methods {
  /**
   * Starts a server. Returns before it runs; calls may be made at once, and are what reports that it did not come up.
   *
   * Throws `BinaryNotFoundError` when there is no executable.
   */
  constructor(options?: ClientOptions);

  /**
   * Starts a server and waits for its first answer.
   *
   * Rejects with `BinaryNotFoundError` when there is no executable, and with `ServerGoneError` when it ends at once, as
   * it does for a flag it does not know.
   */
  static start(options?: ClientOptions): Promise<Client>;

  /** The process id of the server, or of the last one; undefined when it could not be started. */
  get pid(): number | undefined;

  /** The path of the executable in use. */
  get binary(): string;

  /**
   * Asks to be told of events, and returns all that are subscribed. Each is given to `listener`, which replaces an
   * earlier one for the same event, and to `onNotification`. A subscription does not keep Node alive.
   */
  subscribe<Name extends keyof CacheEvents>(
    events: Name | readonly Name[],
    listener?: (...told: { [Each in Name]: [event: Each, params: CacheEvents[Each]] }[Name]) => void,
    options?: CallOptions,
  ): Promise<string[]>;

  /**
   * The events of those names as they come, for `for await`: subscribed at the first step, unsubscribed when the loop is
   * left. Goes on with the next server when one dies; what happens in between is missed. Ends with `close()`, and with
   * `unsubscribe` of all its names; rejects with the signal's reason when that is aborted, after a second in any case. What
   * comes while the loop is busy waits for it. A loop that waits keeps Node alive. Several loops over one event each get it;
   * the subscription ends with the last.
   */
  events<Name extends keyof CacheEvents>(
    names: Name | readonly Name[],
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<{ [Each in Name]: { event: Each; params: CacheEvents[Each] } }[Name], void, void>;

  /** Ends subscriptions, also those of loops, and returns what is still subscribed. None of these events follows. */
  unsubscribe(events: keyof CacheEvents | readonly (keyof CacheEvents)[], options?: CallOptions): Promise<string[]>;

  /**
   * Calls any method. The parameters are sent and the result is returned as they are: base64 stays base64.
   *
   * Rejects with a `TypeError` when `onProgress` is given with an array of parameters, or when they are not JSON that the
   * server reads: also for a number that is not finite, a whole one beyond 64 bits, and half of a surrogate pair.
   */
  call<Result = unknown>(method: string, params?: object | readonly unknown[], options?: CallOptions): Promise<Result>;

  /**
   * Sends a notification, which has no answer. Throws `ClientClosedError` after `close()`, and a `TypeError` for parameters
   * that `call` refuses.
   */
  notify(method: string, params?: object | readonly unknown[]): void;

  /**
   * Ends the server. It answers the calls that are open, and exits; one that has not exited after `timeoutMs`
   * milliseconds (default 5,000; `Infinity` for no limit) gets SIGTERM, which answers them with `serverCancelled`, and
   * two seconds later SIGKILL.
   *
   * May be called again: every call resolves with how the server ended, and none rejects.
   */
  close(options?: { timeoutMs?: number }): Promise<ServerExit>;

  /** Closes the client at the end of an `await using` block. Present where the run time has `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>;
}
