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
  "A parameter is missing, unknown, or of the wrong kind" 'halcyon-error)
(define-error 'halcyon-internal-error
  "Something went wrong inside the server" 'halcyon-error)
(define-error 'halcyon-request-cancelled
  "The request was cancelled" 'halcyon-error)
(define-error 'halcyon-server-cancelled
  "The server is shutting down" 'halcyon-error)
(define-error 'halcyon-bad-data
  "The bytes are no image the engine can read, or are cut off" 'halcyon-error)
(define-error 'halcyon-not-modified
  "A 304 came to a request that carried no validator" 'halcyon-error)
(define-error 'halcyon-invalid-status-code
  "The server answered with a status that is not accepted" 'halcyon-error)
(define-error 'halcyon-not-cached
  "The cache does not have it, and nothing may be loaded for it" 'halcyon-error)
(define-error 'halcyon-processing-failed
  "A processor could not do its work, or there is no codec worker" 'halcyon-error)
(define-error 'halcyon-limit-exceeded
  "A limit was passed; data.limit names it" 'halcyon-error)
(define-error 'halcyon-data-modifying-failed
  "What was downloaded is not what dataModifier takes it for" 'halcyon-error)
(define-error 'halcyon-invalid-url
  "The text is no URL that may be loaded" 'halcyon-error)
(define-error 'halcyon-connection-failed
  "The server could not be reached, or left early" 'halcyon-error)
(define-error 'halcyon-timed-out
  "Nothing came for too long, or the whole took too long" 'halcyon-error)
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
  '(("cache/didClean" . "Images went from a disk tier because their time was over or room was needed; never for remove or clear.")
    ("image/didChange" . "An image was answered although it was stale (stale-while-revalidate), and has been replaced since.")
    ("activity/didChange" . "Downloads have been running for a while, or have stopped: what a sign of activity shows.")
    ("download/didFinish" . "A transfer has ended, well or not: once each, however many requests shared it.")
    ("log" . "A line of the log, of the level that is logged or above; at most 100 in a second."))
  "What may be listened to with `halcyon-listen', and when it comes.")

(defconst halcyon-questions
  '(("downloader/modifyRequest" . "How is this request to be sent? Null sends none, and the download fails with downloadCancelledBeforeStarting.")
    ("downloader/redirect" . "How is this redirect to be followed? Null stops here, and the answer that redirects is judged as it is.")
    ("downloader/validateStatus" . "Is the body of this answer wanted? Null judges it by validStatusCodes.")
    ("downloader/challenge" . "Which credentials does this server get? \"default\" goes on as without the question, \"cancel\" gives up."))
  "What the server may ask delegates, and what it means.")

(defconst halcyon-options
  '((:forceRefresh . "Ignore the caches for reading; still write them.")
    (:fromMemoryCacheOrRefresh . "Look in memory only, then load.")
    (:onlyFromCache . "Never load; what is not cached is the error notCached.")
    (:cacheMemoryOnly . "Keep the image in memory only; the result has no path.")
    (:waitForCache . "Answer only when the image is in the cache.")
    (:memoryCacheExpiration . "How long memory keeps the image.")
    (:diskCacheExpiration . "How long the disk keeps the image.")
    (:memoryCacheAccessExtendingExpiration . "What an access does to the life in memory; as the cache is configured when left out.")
    (:diskCacheAccessExtendingExpiration . "What an access does to the life on disk; as the cache is configured when left out.")
    (:forcedCacheFileExtension . "The extension of the cached file, instead of the format's.")
    (:queryDataWhenInMemory . "Read the bytes even when only the path was asked for.")
    (:memory . "Keep the image in memory; else it is only answered.")
    (:originalCache . "Another cache to look into before loading; what it has is stored here too.")
    (:cacheOriginalImage . "Keep the original of a processed image too, so that more can be made of it.")
    (:cacheSerializer . "How a processed image is written; as the result asks for by default.")
    (:onlyLoadFirstFrame . "Take the first frame of an animation, as a still.")
    (:frame . "Take one frame of an animation, by its number from 0, as a still.")
    (:scaleDownLargeImages . "Make an image of more than 15728640 pixels smaller, until it has so many.")
    (:scaleFactor . "What the lengths of processors are multiplied by: they are then in points, not pixels.")
    (:preloadAllAnimationData . "Accepted for clients of other libraries: all frames are always kept.")
    (:backgroundDecode . "Accepted for clients of other libraries: images are always decoded in another process.")
    (:verifyDecode . "Answer and keep the image only once all of it has been decoded; as the cache is configured when left out.")
    (:thumbHash . "Answer with a ThumbHash, a BlurHash and the dominant colour too, made once and kept with the entry.")
    (:maxPixels . "The most pixels that a frame of an image to be processed may have; of a JPEG as it is shrunk on loading.")
    (:maxFrames . "The most frames that an image to be processed may have.")
    (:maxAnimationPixels . "The most pixels that all frames of it may have together.")
    (:decodeSeconds . "The most seconds that its processing may take.")
    (:maxEntityBytes . "The most bytes that the entities of a drawing may add to it where they are used.")
    (:lease . "Seconds for which a path that is answered stays valid.")
    (:revalidate . "Whether and when a stored image is checked with its server: never, ifExpired, always, or as its server says (http); as the cache is configured when left out.")
    (:staleIfError . "Seconds past its time for which a stored image stands in when its server cannot be asked; as far as the server allows it when left out.")
    (:offline . "Load nothing from the network, and answer whatever is stored, also when its time is over.")
    (:negativeCache . "Seconds for which a failure that would come again is remembered; as the cache is configured when left out.")
    (:timeout . "Seconds to wait for the next bytes; as the downloader is configured when left out.")
    (:deadline . "Seconds until the image must be there, whatever it waits for; without end by default.")
    (:minBytesPerSecond . "The slowest that a download may be, over two timeouts; 0 for no such limit.")
    (:downloadPriority . "Among downloads that wait, the higher goes first: 0 to 1, or veryLow, low, normal, high or veryHigh.")
    (:alsoPrefetchToMemory . "Prefetch into memory too; for prefetch only.")
    (:onLastCancel . "What becomes of the download when the last who waits for it is cancelled.")
    (:slot . "A place that the image is for: a newer request for the same place cancels this one.")
    (:merge . "Share the download with others who want the same.")
    (:headers . "Request headers.")
    (:method . "What the server is asked to do; POST when there is a body.")
    (:body . "What a request other than GET brings along: text, or bytes as base64; at most 1048576 bytes.")
    (:dataModifier . "What is done to what was downloaded before anything looks at it: base64 for text that stands for the image, also as a data URL.")
    (:authorization . "Credentials, sent to the host of the URL only.")
    (:scope . "A name for the user of the request, such as an account; what is loaded with credentials is kept apart by it instead of by the credentials, and outlasts a change of token.")
    (:credentialScope . "Whether what is loaded with credentials is kept apart from what others load: separate, or shared with all.")
    (:delegates . "What the client is asked about this download, instead of what it said in initialize; an empty list for nothing.")
    (:redirect . "Which redirects are followed: all, those to the same scheme, host and port, or none.")
    (:maxRedirects . "How many redirects are followed.")
    (:maxBytes . "The largest body accepted, in bytes.")
    (:validStatusCodes . "The status codes accepted; 200 to 399 but 206 by default.")
    (:acceptContentTypes . "Media types of which a server must name one, if it names any, such as image/*; by default the bytes decide alone.")
    (:retry . "Whether and when a failed download is tried again.")
    (:waitForConnectivity . "Seconds for which a download that failed waits for a network, when this machine has none; then it is tried again at once.")
    (:alternativeSources . "URLs tried in order when the first fails.")
    (:hedgeAfter . "Seconds after which the next source is begun beside one that has not answered.")
    (:integrity . "Digests of which the bytes must have one, as in Subresource Integrity.")
    (:onFailureImage . "A path or URL that stands in when everything failed."))
  "The members of `:options', and what they do.")

(defconst halcyon-booleans
  '(:accept
    :allVariants
    :alsoPrefetchToMemory
    :backgroundDecode
    :cacheMemoryOnly
    :cacheOriginalImage
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
  "Return an image.
From memory, else from disk, else from its URL, whence it is cached.

URL: Where the image is: an http, https, file or data URL.  Without it,
what is cached under key is meant.
ARGS may have, besides those of `halcyon-request':
`:key' The cache key; the URL without its fragment when left out.
Alone, nothing is loaded.
`:cache' The name of the cache.
`:processors' What is done to the original, in order.
`:options' How to look up, load and keep the image.
`:as' What the result holds of the image.
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
`:processors' What is done to the original, in order.
`:options' How to look up, load and keep the image.
`:overwrite' Replace an image that is there.
`:metadata' What is to be kept with the image, for inspect and list.
Returns the call; its result is a plist, StoreResult in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "store" (list :key key) args))

(defun halcyon-remove (key &rest args)
  "Remove an image from the cache.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:processors' What is done to the original, in order.
`:fromMemory' Remove it from memory.
`:fromDisk' Remove it from disk.
`:allVariants' Remove everything made from it by processors too.
`:options' What else was said when the image was made:
cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.
Returns the call; its result is a plist, RemoveResult in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "remove" (list :key key) args))

(defun halcyon-is-cached (key &rest args)
  "Tell whether an image is cached, and where; nothing is loaded.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:processors' What is done to the original, in order.
`:options' What else was said when the image was made:
cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.
Returns the call; its result is a plist, IsCachedResult in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "isCached" (list :key key) args))

(defun halcyon-cache-path (key &rest args)
  "Tell where an image is in the cache, or would be.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:processors' What is done to the original, in order.
`:options' What else was said when the image was made:
cacheSerializer, onlyLoadFirstFrame, scaleFactor and the like.
Returns the call; its result is a plist, CachePathResult in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "cachePath" (list :key key) args))

(defun halcyon-calculate-size (&rest args)
  "Tell how many images are in a cache and how large they are.
Without walking a folder.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, SizeResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "calculateSize" nil args))

(defun halcyon-download (url &rest args)
  "Load an image, and check it; no cache is looked into or written.

URL: Where the image is: an http, https, file or data URL.
ARGS may have, besides those of `halcyon-request':
`:options' How to load the images.
`:as' Whether the result holds the bytes.
Returns the call; its result is a plist, DownloadResult in the protocol.

\(fn URL &rest ARGS)"
  (halcyon--call "download" (list :url url) args))

(defun halcyon-probe (url &rest args)
  "Tell format.
Size, orientation, frames and transparency of an image from its first
kilobytes.

URL: Where the image is: an http, https, file or data URL.  Without it,
what is cached under key is meant.
ARGS may have, besides those of `halcyon-request':
`:key' The cache key; the URL without its fragment when left out.
Alone, nothing is loaded.
`:cache' The name of the cache that is looked into first.
`:options' How to look up and load the image.
Returns the call; its result is a plist, ProbeResult in the protocol.

\(fn URL &rest ARGS)"
  (halcyon--call "probe" (list :url url) args))

(defun halcyon-prefetch (urls &rest args)
  "Load images into a cache before somebody wants them.
Behind all other downloads.

URLS: Where the images are; each is loaded once, however often it is
named.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:options' How to load the images.
`:maxConcurrent' How many are loaded at once.
`:processors' What is done to the originals, in order.
Returns the call; its result is a plist, PrefetchResult in the protocol.

\(fn URLS &rest ARGS)"
  (halcyon--call "prefetch" (list :urls (halcyon--as-param :urls urls)) args))

(defun halcyon-stop-prefetch (id &rest args)
  "Stop a prefetch.
Which is then answered: what it has not loaded has failed.

ID: The call, or its id.
ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, StopResult in the protocol.

\(fn ID &rest ARGS)"
  (halcyon--call "stopPrefetch" (list :id (halcyon--as-param :id id)) args))

(defun halcyon-set-priority (id priority &rest args)
  "Change how urgent a retrieve, download or prefetch under way is.

ID: The call, or its id.
PRIORITY: From 0 to 1, or a name; among downloads that wait, the
higher goes first.
ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, PriorityResult in the protocol.

\(fn ID PRIORITY &rest ARGS)"
  (halcyon--call "setPriority" (list :id (halcyon--as-param :id id) :priority priority) args))

(defun halcyon-cancel-all (&rest args)
  "Cancel every retrieve.
Download and prefetch under way, or those that match all that is
given.

ARGS may have, besides those of `halcyon-request':
`:url' Only those for this URL; a prefetch goes on with its others.
`:cache' Only those for this cache.
`:slot' Only the one in this slot.
Returns the call; its result is a plist, CancelResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "cancelAll" nil args))

(defun halcyon-pause (&rest args)
  "Start no more downloads until resume.
What is under way goes on, and what waits keeps its place.

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
  "Empty a cache: memory and disk.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
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
Memory keeps its images as far as its limit goes.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, ClearResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "clearDisk" nil args))

(defun halcyon-forget-failures (&rest args)
  "Forget failures that are remembered.
So that they are asked for again.

ARGS may have, besides those of `halcyon-request':
`:url' Only those of this URL or cache key.
`:cache' The name of the cache.
Returns the call; its result is a plist, ForgetResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "forgetFailures" nil args))

(defun halcyon-list-failures (&rest args)
  "List the failures that are remembered, and repeated without asking.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, FailuresResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "listFailures" nil args))

(defun halcyon-stats (&rest args)
  "Tell what the server has done since it started.

ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, StatsResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "stats" nil args))

(defun halcyon-inspect (key &rest args)
  "Tell everything that is known of a cached image.
Without loading or prolonging it.

KEY: The cache key: any text.
ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:processors' What was done to the original.
`:options' What else was said when the image was made: cacheSerializer
and the like.
Returns the call; its result is a plist, EntryDetails in the protocol.

\(fn KEY &rest ARGS)"
  (halcyon--call "inspect" (list :key key) args))

(defun halcyon-list (&rest args)
  "List what is in the disk tier of a cache.
Page by page, in an order that no use changes.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:limit' Entries a page, 1 to 1000.
`:cursor' What the page before came with; the first page when left
out.
`:host' Only images from this host.
`:prefix' Only images whose keys begin so.
`:format' Only images of this format.
`:minAge' Only images stored at least so many seconds ago.
`:maxAge' Only images stored at most so many seconds ago.
Returns the call; its result is a plist, ListResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "list" nil args))

(defun halcyon-explain (url &rest args)
  "Tell what retrieve would do now and why.
Nothing is loaded, prolonged or asked.

URL: Where the image is: an http, https, file or data URL.  Without it,
what is cached under key is meant.
ARGS may have, besides those of `halcyon-request':
`:key' The cache key; the URL without its fragment when left out.
Alone, nothing is loaded.
`:cache' The name of the cache.
`:processors' What is done to the original.
`:options' The options of the request.
Returns the call; its result is a plist, ExplainResult in the protocol.

\(fn URL &rest ARGS)"
  (halcyon--call "explain" (list :url url) args))

(defun halcyon-clean-expired (&rest args)
  "Remove every image whose time is over.
A path that is lent out stays valid.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
Returns the call; its result is a plist, CleanResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "cleanExpired" nil args))

(defun halcyon-verify (&rest args)
  "Read every image of a cache through.
Holds it against the index, and puts right what is wrong; others go
on.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:repair' Put right what is wrong; otherwise it is only counted.
Returns the call; its result is a plist, VerifyResult in the protocol.

\(fn &rest ARGS)"
  (halcyon--call "verify" nil args))

(defun halcyon-configure (&rest args)
  "Change the settings of a cache.
Or of the downloader, from now on; what is left out stays as it was.

ARGS may have, besides those of `halcyon-request':
`:cache' The name of the cache.
`:memory' The memory tier: its settings, or whether there is one.
`:disk' The settings of the disk tier.
`:downloader' The settings of the downloader of all caches.
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
  "Ask to be told of events by notifications; nothing is sent before.

EVENTS: The names of the events.
ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, SubscriptionResult in the protocol.

\(fn EVENTS &rest ARGS)"
  (halcyon--call "subscribe" (list :events (halcyon--as-param :events events)) args))

(defun halcyon-unsubscribe (events &rest args)
  "End subscriptions: none of these events follows the answer.

EVENTS: The names of the events.
ARGS may have what `halcyon-request' takes.
Returns the call; its result is a plist, SubscriptionResult in the protocol.

\(fn EVENTS &rest ARGS)"
  (halcyon--call "unsubscribe" (list :events (halcyon--as-param :events events)) args))

(defun halcyon-ping (&rest args)
  "Answer null: a probe of life and latency.  Any parameters are ignored.

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
