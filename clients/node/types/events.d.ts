// Made by clients/generate.py from protocol/openrpc.json.

/** An event that can be subscribed to. */
export type EventName =
  | "cache/didClean"
  | "image/didChange"
  | "activity/didChange"
  | "download/didFinish"
  | "remote/didChange"
  | "log";

/** Images left a disk tier because they had expired or space was needed; not sent for remove or clear. */
export interface CacheCleaned {
  /** The name of the cache. */
  cache: string;
  /** Names of files without extension. */
  hashes: string[];
  /** At the same places as `hashes`; null where a key is not known. */
  keys: (string | null)[];
  /** Why. */
  reason: "expired" | "sizeLimit";
}

/** An image was answered although it was stale (stale-while-revalidate), and has been replaced since. */
export interface ImageChanged {
  /** The name of the cache. */
  cache: string;
  /** The cache key. */
  key: string;
  /** The URL. */
  url: string;
  /** The new file; null when there is none. */
  path: string | null;
}

/** Downloads have been running for a while, or have stopped: for an activity indicator. */
export interface ActivityChanged {
  /** Whether downloads are running. */
  active: boolean;
  /** How many downloads are running. */
  count: number;
}

/** Where the time of a transfer went, in seconds. */
export interface DownloadTimings {
  /** Seconds for resolving the name. */
  dns: number;
  /** Seconds for the connection. */
  connect: number;
  /** Seconds for TLS. */
  tls: number;
  /** Seconds to the first byte of the response. */
  firstByte: number | null;
}

/** A transfer has succeeded or failed: one event each, however many requests shared it. */
export interface DownloadFinished {
  /** The URL. */
  url: string;
  /** The URL that answered, after all redirects. */
  finalUrl: string;
  /** @deprecated Former name of finalUrl. */
  finalURL: string;
  /** Null when there was no answer. */
  statusCode: number | null;
  /** @deprecated Former name of statusCode. */
  status: number | null;
  /** The size in bytes. */
  byteCount: number;
  /** @deprecated Former name of byteCount. */
  bytes: number;
  /** Bytes that were kept from an earlier transfer. */
  resumedBytes: number;
  /** A number of seconds. */
  seconds: number;
  /** Seconds by phase. */
  timings: DownloadTimings;
  /** Whether the connection was open already. */
  reused: boolean;
  /** How many redirects were followed. */
  redirects: number;
  /** The version of HTTP. */
  httpVersion: string | null;
  /** Whether the server confirmed what was cached, and sent no body. */
  fromRevalidation: boolean;
  /** The name of the error; null when it went well. */
  error: string | null;
}

/** The remote tier is left out because it failed (open), is tried again (half-open), or is used again (closed). */
export interface RemoteDidChangeEvent {
  /** Whether the tier is used (closed), left out (open) or being tried (half-open). */
  breaker: "closed" | "open" | "half-open";
  /** Why. */
  reason: string | null;
}

/** A line of the log, of the level that is logged or above; at most 100 in a second. */
export interface LogLine {
  /** The level. */
  level: string;
  /** A sentence. */
  message: string;
  /** Names and values. */
  metadata: Record<string, string>;
  /** How many lines before it were not told. */
  omitted?: number;
}

/** The events there are, by name, with what each brings. */
export interface CacheEvents {
  /** Images left a disk tier because they had expired or space was needed; not sent for remove or clear. */
  "cache/didClean": CacheCleaned;
  /** An image was answered although it was stale (stale-while-revalidate), and has been replaced since. */
  "image/didChange": ImageChanged;
  /** Downloads have been running for a while, or have stopped: for an activity indicator. */
  "activity/didChange": ActivityChanged;
  /** A transfer has succeeded or failed: one event each, however many requests shared it. */
  "download/didFinish": DownloadFinished;
  /** The remote tier is left out because it failed (open), is tried again (half-open), or is used again (closed). */
  "remote/didChange": RemoteDidChangeEvent;
  /** A line of the log, of the level that is logged or above; at most 100 in a second. */
  "log": LogLine;
}
