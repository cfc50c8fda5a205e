/// <reference types="node" />

import type {
  CacheEvents,
  CacheSettings,
  CleanResult,
  ConfigureRequest,
  ConfiguredSettings,
  EntryDetails,
  Explanation,
  ForgetRequest,
  KnownCache,
  ListRequest,
  PauseState,
  ReadOnlyPathRequest,
  RememberedFailure,
  VerifyRequest,
  VerifyResult,
} from "./types/care.js";
import type { Delegates } from "./types/delegates.js";
import type {
  CachePath,
  CacheRequest,
  CacheSize,
  CacheState,
  Cleared,
  DataImageResult,
  ImageResult,
  KeyRequest,
  Progress,
  RemoveRequest,
  RemoveResult,
  RetrieveRequest,
  StoreRequest,
  StoreResult,
} from "./types/protocol.js";

export * from "./types/care.js";
export * from "./types/delegates.js";
export * from "./types/errors.js";
export * from "./types/options.js";
export * from "./types/protocol.js";

declare global {
  interface SymbolConstructor {
    readonly asyncDispose: unique symbol;
  }
}

/** How a server is found and started. */
export interface ClientOptions {
  /**
   * The executable, as a path, a `file:` URL or a name to find on `PATH`. Default: the environment variable
   * `HALCYON_BIN`, then `halcyon` on `PATH`. A value that leads nowhere is an error, not a reason to look further.
   */
  binary?: string | URL;
  /** The folder of the cache. Default: the server's own, `$XDG_CACHE_HOME/halcyon`. Made when missing. */
  cacheDir?: string | URL;
  /** More flags for the server, such as `["--memory-limit", "1000000"]`. Default: none. */
  args?: readonly string[];
  /** Environment variables set over those of this process; `undefined` removes one. Default: none. */
  env?: Readonly<Record<string, string | undefined>>;
  /**
   * What becomes of the server's standard error, where its log goes: shown on ours, thrown away, or given to a function
   * as text, in pieces that need not be whole lines. Default: `"inherit"`.
   */
  stderr?: "inherit" | "ignore" | ((text: string) => void);
  /** Gets every notification that belongs to no call. Default: they are dropped. */
  onNotification?: (method: string, params: unknown) => void;
  /** Decides about downloads while they run. The client then sends `initialize` by itself. Default: nothing is asked. */
  delegates?: Delegates;
}

/** What every method accepts besides its parameters. */
export interface CallOptions {
  /**
   * Gives the call up. The server is told to cancel, and the call rejects with the reason given to `abort()`, or with
   * an `AbortError` when there was none; it does so as soon as the server has answered, and after a second in any case.
   * Other callers of the same URL are not disturbed. When it is aborted before the request has left, nothing is sent.
   */
  signal?: AbortSignal;
  /** Gets the progress of the call. When it throws, the call is cancelled and rejects with what was thrown. */
  onProgress?: (progress: Progress) => void;
}

/** What the methods for many accept: one signal for all, and progress with the index of the request it belongs to. */
export interface ManyOptions {
  /** Gives up every call that is still open. */
  signal?: AbortSignal;
  /** Gets the progress of each call, with its index in the list. */
  onProgress?: (progress: Progress, index: number) => void;
  /**
   * False: reject with the first failure, as `Promise.all` does; the other calls go on. True: never reject for a
   * failed call, and resolve to what `Promise.allSettled` gives. Default: false.
   */
  settled?: boolean;
}

/** `ManyOptions` that ask for every outcome. */
export interface SettledOptions extends ManyOptions {
  settled: true;
}

/** `ManyOptions` that ask for the results alone. */
export interface UnsettledOptions extends ManyOptions {
  settled?: false;
}

/** How a server ended. */
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
 * The server keeps Node alive while calls are open and while it is being closed, and not otherwise: a program that has
 * nothing left to do ends, and its server with it.
 *
 * Every method rejects with `HalcyonError` when the server answers with an error, with `ServerGoneError` when the
 * process ends first, and with `ClientClosedError` after `close()`.
 */
export class Client {
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

  /** The server's process id; undefined when it could not be started. */
  get pid(): number | undefined;

  /** The path of the executable in use. */
  get binary(): string;

  /**
   * Returns an image: from memory, from disk, or else downloaded and cached. A string or a URL stands for `{url}`.
   *
   * Calls for one URL that overlap cause one download. Rejects with the codes of `ErrorCode` from `badData` on.
   */
  retrieve(
    request: RetrieveRequest & { as: "data" | "both" },
    options?: CallOptions,
  ): Promise<DataImageResult>;
  retrieve(request: RetrieveRequest | string | URL, options?: CallOptions): Promise<ImageResult>;

  /**
   * Puts an image into the cache; the result says where it now is. Rejects with `badData` when the bytes are no image,
   * with `storageFailed` when they cannot be kept, and with `MessageTooLargeError` when `data` is over about 48 MiB.
   */
  store(request: StoreRequest, options?: CallOptions): Promise<StoreResult>;

  /** Removes an image and says from where. A string stands for `{key}`. */
  remove(request: RemoveRequest | string, options?: CallOptions): Promise<RemoveResult>;

  /** Tells whether an image is cached, without loading it. A string stands for `{key}`. */
  isCached(request: KeyRequest | string, options?: CallOptions): Promise<CacheState>;

  /** Tells where the file of an image is or would be. A string stands for `{key}`. */
  cachePath(request: KeyRequest | string, options?: CallOptions): Promise<CachePath>;

  /** Does `retrieve` for each request, all sent in one write; the results are in the order of the requests. */
  retrieveMany(
    requests: Iterable<RetrieveRequest | string | URL>,
    options: SettledOptions,
  ): Promise<PromiseSettledResult<ImageResult>[]>;
  retrieveMany(
    requests: Iterable<RetrieveRequest | string | URL>,
    options?: UnsettledOptions,
  ): Promise<ImageResult[]>;

  /** Does `isCached` for each request, all sent in one write; the results are in the order of the requests. */
  isCachedMany(
    requests: Iterable<KeyRequest | string>,
    options: SettledOptions,
  ): Promise<PromiseSettledResult<CacheState>[]>;
  isCachedMany(requests: Iterable<KeyRequest | string>, options?: UnsettledOptions): Promise<CacheState[]>;

  /** Does `cachePath` for each request, all sent in one write; the results are in the order of the requests. */
  cachePathMany(
    requests: Iterable<KeyRequest | string>,
    options: SettledOptions,
  ): Promise<PromiseSettledResult<CachePath>[]>;
  cachePathMany(requests: Iterable<KeyRequest | string>, options?: UnsettledOptions): Promise<CachePath[]>;

  /** Tells how much a cache holds, on disk and in memory, and its limits. Costs no walk through the folder. */
  calculateSize(request?: CacheRequest, options?: CallOptions): Promise<CacheSize>;

  /** Empties memory and disk. */
  clear(request?: CacheRequest, options?: CallOptions): Promise<Cleared>;

  /** Empties memory; what is on disk stays. */
  clearMemory(request?: CacheRequest, options?: CallOptions): Promise<Cleared>;

  /** Empties the disk; what is in memory stays. */
  clearDisk(request?: CacheRequest, options?: CallOptions): Promise<Cleared>;

  /**
   * Changes the settings of a cache from now on, and returns those in force. What is left out stays as it was; without
   * a request it only tells. Rejects with `invalidParams`, which names the setting; nothing has changed then.
   */
  configure(request?: ConfigureRequest, options?: CallOptions): Promise<ConfiguredSettings>;

  /** Lists the caches that are open, configured, or found in the cache folder, by name. */
  caches(options?: CallOptions): Promise<KnownCache[]>;

  /** Adds a folder that is searched after that of the cache, and never written. A string or URL stands for `{path}`. */
  addReadOnlyCachePath(request: ReadOnlyPathRequest | string | URL, options?: CallOptions): Promise<CacheSettings>;

  /** Tells everything that is known of a cached image, without loading it. Rejects with `notCached`. */
  inspect(request: KeyRequest | string, options?: CallOptions): Promise<EntryDetails>;

  /** Goes through the images on disk in an order that no use changes, fetching a page of them when it is needed. */
  listEntries(request?: ListRequest, options?: CallOptions): AsyncGenerator<EntryDetails, void, void>;

  /** Removes every image whose time is over; paths that were promised stay valid. */
  cleanExpired(request?: CacheRequest, options?: CallOptions): Promise<CleanResult>;

  /** What `retrieve` with the same request would do now, and why; nothing is loaded and nobody is asked. */
  explain(request: string | URL | RetrieveRequest, options?: CallOptions): Promise<Explanation>;

  /** The failures of a cache that are remembered and repeated without asking, the oldest first. */
  listFailures(request?: CacheRequest, options?: CallOptions): Promise<RememberedFailure[]>;

  /** Forgets remembered failures, those of a URL or cache key or all; returns how many there were. */
  forgetFailures(request?: string | URL | ForgetRequest, options?: CallOptions): Promise<number>;

  /** Starts no more downloads until `resume`: all, the default, or those that only a prefetch waits for. */
  pause(what?: "all" | "prefetch", options?: CallOptions): Promise<PauseState>;

  /** Starts downloads again after `pause`. */
  resume(options?: CallOptions): Promise<PauseState>;

  /** Reads every image of a cache through and puts right what is wrong. Other calls go on meanwhile. */
  verify(request?: VerifyRequest, options?: CallOptions): Promise<VerifyResult>;

  /**
   * Asks to be told of events, and returns all that are subscribed. Each is given to `listener`, which replaces an
   * earlier one for the same event, and to `onNotification`. A subscription does not keep Node alive.
   */
  subscribe<Name extends keyof CacheEvents>(
    events: Name | readonly Name[],
    listener?: (event: Name, params: CacheEvents[Name]) => void,
    options?: CallOptions,
  ): Promise<string[]>;

  /**
   * The events of those names as they come, for `for await`: subscribed at the first step, unsubscribed when the loop is
   * left. Ends with the server; rejects with the signal's reason when that is aborted. What comes while the loop is
   * busy waits for it.
   */
  events<Name extends keyof CacheEvents>(
    names: Name | readonly Name[],
    options?: { signal?: AbortSignal },
  ): AsyncGenerator<{ event: Name; params: CacheEvents[Name] }, void, void>;

  /** Ends subscriptions, and returns what is still subscribed. None of these events follows. */
  unsubscribe(events: keyof CacheEvents | readonly (keyof CacheEvents)[], options?: CallOptions): Promise<string[]>;

  /** Returns the server's counters: hits, misses, downloads, bytes and more, by name. */
  stats(options?: CallOptions): Promise<Record<string, unknown>>;

  /** Resolves when the server has answered; a probe of life and latency. */
  ping(options?: CallOptions): Promise<null>;

  /** Returns the server's OpenRPC document, which describes every method it has. */
  discover(options?: CallOptions): Promise<Record<string, unknown>>;

  /**
   * Calls any method. The parameters are sent and the result is returned as they are: base64 stays base64.
   *
   * Rejects with a `TypeError` when `onProgress` is given with an array of parameters, or when they are not JSON.
   */
  call<Result = unknown>(method: string, params?: object | readonly unknown[], options?: CallOptions): Promise<Result>;

  /**
   * Sends a notification, which has no answer. Throws `ClientClosedError` after `close()` and `ServerGoneError` when the
   * server has ended.
   */
  notify(method: string, params?: object | readonly unknown[]): void;

  /**
   * Ends the server. It answers the calls that are open, and exits; one that has not exited after `timeoutMs`
   * milliseconds (default 5,000) gets SIGTERM, which answers them with `serverCancelled`, and two seconds later SIGKILL.
   *
   * May be called again: every call resolves with how the server ended, and none rejects.
   */
  close(options?: { timeoutMs?: number }): Promise<ServerExit>;

  /** Closes the client at the end of an `await using` block. Present where the run time has `Symbol.asyncDispose`. */
  [Symbol.asyncDispose](): Promise<void>;
}
