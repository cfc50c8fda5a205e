;;; halcyon.el --- Images from the network, without waiting for them  -*- lexical-binding: t; -*-

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.1"))
;; Keywords: multimedia, hypermedia, comm

;;; Commentary:

;; Downloads and caches images through the halcyon image engine: one
;; process for the whole Emacs, which starts with the first call.
;;
;;   (halcyon-retrieve "https://example.com/cat.png"
;;                     :then (lambda (cat) (find-file (plist-get cat :path))))
;;
;; returns at once.  `halcyon-wait' waits for what it returned, for those
;; who must.  There is one such function for each method of the protocol.
;;
;; `halcyon-inline-mode' shows the remote images of a buffer in it, and
;; `halcyon-shr-mode' fetches those of EWW and of mails through the cache.

;;; Code:

(require 'halcyon-methods)
(require 'halcyon-rpc)

(autoload 'halcyon-inline-mode "halcyon-inline" "Show the remote images of this buffer." t)
(autoload 'halcyon-shr-mode "halcyon-shr" "Fetch the images of EWW and mails through halcyon." t)

(defun halcyon-image-bytes (image)
  "The bytes of IMAGE, a result that was asked for with `:as' \"data\" or \"both\"."
  (base64-decode-string (plist-get image :data)))

(defun halcyon-image-label (image)
  "What there is to say of IMAGE, a result: its format, dimensions and size.
The dimensions are those that are seen, turned as EXIF says."
  (format "%s %d×%d, %s"
          (upcase (plist-get image :format))
          (or (plist-get image :displayWidth) (plist-get image :width))
          (or (plist-get image :displayHeight) (plist-get image :height))
          (file-size-human-readable (plist-get image :byteCount) 'si " " "B")))

(defconst halcyon--image-types
  '(("png" . png) ("jpeg" . jpeg) ("gif" . gif) ("webp" . webp) ("tiff" . tiff)
    ("svg" . svg) ("bmp" . bmp) ("ico" . ico) ("heic" . heic) ("avif" . avif)
    ("jxl" . jxl))
  "The types of Emacs for the formats of the protocol.")

(defun halcyon-image-type (image)
  "The type under which this Emacs can show IMAGE, a result; nil when it cannot."
  (let ((type (cdr (assoc (plist-get image :format) halcyon--image-types))))
    (cond ((null type) nil)
          ((image-type-available-p type) type)
          ((image-type-available-p 'imagemagick) 'imagemagick))))

;;;###autoload
(defun halcyon-show-size (&optional cache)
  "Show how many images are in CACHE, or the default cache, and how large they are."
  (interactive)
  (apply #'halcyon-calculate-size
         :then (lambda (size)
                 (let ((disk (plist-get size :disk))
                       (memory (plist-get size :memory)))
                   (message "halcyon: %d images on disk (%s), %d in memory (%s)"
                            (plist-get disk :count)
                            (file-size-human-readable (plist-get disk :bytes) 'si " " "B")
                            (plist-get memory :count)
                            (file-size-human-readable (plist-get memory :bytes) 'si " " "B"))))
         (and cache (list :cache cache))))

(provide 'halcyon)
;;; halcyon.el ends here
