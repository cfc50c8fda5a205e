import type { ImageResult } from "./results.js";

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

/** One report of progress: first `begin`, then any number of `report`, then `end`; at most 10 a second. */
export interface Progress {
  kind: "begin" | "report" | "end";
  title?: string;
  message?: string;
  /** From 0 to 100; absent while the total is not known. */
  percentage?: number;
  /** Bytes received so far; only grows. */
  receivedBytes?: number;
  /** Length of the body in bytes; null when the HTTP server did not say. */
  totalBytes?: number | null;
  /** With `prefetch`: how many images there are, and what has become of them. */
  total?: number;
  completed?: number;
  skipped?: number;
  failed?: number;
  notStored?: number;
}

/** An `ImageResult` that was asked for with its bytes. */
export interface DataImageResult extends ImageResult {
  data: Buffer;
}
