// Made by clients/generate.py from protocol/openrpc.json.
import type { DownloadFinished } from "./results.js";

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
