// Made by clients/generate.py from protocol/openrpc.json.
import type { CallOptions, DataImageResult, SettledOptions, UnsettledOptions } from "./calls.js";
import type {
  CacheRequest,
  CancelRequest,
  ClearParams,
  ConfigureRequest,
  DownloadRequest,
  ExplainRequest,
  ForgetRequest,
  KeyRequest,
  ListRequest,
  PrefetchRequest,
  ProbeRequest,
  ReadOnlyPathRequest,
  RemoveRequest,
  RetrieveRequest,
  StoreRequest,
  VerifyRequest,
} from "./requests.js";
import type {
  CachePath,
  CacheSize,
  CacheState,
  CleanResult,
  Cleared,
  DownloadResult,
  EntryDetails,
  Explanation,
  ImageResult,
  KnownCache,
  PauseState,
  PrefetchResult,
  ProbeResult,
  RememberedFailure,
  RemoteCheckResult,
  RemoveResult,
  Stats,
  StoreResult,
  VerifyResult,
} from "./results.js";
import type { CacheSettings, ConfiguredSettings } from "./settings.js";

/** The methods of the protocol; each is one of `Client`. */
export abstract class Methods {
  /**
   * Returns an image from memory, from disk, or else from its URL, and caches it. A string or a URL stands for `{url}`.
   *
   * Calls for one URL that overlap cause one download. Rejects with the codes of `ErrorCode` from `badData` on.
   */
  retrieve(request: RetrieveRequest & { as: "data" | "both" }, options?: CallOptions): Promise<DataImageResult>;
  retrieve(request: RetrieveRequest | string | URL, options?: CallOptions): Promise<ImageResult>;

  /**
   * Puts an image into the cache.
   *
   * Either `path`, which is faster, or `data` is needed; a relative path counts from the working directory of this
   * process. Rejects with `badData` when the bytes are no image, with `storageFailed` when they cannot be kept, and
   * with `MessageTooLargeError` when `data` is over about 48 MiB.
   */
  store(request: StoreRequest, options?: CallOptions): Promise<StoreResult>;

  /** Removes an image from the cache. A string stands for `{key}`. */
  remove(request: RemoveRequest | string, options?: CallOptions): Promise<RemoveResult>;

  /** Returns whether an image is cached, and in which tier; nothing is loaded. A string stands for `{key}`. */
  isCached(request: KeyRequest | string, options?: CallOptions): Promise<CacheState>;

  /** Returns the path at which an image is cached, or would be. A string stands for `{key}`. */
  cachePath(request: KeyRequest | string, options?: CallOptions): Promise<CachePath>;

  /** Returns how many images a cache holds and how many bytes they take, without walking a folder. */
  calculateSize(request?: CacheRequest, options?: CallOptions): Promise<CacheSize>;

  /** Downloads an image and checks it; no cache is read or written. A string or a URL stands for `{url}`. */
  download(request: DownloadRequest | string | URL, options?: CallOptions): Promise<DownloadResult>;

  /**
   * Returns the format, size, orientation, frame count and transparency of an image from its first kilobytes. A string
   * or a URL stands for `{url}`.
   */
  probe(request: ProbeRequest | string | URL, options?: CallOptions): Promise<ProbeResult>;

  /** Loads images into a cache ahead of time, behind all other downloads. */
  prefetch(request: PrefetchRequest, options?: CallOptions): Promise<PrefetchResult>;

  /**
   * Cancels every running retrieve, download and prefetch, or those that match all the conditions given. A string or a
   * URL stands for `{url}`.
   *
   * Returns how many there were.
   */
  cancelAll(request?: CancelRequest | string | URL, options?: CallOptions): Promise<number>;

  /** Starts no more downloads until resume; running ones continue, and waiting ones keep their place. */
  pause(what?: "all" | "prefetch", options?: CallOptions): Promise<PauseState>;

  /** Starts downloads again after pause. */
  resume(options?: CallOptions): Promise<PauseState>;

  /** Removes all images of a cache, or those that match. */
  clear(request?: ClearParams, options?: CallOptions): Promise<Cleared>;

  /** Empties the memory tier of a cache. */
  clearMemory(request?: CacheRequest, options?: CallOptions): Promise<Cleared>;

  /** Empties the disk tier of a cache; memory keeps its images, within its limit. */
  clearDisk(request?: CacheRequest, options?: CallOptions): Promise<Cleared>;

  /**
   * Forgets remembered failures, so that their URLs are tried again. A string or a URL stands for `{url}`.
   *
   * Returns how many there were.
   */
  forgetFailures(request?: ForgetRequest | string | URL, options?: CallOptions): Promise<number>;

  /** Lists the remembered failures, which are repeated without asking the server. */
  listFailures(request?: CacheRequest, options?: CallOptions): Promise<RememberedFailure[]>;

  /** Returns what the server has done since it started. */
  stats(options?: CallOptions): Promise<Stats>;

  /** Tries whether the remote tier can be read and written, and how far its clock is off. */
  checkRemote(options?: CallOptions): Promise<RemoteCheckResult>;

  /**
   * Returns everything that is known about a cached image, without loading it or extending its life. A string stands
   * for `{key}`.
   *
   * Rejects with `notCached`.
   */
  inspect(request: KeyRequest | string, options?: CallOptions): Promise<EntryDetails>;

  /** Goes through the images on disk in an order that no use changes, fetching a page of them when it is needed. */
  listEntries(request?: ListRequest, options?: CallOptions): AsyncGenerator<EntryDetails, void, void>;

  /**
   * Returns what retrieve would do now and why; nothing is loaded, extended or asked. A string or a URL stands for
   * `{url}`.
   */
  explain(request: ExplainRequest | string | URL, options?: CallOptions): Promise<Explanation>;

  /** Removes every expired image. A leased path stays valid until its lease ends. */
  cleanExpired(request?: CacheRequest, options?: CallOptions): Promise<CleanResult>;

  /**
   * Reads every image of a cache through, and puts right what is wrong.
   *
   * Other calls go on meanwhile.
   */
  verify(request?: VerifyRequest, options?: CallOptions): Promise<VerifyResult>;

  /**
   * Changes the settings of a cache, the downloader or the remote tier, or the default options, from now on; settings
   * that are left out keep their values.
   *
   * Returns the settings in force; without a request it only tells. Rejects with `invalidParams`, which names the
   * setting, and then nothing has changed.
   */
  configure(request?: ConfigureRequest, options?: CallOptions): Promise<ConfiguredSettings>;

  /**
   * Adds a folder that is searched after that of a cache, and never written. A string or a URL stands for `{path}`.
   *
   * A relative path counts from the working directory of this process.
   */
  addReadOnlyCachePath(request: ReadOnlyPathRequest | string | URL, options?: CallOptions): Promise<CacheSettings>;

  /** Lists the caches that are open, configured, or found in the cache folder. */
  caches(options?: CallOptions): Promise<KnownCache[]>;

  /** Resolves when the server has answered; a probe of life and latency. */
  ping(options?: CallOptions): Promise<null>;

  /** Returns the server's OpenRPC document, which describes every method it has. */
  discover(options?: CallOptions): Promise<Record<string, unknown>>;

  /** Does `retrieve` for each request, all sent in one write; the results are in the order of the requests. */
  retrieveMany(
    requests: Iterable<RetrieveRequest | string | URL> & object,
    options: SettledOptions,
  ): Promise<PromiseSettledResult<ImageResult>[]>;
  retrieveMany(requests: Iterable<RetrieveRequest | string | URL> & object, options?: UnsettledOptions): Promise<ImageResult[]>;

  /** Does `isCached` for each request, all sent in one write; the results are in the order of the requests. */
  isCachedMany(
    requests: Iterable<KeyRequest | string> & object,
    options: SettledOptions,
  ): Promise<PromiseSettledResult<CacheState>[]>;
  isCachedMany(requests: Iterable<KeyRequest | string> & object, options?: UnsettledOptions): Promise<CacheState[]>;

  /** Does `cachePath` for each request, all sent in one write; the results are in the order of the requests. */
  cachePathMany(
    requests: Iterable<KeyRequest | string> & object,
    options: SettledOptions,
  ): Promise<PromiseSettledResult<CachePath>[]>;
  cachePathMany(requests: Iterable<KeyRequest | string> & object, options?: UnsettledOptions): Promise<CachePath[]>;
}
