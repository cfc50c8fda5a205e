;;; halcyon-shr.el --- Images of EWW and mails through halcyon  -*- lexical-binding: t; -*-

;;; Commentary:

;; All that renders HTML by `shr' (EWW, Gnus, mu4e, Elfeed, …) gets its
;; images through the cache.  What `shr' would not load, such as images of
;; mails that are blocked, is not loaded here either, and no cookies are sent.

;;; Code:

(require 'cl-lib)
(require 'halcyon)

(defcustom halcyon-shr-options '(:revalidate "http")
  "How images are retrieved: a plist of `halcyon-options'."
  :type 'plist
  :group 'halcyon)

(defun halcyon-shr--retrieve (retrieve url callback &optional arguments &rest more)
  "Retrieve the image at URL for CALLBACK with ARGUMENTS.
What is no image goes to RETRIEVE, with MORE."
  (if (not (and (eq callback 'shr-image-fetched) (string-match-p "\\`https?://" url)))
      (apply retrieve url callback arguments more)
    (let* ((buffer (car arguments))
           (call (halcyon-retrieve
                  url :options halcyon-shr-options
                  :then (lambda (image) (halcyon-shr--deliver image buffer arguments))
                  :else #'ignore)))
      (with-current-buffer buffer
        (add-hook 'kill-buffer-hook (lambda () (halcyon-cancel call)) nil t))
      nil)))

(defun halcyon-shr--deliver (image buffer arguments)
  "Hand the file of IMAGE to `shr-image-fetched', if BUFFER is there.
ARGUMENTS are those of the callback.
It expects a buffer as `url-retrieve' leaves it, and kills it."
  (when (buffer-live-p buffer)
    (with-current-buffer (generate-new-buffer " *halcyon shr*")
      (set-buffer-multibyte nil)
      (insert (format "HTTP/1.1 200 OK\nContent-Type: %s\n\n" (plist-get image :mimeType)))
      (goto-char (point-max))
      (insert-file-contents-literally (plist-get image :path))
      ;; The image is in a cache already.
      (cl-letf (((symbol-function 'url-store-in-cache) #'ignore))
        (apply 'shr-image-fetched nil arguments)))))

;;;###autoload
(define-minor-mode halcyon-shr-mode
  "Fetch the images of EWW and of mails through halcyon."
  :global t
  :group 'halcyon
  (if halcyon-shr-mode
      (advice-add 'url-queue-retrieve :around #'halcyon-shr--retrieve)
    (advice-remove 'url-queue-retrieve #'halcyon-shr--retrieve)))

(defun halcyon-shr-unload-function ()
  "Leave images to `url' again."
  (halcyon-shr-mode -1)
  nil)

(provide 'halcyon-shr)
;;; halcyon-shr.el ends here
