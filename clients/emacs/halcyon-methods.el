;;; halcyon-methods.el --- The methods of the protocol  -*- lexical-binding: t; -*-

;;; Commentary:

;; Made by generate.el from protocol/openrpc.json.  Do not edit.

;;; Code:

(declare-function halcyon--call "halcyon-rpc" (method params arguments))
(declare-function halcyon--as-param "halcyon-rpc" (key value))

(define-error 'halcyon-error "Halcyon")
(define-error 'halcyon-parse-error
  "The server could not read a message" 'halcyon-error)
(define-error 'halcyon-invalid-request
  "The server took a message for no request" 'halcyon-error)
(define-error 'halcyon-method-not-found
  "The server has no such method" 'halcyon-error)
(define-error 'halcyon-invalid-params
  "A parameter is missing, unknown, or of the wrong type" 'halcyon-error)
(define-error 'halcyon-internal-error
  "Something went wrong inside the server" 'halcyon-error)
(define-error 'halcyon-request-cancelled
  "The request was cancelled" 'halcyon-error)
(define-error 'halcyon-server-cancelled
  "The server is shutting down" 'halcyon-error)
(define-error 'halcyon-bad-data
  "The bytes are not an image that the engine can read, or they are cut off" 'halcyon-error)
(define-error 'halcyon-not-modified
  "A 304 came to a request that carried no validator" 'halcyon-error)
(define-error 'halcyon-invalid-status-code
  "The server answered with a status that is not accepted" 'halcyon-error)
(define-error 'halcyon-not-cached
  "The cache does not have it, and nothing may be loaded for it" 'halcyon-error)
(define-error 'halcyon-processing-failed
  "A processor could not do its work, or there is no codec worker" 'halcyon-error)
(define-error 'halcyon-limit-exceeded
  "A limit was exceeded; data.limit names it" 'halcyon-error)
(define-error 'halcyon-data-modifying-failed
  "The downloaded bytes are not what dataModifier expects" 'halcyon-error)
(define-error 'halcyon-invalid-url
  "The text is not a URL that may be loaded" 'halcyon-error)
(define-error 'halcyon-connection-failed
  "The server could not be reached, or closed the connection early" 'halcyon-error)
(define-error 'halcyon-timed-out
  "No bytes came for too long, or the whole request took too long" 'halcyon-error)
(define-error 'halcyon-tls-failed
  "The certificate or the handshake failed" 'halcyon-error)
(define-error 'halcyon-forbidden-address
  "The configuration does not allow the host or the network" 'halcyon-error)
(define-error 'halcyon-unreadable-file
  "There is no such file, or it cannot be read" 'halcyon-error)
(define-error 'halcyon-download-cancelled-before-starting
  "The client, asked about the request, wanted none to be sent" 'halcyon-error)
(define-error 'halcyon-storage-failed
  "The cache folder cannot be used; data.hint says what to do" 'halcyon-error)

(defconst halcyon-conditions
  '(("parseError" -32700 halcyon-parse-error)
    ("invalidRequest" -32600 halcyon-invalid-request)
    ("methodNotFound" -32601 halcyon-method-not-found)
    ("invalidParams" -32602 halcyon-invalid-params)
    ("internalError" -32603 halcyon-internal-error)
    ("requestCancelled" -32800 halcyon-request-cancelled)
    ("serverCancelled" -32802 halcyon-server-cancelled)
    ("badData" 10000 halcyon-bad-data)
    ("notModified" 10001 halcyon-not-modified)
    ("invalidStatusCode" 10002 halcyon-invalid-status-code)
    ("notCached" 10003 halcyon-not-cached)
    ("processingFailed" 10004 halcyon-processing-failed)
    ("limitExceeded" 10005 halcyon-limit-exceeded)
    ("dataModifyingFailed" 10006 halcyon-data-modifying-failed)
    ("invalidURL" 20000 halcyon-invalid-url)
    ("connectionFailed" 20001 halcyon-connection-failed)
    ("timedOut" 20002 halcyon-timed-out)
    ("tlsFailed" 20003 halcyon-tls-failed)
    ("forbiddenAddress" 20004 halcyon-forbidden-address)
    ("unreadableFile" 20005 halcyon-unreadable-file)
    ("downloadCancelledBeforeStarting" 30000 halcyon-download-cancelled-before-starting)
    ("storageFailed" 40000 halcyon-storage-failed))
  "The errors of the protocol: name, code and condition of each.")

(defconst halcyon-events
  '(("cache/didClean" . "Images left a disk tier because they had expired or space was needed; not sent for remove or clear.")
    ("image/didChange" . "An image was answered although it was stale (stale-while-revalidate), and has been replaced since.")
    ("activity/didChange" . "Downloads have been running for a while, or have stopped: for an activity indicator.")
    ("download/didFinish" . "A transfer has succeeded or failed: one event each, however many requests shared it.")
    ("remote/didChange" . "The remote tier is left out because it failed (open), is tried again (half-open), or is used again (closed).")
    ("log" . "A line of the log, of the level that is logged or above; at most 100 in a second."))
  "What may be listened to with `halcyon-listen', and when it comes.")

(defconst halcyon-questions
  '(("downloader/modifyRequest" . "How should this request be sent? Null sends nothing, and the download fails with downloadCancelledBeforeStarting.")
    ("downloader/redirect" . "How should this redirect be followed? Null stops here, and the redirecting response itself is judged.")
    ("downloader/validateStatus" . "Is the body of this response wanted? Null decides by validStatusCodes.")
    ("downloader/challenge" . "Which credentials should this server get? \"default\" continues as if not asked, \"cancel\" gives up."))
  "What the server may ask delegates, and what it means.")

(defconst halcyon-options
  '((:forceRefresh . "Do not read from the caches, but write to them.")
    (:fromMemoryCacheOrRefresh . "Look in memory only, then download.")
    (:onlyFromCache . "Never download; an image that is not cached is the error notCached.")
    (:cacheMemoryOnly . "Keep the image in memory only; the result has no path.")
    (:waitForCache . "Answer only when the image is in the cache.")
    (:memoryCacheExpiration . "How long memory keeps the image.")
    (:diskCacheExpiration . "How long the disk keeps the image.")
    (:memoryCacheAccessExtendingExpiration . "What an access does to the expiration in memory; as the cache is configured when left out.")
    (:diskCacheAccessExtendingExpiration . "What an access does to the expiration on disk; as the cache is configured when left out.")
    (:forcedCacheFileExtension . "The extension of the cached file, instead of the format's.")
    (:queryDataWhenInMemory . "Read the bytes even when only the path was asked for.")
    (:memory . "Keep the image in memory; when false, memory does not keep it.")
    (:originalCache . "Another cache to search before downloading; what it has is stored here too.")
    (:cacheOriginalImage . "Keep the original of a processed image too, so that more can be made of it.")
    (:cacheSerializer . "How a processed image is written; by default as the result needs.")
    (:onlyLoadFirstFrame . "Use only the first frame of an animation, as a still.")
    (:frame . "Use one frame of an animation, by its number from 0, as a still.")
    (:scaleDownLargeImages . "Shrink an image of more than 15728640 pixels to that many.")
    (:scaleFactor . "The factor for the lengths of processors, which are then in points, not pixels.")
    (:preloadAllAnimationData . "Accepted for clients of other libraries: all frames are always kept.")
    (:backgroundDecode . "Accepted for clients of other libraries: images are always decoded in another process.")
    (:verifyDecode . "Answer and keep the image only once all of it has been decoded; as the cache is configured when left out.")
    (:thumbHash . "Also answer with a ThumbHash, a BlurHash and the dominant colour, computed once and kept with the entry.")
    (:maxPixels . "The largest number of pixels in a frame of an image to process; for a JPEG, after shrinking while decoding.")
    (:maxFrames . "The largest number of frames of an image to process.")
    (:maxAnimationPixels . "The largest number of pixels of all its frames together.")
    (:decodeSeconds . "The longest time that processing may take, in seconds.")
    (:maxEntityBytes . "The largest number of bytes that entities may add to an SVG where they are used.")
    (:lease . "The time that an answered path stays valid, in seconds.")
    (:revalidate . "When a stored image is revalidated with its server: never, ifExpired, always, or as HTTP's rules say (http); as the cache is configured when left out.")
    (:staleIfError . "How long after expiring a stored image may be used when its server cannot be reached, in seconds; as long as the server allows when left out.")
    (:offline . "Use nothing from the network, and answer what is stored, even if it has expired.")
    (:negativeCache . "How long a permanent failure is remembered, in seconds; as the cache is configured when left out.")
    (:timeout . "The longest wait for the next bytes, in seconds; as the downloader is configured when left out.")
    (:deadline . "The longest time for the whole request, in seconds; no limit by default.")
    (:minBytesPerSecond . "The lowest permitted speed of a download, in bytes per second, measured over two timeouts; 0 for no limit.")
    (:downloadPriority . "The priority among waiting downloads, higher first: 0 to 1, or veryLow, low, normal, high or veryHigh.")
    (:alsoPrefetchToMemory . "Prefetch into memory too; for prefetch only.")
    (:onLastCancel . "What happens to the download when the last request that waits for it is cancelled.")
    (:slot . "The place that the image is for, such as a view: a newer request for the same place cancels this one.")
    (:downloadReport . "Also answer with the result and the timing of the download, if there was one.")
    (:merge . "Share the download with other requests for the same image.")
    (:headers . "Request headers.")
    (:method . "The HTTP method; POST when there is a body.")
    (:body . "The body of a request other than GET: text, or bytes as base64; at most 1048576 bytes.")
    (:dataModifier . "A transformation of the downloaded bytes before they are checked: base64 decodes text that encodes the image, also as a data URL.")
    (:authorization . "Credentials, sent to the host of the URL only.")
    (:scope . "A name for the user of the request, such as an account. Images loaded with credentials are kept apart by this name instead of by the credentials, and so outlast a change of token.")
    (:credentialScope . "Whether images loaded with credentials are kept apart by user (separate) or shared with everyone (shared).")
    (:remote . "The use of the tier that several machines share: for what is nobody's own (use), not at all (skip), or for private images too (share).")
    (:delegates . "The questions that the client is asked about this download, instead of those named in initialize; an empty list for none.")
    (:redirect . "The redirects to follow: all, those to the same scheme, host and port, or none.")
    (:maxRedirects . "The largest number of redirects to follow.")
    (:maxBytes . "The largest body accepted, in bytes.")
    (:validStatusCodes . "The status codes to accept; by default 200 to 399, except 206.")
    (:acceptContentTypes . "The media types to accept, such as image/*, if the server names one; by default only the bytes decide.")
    (:retry . "Whether and when to try a failed download again.")
    (:waitForConnectivity . "How long a failed download waits for a network when this machine has none, in seconds; then it is tried again at once.")
    (:alternativeSources . "URLs to try in order when the first one fails.")
    (:hedgeAfter . "The time after which the next source is started beside one that has not answered, in seconds.")
    (:integrity . "Digests, as in Subresource Integrity, one of which the bytes must have.")
    (:onFailureImage . "A path or URL of an image to use when everything failed."))
  "The members of `:options', and what they do.")

(defconst halcyon-booleans
  '(:accept
    :allVariants
    :alsoPrefetchToMemory
    :backgroundDecode
    :cacheMemoryOnly
    :cacheOriginalImage
    :downloadReport
    :forceRefresh
    :fromDisk
    :fromMemory
    :fromMemoryCacheOrRefresh
    :lossless
    :memory
    :merge
    :offline
    :onlyFromCache
    :onlyLoadFirstFrame
    :overwrite
    :preloadAllAnimationData
    :progressive
    :queryDataWhenInMemory
    :remote
    :repair
    :scaleDownLargeImages
    :stripMetadata
    :thumbHash
    :verifyDecode
    :waitForCache
    :weakRetention)
  "The names for which nil means false, and not that they are left out.")


;;; Methods

(defun halcyon-retrieve (url &rest args)
  "Return an image from memory.
From disk, or else from its URL, and caches it.

URL: Where the image is: an http, https, file or data URL.  Without it,
the image cached under key.
ARGS may have, besides those of `halcyon-request':
`:key' The cache key; the URL without its fragment when left out.
Alone, nothing is loaded.
`:cache' The name of the cache.
`:processors' The processing steps, in order.
`:options' How to look up, load and keep the image.
`:as' What the result contains.
Returns the call; its result is a plist, ImageResult in the protocol.

\(fn URL &rest ARGS)"
  (halcyon--call "retrieve" (list :url url) args))

(defun halcyon-store (key &rest args)
  "Put an image into the cache.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:data' The bytes, a unibyte string.  Give this or path.
`:path' A local file or folder.
`:cache' The name of the cache.
`:processors' The processing steps, in order.
`:options' How to look up, load and keep the image.
`:overwrite' Replace an image that is there.
`:metadata' Metadata to keep with the image, for inspect and list.
Returns the call; its result is a plist, StoreResult in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "store" (list :key key) args))

(defun halcyon-remove (key &rest args)
  "Remove an image from the cache.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:processors' The processing steps, in order.
`:fromMemory' Remove it from memory.
`:fromDisk' Remove it from disk.
`:allVariants' Remove everything made from it by processors too.
`:remote' Remove them from the remote tier too, for all machines.
`:options' The other options with which the image was made:
cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.
Returns the call; its result is a plist, RemoveResult in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "remove" (list :key key) args))

(defun halcyon-is-cached (key &rest args)
  "Return whether an image is cached.
And in which tier; nothing is loaded.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:processors' The processing steps, in order.
`:options' The other options with which the image was made:
cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.
Returns the call; its result is a plist, IsCachedResult in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "isCached" (list :key key) args))

(defun halcyon-cache-path (key &rest args)
  "Return the path at which an image is cached, or would be.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:processors' The processing steps, in order.
`:options' The other options with which the image was made:
cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.
Returns the call; its result is a plist, CachePathResult in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "cachePath" (list :key key) args))

(defun halcyon-calculate-size (&rest args)
  "Return how many images are in a cache and how many bytes they take.
Without walking a folder.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, SizeResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "calculateSize" nil args))

(defun halcyon-download (url &rest args)
  "Download an image, and check it; no cache is read or written.

URL: Where the image is: an http, https, file or data URL.
ARGS may have, besides those of `halcyon-request':
`:options' How to load the images.
`:as' Whether the result holds the bytes.
Returns the call; its result is a plist, DownloadResult in the protocol.

\(fn URL &rest ARGS)"
  (halcyon--call "download" (list :url url) args))

(defun halcyon-probe (url &rest args)
  "Return the format.
Size, orientation, frame count and transparency of an image from its
first kilobytes.

URL: Where the image is: an http, https, file or data URL.  Without it,
the image cached under key.
ARGS may have, besides those of `halcyon-request':
`:key' The cache key; the URL without its fragment when left out.
Alone, nothing is loaded.
`:cache' The name of the cache that is looked into first.
`:options' How to look up and load the image.
Returns the call; its result is a plist, ProbeResult in the protocol.

\(fn URL &rest ARGS)"
  (halcyon--call "probe" (list :url url) args))

(defun halcyon-prefetch (urls &rest args)
  "Load images into a cache ahead of time, behind all other downloads.

URLS: Where the images are; each is loaded once, even if it is named
several times.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:options' How to load the images.
`:maxConcurrent' How many are loaded at once.
`:processors' The processing steps, in order.
Returns the call; its result is a plist, PrefetchResult in the protocol.

\(fn URLS &rest ARGS)"
  (halcyon--call "prefetch" (list :urls (halcyon--as-param :urls urls)) args))

(defun halcyon-stop-prefetch (id &rest args)
  "Stop a prefetch.
Which is then answered: what it had not loaded counts as failed.

ID: The call, or its id.
ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, StopResult in the protocol.

\(fn ID &rest ARGS)"
  (halcyon--call "stopPrefetch" (list :id (halcyon--as-param :id id)) args))

(defun halcyon-set-priority (id priority &rest args)
  "Change the priority of a running retrieve, download or prefetch.

ID: The call, or its id.
PRIORITY: From 0 to 1, or a name; among downloads that wait, the
higher goes first.
ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, PriorityResult in the protocol.

\(fn ID PRIORITY &rest ARGS)"
  (halcyon--call "setPriority" (list :id (halcyon--as-param :id id) :priority priority) args))

(defun halcyon-cancel-all (&rest args)
  "Cancel every running retrieve.
Download and prefetch, or those that match all the conditions given.

ARGS may have, besides those of `halcyon-request':
`:url' Only those for this URL; a prefetch goes on with its others.
`:cache' Only those for this cache.
`:slot' Only the one in this slot.
Returns the call; its result is a plist, CancelResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "cancelAll" nil args))

(defun halcyon-pause (&rest args)
  "Start no more downloads until resume.
Running ones continue, and waiting ones keep their place.

ARGS may have, besides those of `halcyon-request':
`:what' All, or only those of prefetch that nobody else waits for.
Returns the call; its result is a plist, PauseResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "pause" nil args))

(defun halcyon-resume (&rest args)
  "Start downloads again after pause.

ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, PauseResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "resume" nil args))

(defun halcyon-clear (&rest args)
  "Remove all images of a cache, or those that match.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:remote' Remove them from the remote tier too, for all machines.
`:host' Only images from this host.
`:prefix' Only images whose keys begin with this.
`:format' Only images of this format.
`:minAge' Only images stored at least that many seconds ago.
`:maxAge' Only images stored at most that many seconds ago.
Returns the call; its result is a plist, ClearResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "clear" nil args))

(defun halcyon-clear-memory (&rest args)
  "Empty the memory tier of a cache.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, ClearResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "clearMemory" nil args))

(defun halcyon-clear-disk (&rest args)
  "Empty the disk tier of a cache.
Memory keeps its images, within its limit.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, ClearResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "clearDisk" nil args))

(defun halcyon-forget-failures (&rest args)
  "Forget remembered failures, so that their URLs are tried again.

ARGS may have, besides those of `halcyon-request':
`:url' Only those of this URL or cache key.
`:cache' The name of the cache.
Returns the call; its result is a plist, ForgetResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "forgetFailures" nil args))

(defun halcyon-list-failures (&rest args)
  "List the remembered failures.
Which are repeated without asking the server.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, FailuresResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "listFailures" nil args))

(defun halcyon-stats (&rest args)
  "Return what the server has done since it started.

ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, StatsResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "stats" nil args))

(defun halcyon-check-remote (&rest args)
  "Try whether the remote tier can be read and written.
And how far its clock is off.

ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, RemoteCheckResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "checkRemote" nil args))

(defun halcyon-inspect (key &rest args)
  "Return everything that is known about a cached image.
Without loading it or extending its life.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:processors' The processing steps of the image.
`:options' The other options with which the image was made:
cacheSerializer and the like.
Returns the call; its result is a plist, EntryDetails in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "inspect" (list :key key) args))

(defun halcyon-list (&rest args)
  "List the images on disk.
Page by page, in an order that does not change when they are used.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:limit' Entries a page, 1 to 1000.
`:cursor' The cursor of the page before; the first page when left out.
`:host' Only images from this host.
`:prefix' Only images whose keys begin with this.
`:format' Only images of this format.
`:minAge' Only images stored at least that many seconds ago.
`:maxAge' Only images stored at most that many seconds ago.
Returns the call; its result is a plist, ListResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "list" nil args))

(defun halcyon-explain (url &rest args)
  "Return what retrieve would do now and why.
Nothing is loaded, extended or asked.

URL: Where the image is: an http, https, file or data URL.  Without it,
the image cached under key.
ARGS may have, besides those of `halcyon-request':
`:key' The cache key; the URL without its fragment when left out.
Alone, nothing is loaded.
`:cache' The name of the cache.
`:processors' The processing steps.
`:options' The options of the request.
Returns the call; its result is a plist, ExplainResult in the protocol.

\(fn URL &rest ARGS)"
  (halcyon--call "explain" (list :url url) args))

(defun halcyon-clean-expired (&rest args)
  "Remove every expired image.
A leased path stays valid until its lease ends.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, CleanResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "cleanExpired" nil args))

(defun halcyon-verify (&rest args)
  "Read every image of a cache.
Compares it with the index and repairs what is wrong; other requests
continue meanwhile.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:repair' Put right what is wrong; otherwise it is only counted.
Returns the call; its result is a plist, VerifyResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "verify" nil args))

(defun halcyon-configure (&rest args)
  "Change the settings of a cache.
The downloader or the remote tier, or the default options, from now
on; settings that are left out keep their values.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:memory' The memory tier: its settings, or whether there is one.
`:disk' The settings of the disk tier.
`:downloader' The settings of the downloader of all caches.
`:remote' The settings of the remote tier of all caches.
`:options' The options of requests that leave them out.
Returns the call; its result is a plist, ConfigureResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "configure" nil args))

(defun halcyon-add-read-only-cache-path (path &rest args)
  "Add a folder that is searched after that of a cache.
And never written.

PATH: A local file or folder.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, CacheSettings in the protocol.

\(fn PATH &rest ARGS)"
  (halcyon--call "addReadOnlyCachePath" (list :path (halcyon--as-param :path path)) args))

(defun halcyon-caches (&rest args)
  "List the caches that are open.
Configured, or found in the cache folder.

ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, CachesResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "caches" nil args))

(defun halcyon-subscribe (events &rest args)
  "Subscribe to events, which then come as notifications.

EVENTS: The names of the events.
ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, SubscriptionResult in the protocol.

\(fn EVENTS &rest ARGS)"
  (halcyon--call "subscribe" (list :events (halcyon--as-param :events events)) args))

(defun halcyon-unsubscribe (events &rest args)
  "End subscriptions: none of these events comes after the answer.

EVENTS: The names of the events.
ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, SubscriptionResult in the protocol.

\(fn EVENTS &rest ARGS)"
  (halcyon--call "unsubscribe" (list :events (halcyon--as-param :events events)) args))

(defun halcyon-ping (&rest args)
  "Answer null.
Shows that the server is alive, and its latency.  Parameters are
ignored.

ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, Null in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "ping" nil args))

(defun halcyon-discover (&rest args)
  "Return this document.

ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, OpenRPC document in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "rpc.discover" nil args))

(provide 'halcyon-methods)
;;; halcyon-methods.el ends here
