// Made by clients/generate.py from protocol/openrpc.json.
import type { As, ImageOptions, Processors } from "./options.js";
import type { PictureFormat } from "./results.js";
import type { DiskSettings, DownloaderSettings, MemorySettings, RemoteSettings } from "./settings.js";

/** Names one of the server's caches. */
export interface CacheRequest {
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** Names one image of a cache. */
export interface KeyRequest {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processors;
  /** The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like. */
  options?: ImageOptions;
}

/** What `retrieve` is asked for. */
export interface RetrieveRequest {
  /** Where the image is: an http, https, file or data URL. Without it, the image cached under key. */
  url?: string | URL;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processors;
  /** How to look up, load and keep the image. */
  options?: ImageOptions;
  /** What the result contains. Default: "path". */
  as?: As;
}

/** What `store` is asked for. */
export interface StoreRequest {
  /** The cache key: any text. */
  key: string;
  /** The bytes of the image; about 48 MiB at most. Give this or path. */
  data?: Uint8Array;
  /** A file to copy from; a relative path counts from the working directory of this program. */
  path?: string | URL;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processors;
  /** How to look up, load and keep the image. */
  options?: ImageOptions;
  /** Replace an image that is there. Default: true. */
  overwrite?: boolean;
  /** Metadata to keep with the image, for inspect and list. */
  metadata?: Record<string, string>;
}

/** What `remove` is asked for. */
export interface RemoveRequest {
  /** The cache key: any text. */
  key: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps, in order. */
  processors?: Processors;
  /** Remove it from memory. Default: true. */
  fromMemory?: boolean;
  /** Remove it from disk. Default: true. */
  fromDisk?: boolean;
  /** Remove everything made from it by processors too. Default: false. */
  allVariants?: boolean;
  /** Remove them from the remote tier too, for all machines. Default: false. */
  remote?: boolean;
  /** The other options with which the image was made: cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like. */
  options?: ImageOptions;
}

/** What `download` is asked for. */
export interface DownloadRequest {
  /** Where the image is: an http, https, file or data URL. */
  url: string | URL;
  /** How to load the images. */
  options?: ImageOptions;
  /** Whether the result holds the bytes. Default: "data". */
  as?: "data" | "none";
}

/** What `probe` is asked for. */
export interface ProbeRequest {
  /** Where the image is: an http, https, file or data URL. Without it, the image cached under key. */
  url?: string | URL;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache that is looked into first. Default: "default". */
  cache?: string;
  /** How to look up and load the image. */
  options?: ImageOptions;
}

/** What `prefetch` is asked for. */
export interface PrefetchRequest {
  /** Where the images are; each is loaded once, even if it is named several times. */
  urls: (string | URL)[];
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** How to load the images. */
  options?: ImageOptions;
  /** How many are loaded at once. Default: 5. */
  maxConcurrent?: number;
  /** The processing steps, in order. */
  processors?: Processors;
}

/** What `cancelAll` is asked for. */
export interface CancelRequest {
  /** Only those for this URL; a prefetch goes on with its others. */
  url?: string | URL;
  /** Only those for this cache. */
  cache?: string;
  /** Only the one in this slot. */
  slot?: string;
}

/** What `clear` is asked for. */
export interface ClearParams {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** Remove them from the remote tier too, for all machines. Default: false. */
  remote?: boolean;
  /** Only images from this host. */
  host?: string;
  /** Only images whose keys begin with this. */
  prefix?: string;
  /** Only images of this format. */
  format?: PictureFormat;
  /** Only images stored at least that many seconds ago. */
  minAge?: number;
  /** Only images stored at most that many seconds ago. */
  maxAge?: number;
}

/** What `forgetFailures` is asked for. */
export interface ForgetRequest {
  /** Only those of this URL or cache key. */
  url?: string | URL;
  /** The name of the cache. Default: "default". */
  cache?: string;
}

/** What `list` is asked for. */
export interface ListRequest {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** How many are fetched at a time, 1 to 1000. Default: 100. */
  pageSize?: number;
  /** Only images from this host. */
  host?: string;
  /** Only images whose keys begin with this. */
  prefix?: string;
  /** Only images of this format. */
  format?: PictureFormat;
  /** Only images stored at least that many seconds ago. */
  minAge?: number;
  /** Only images stored at most that many seconds ago. */
  maxAge?: number;
}

/** What `explain` is asked for. */
export interface ExplainRequest {
  /** Where the image is: an http, https, file or data URL. Without it, the image cached under key. */
  url?: string | URL;
  /** The cache key; the URL without its fragment when left out. Alone, nothing is loaded. */
  key?: string;
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The processing steps. */
  processors?: Processors;
  /** The options of the request. */
  options?: ImageOptions;
}

/** What `verify` is asked for. */
export interface VerifyRequest {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** Put right what is wrong; otherwise it is only counted. Default: true. */
  repair?: boolean;
}

/** What `configure` is asked for. */
export interface ConfigureRequest {
  /** The name of the cache. Default: "default". */
  cache?: string;
  /** The memory tier: its settings, or whether there is one. */
  memory?: boolean | MemorySettings;
  /** The settings of the disk tier. */
  disk?: DiskSettings;
  /** The settings of the downloader of all caches. */
  downloader?: DownloaderSettings;
  /** The settings of the remote tier of all caches. */
  remote?: RemoteSettings;
  /** The options of requests that leave them out. */
  options?: ImageOptions;
}

/** What `addReadOnlyCachePath` is asked for. */
export interface ReadOnlyPathRequest {
  /** The folder; a relative path counts from the working directory of this program. */
  path: string | URL;
  /** The name of the cache. Default: "default". */
  cache?: string;
}
