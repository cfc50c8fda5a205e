;;; halcyon-inline.el --- Show the remote images of a buffer in it  -*- lexical-binding: t; -*-

;;; Commentary:

;; `halcyon-inline-mode' shows the images that a buffer refers to by http
;; and https: ![…](…) and <img …> in any buffer, [[…]] in Org.  Only those
;; in sight and near it are loaded, and while they load Emacs goes on; those
;; that go out of sight before they have come are cancelled.  An image that
;; has changed at its server is shown anew.
;;
;;   (add-hook 'markdown-mode-hook #'halcyon-inline-mode)
;;   (add-hook 'org-mode-hook #'halcyon-inline-mode)
;;
;; Displays without pictures, such as terminals, show a label for each.

;;; Code:

(require 'cl-lib)
(require 'halcyon)
(require 'halcyon-find)
(require 'halcyon-inline-picture)

(defvar org-inline-image-overlays)

(defgroup halcyon-inline nil
  "Remote images in the buffers that refer to them."
  :group 'halcyon
  :prefix "halcyon-inline-")

(defcustom halcyon-inline-margin 40
  "How many lines before and after what is in sight are looked after too."
  :type 'natnum)

(defcustom halcyon-inline-delay 0.1
  "Seconds of rest after scrolling or typing, before images are looked for."
  :type 'number)

(defcustom halcyon-inline-options '(:revalidate "http")
  "How images are retrieved: a plist of `halcyon-options'.
With \"http\" they are checked with their servers as these wish."
  :type 'plist)

(defcustom halcyon-inline-refresh-after 1800
  "Seconds after which an image in sight is asked for again.
It then comes from the cache, unless `halcyon-inline-options' says
that its server is to be asked."
  :type 'number)

(defvar-local halcyon-inline--pictures nil
  "The pictures of this buffer.")

(defvar-local halcyon-inline--owner nil
  "The buffer whose pictures they are; in a copy of that buffer not this one.")

(defvar-local halcyon-inline--timer nil
  "The timer that will look over this buffer, or nil.")

(defvar-local halcyon-inline--hidden nil
  "Whether the images of this buffer are hidden for now.")


;;; Loading

(defun halcyon-inline--load (picture)
  "Ask for PICTURE; what is shown of it stays until the answer has come."
  (let* ((buffer (overlay-buffer (halcyon-inline-picture-overlay picture)))
         call
         (while-wanted (lambda (function)
                         (lambda (value)
                           (when (and (eq call (halcyon-inline-picture-call picture))
                                      (overlay-buffer (halcyon-inline-picture-overlay picture)))
                             (funcall function value))))))
    (setf (halcyon-inline-picture-asked picture) (float-time))
    (condition-case error
        (setf call (halcyon-retrieve
                    (halcyon-inline-picture-url picture)
                    ;; Emacs reads the file again whenever its own cache has dropped it.
                    :options (append halcyon-inline-options
                                     (list :lease (* 4 (max 900 halcyon-inline-refresh-after))))
                    :progress (funcall while-wanted
                                       (lambda (report) (halcyon-inline--report picture report)))
                    :then (funcall while-wanted
                                   (lambda (image) (halcyon-inline--came picture image)))
                    :else (funcall while-wanted
                                   (lambda (error) (halcyon-inline--failed picture error buffer))))
              (halcyon-inline-picture-call picture) call)
      ;; It is no JSON, as an address with a byte of another coding system is none.
      (error (halcyon-inline--failed picture
                                     (list 'halcyon-invalid-params
                                           (format "It cannot be asked for: %s"
                                                   (error-message-string error)))
                                     buffer)))))

(defun halcyon-inline--report (picture report)
  "Show how far PICTURE has come, according to REPORT."
  (let ((percentage (plist-get report :percentage)))
    (when (and percentage (eq 'loading (halcyon-inline-picture-state picture)))
      (halcyon-inline-picture-say picture
                                  (format "loading %s… %d%%"
                                          (halcyon-inline-picture-name (halcyon-inline-picture-url picture))
                                          percentage)
                                  'halcyon-inline-label))))

(defun halcyon-inline--came (picture image)
  "Show IMAGE, the answer for PICTURE."
  (let ((old (halcyon-inline-picture-spec picture)))
    (setf (halcyon-inline-picture-call picture) nil
          (halcyon-inline-picture-state picture) 'shown
          (halcyon-inline-picture-error picture) nil
          (halcyon-inline-picture-image picture) image)
    ;; Other bytes may have come to the same path.
    (when (and old (fboundp 'image-flush)) (image-flush old t))
    (halcyon-inline-picture-show picture)))

(defun halcyon-inline--failed (picture error buffer)
  "Show ERROR in place of PICTURE, unless BUFFER has an older image of it.
What may go well later is tried again then."
  (setf (halcyon-inline-picture-call picture) nil)
  (unless (halcyon-inline-picture-image picture)
    (setf (halcyon-inline-picture-state picture) 'failed
          (halcyon-inline-picture-error picture) error)
    (halcyon-inline-picture-show picture))
  (when (eq (car error) 'halcyon-server-gone)
    (with-current-buffer buffer
      (halcyon-inline--look-later
       (+ 0.1 (or (plist-get (halcyon-error-data error) :retryAfter) 0))))))

(defun halcyon-inline--retry-p (picture now)
  "Whether PICTURE is to be asked for again at the time NOW."
  (and (not (halcyon-inline-picture-call picture))
       (let ((error (halcyon-inline-picture-error picture))
             (age (- now (halcyon-inline-picture-asked picture))))
         (cond
          ((not error) (> age halcyon-inline-refresh-after))
          ((eq (car error) 'halcyon-server-gone) t)
          ((halcyon-error-retryable-p error)
           (> age (or (plist-get (halcyon-error-data error) :retryAfter) 30)))))))

(defun halcyon-inline--drop (picture)
  "Take PICTURE out of its buffer, and cancel what is on its way."
  (let ((call (halcyon-inline-picture-call picture)))
    (setf (halcyon-inline-picture-call picture) nil)
    (when call (halcyon-cancel call)))
  (delete-overlay (halcyon-inline-picture-overlay picture))
  (setq halcyon-inline--pictures (delq picture halcyon-inline--pictures)))

(defun halcyon-inline--changed (overlay after &rest _)
  "Drop the picture of OVERLAY before a change of its text, that is, not AFTER."
  (unless after
    (when-let ((picture (overlay-get overlay 'halcyon-inline)))
      (halcyon-inline--own)
      (when (memq picture halcyon-inline--pictures)
        (halcyon-inline--drop picture)))))

(defun halcyon-inline--add (reference)
  "Add a picture for REFERENCE, as from `halcyon-find-images', and load it.
Returns the picture."
  (let* ((overlay (make-overlay (plist-get reference :start) (plist-get reference :end) nil t))
         (picture (make-halcyon-inline-picture :overlay overlay
                                               :url (plist-get reference :url)
                                               :width (plist-get reference :width))))
    (overlay-put overlay 'halcyon-inline picture)
    (overlay-put overlay 'evaporate t)
    (overlay-put overlay 'modification-hooks '(halcyon-inline--changed))
    (push picture halcyon-inline--pictures)
    (when (bound-and-true-p org-inline-image-overlays)
      (setq org-inline-image-overlays (seq-filter #'overlay-buffer org-inline-image-overlays)))
    (when (and (derived-mode-p 'org-mode) (boundp 'org-inline-image-overlays))
      (overlay-put overlay 'org-image-overlay t)
      (push overlay org-inline-image-overlays))
    (halcyon-inline-picture-show picture)
    (halcyon-inline--load picture)
    picture))


;;; Looking over the buffer

(defun halcyon-inline--regions ()
  "What of this buffer is in sight or near it, as (START . END) of each window."
  (mapcar (lambda (window)
            (save-excursion
              (save-restriction
                (widen)
                ;; By lines on the screen: what `window-end' knows may be from before, and a
                ;; line of text that is folded away takes no place.
                (let ((start (progn (goto-char (window-start window))
                                    (vertical-motion (- halcyon-inline-margin) window)
                                    (point))))
                  (goto-char (window-start window))
                  (vertical-motion (+ (window-body-height window) halcyon-inline-margin) window)
                  (cons start (line-end-position))))))
          (get-buffer-window-list nil nil t)))

(defun halcyon-inline--own ()
  "Begin anew in a buffer that was copied with its variables and overlays.
Such are the indirect buffers of Org; their pictures are those of
another buffer, which keeps them."
  (unless (eq halcyon-inline--owner (current-buffer))
    (setq halcyon-inline--owner (current-buffer)
          halcyon-inline--pictures nil
          halcyon-inline--timer nil)
    (save-restriction
      (widen)
      (dolist (overlay (overlays-in (point-min) (point-max)))
        (when (overlay-get overlay 'halcyon-inline) (delete-overlay overlay))))))

(defun halcyon-inline--at (reference)
  "The picture that is there for REFERENCE already, or nil."
  (seq-find (lambda (picture)
              (let ((overlay (halcyon-inline-picture-overlay picture)))
                (and (eq (overlay-start overlay) (plist-get reference :start))
                     (eq (overlay-end overlay) (plist-get reference :end))
                     (equal (halcyon-inline-picture-url picture) (plist-get reference :url)))))
            halcyon-inline--pictures))

(defun halcyon-inline--look ()
  "Load the images of this buffer that are in sight, and give up the others."
  (setq halcyon-inline--timer nil)
  (let ((now (float-time))
        (regions (unless halcyon-inline--hidden (halcyon-inline--regions)))
        near)
    (pcase-dolist (`(,start . ,end) regions)
      (dolist (reference (halcyon-find-images start end))
        (let ((picture (halcyon-inline--at reference)))
          (cond
           ((not picture) (setq picture (halcyon-inline--add reference)))
           ((halcyon-inline--retry-p picture now) (halcyon-inline--load picture))
           ((not (equal (plist-get reference :width) (halcyon-inline-picture-width picture)))
            (setf (halcyon-inline-picture-width picture) (plist-get reference :width))
            (halcyon-inline-picture-show picture))
           ((halcyon-inline-picture-outgrown-p picture) (halcyon-inline-picture-show picture)))
          (push picture near))))
    (dolist (picture halcyon-inline--pictures)
      (when (or (not (overlay-buffer (halcyon-inline-picture-overlay picture)))
                (and (not (memq picture near))
                     (or (eq 'loading (halcyon-inline-picture-state picture))
                         (halcyon-inline--past-p picture regions))))
        (halcyon-inline--drop picture)))))

(defun halcyon-inline--past-p (picture regions)
  "Whether PICTURE, whose reference was not found, is in sight in REGIONS."
  (let* ((overlay (halcyon-inline-picture-overlay picture))
         (start (overlay-start overlay))
         (end (overlay-end overlay)))
    (and (seq-some (lambda (region) (<= (car region) start end (cdr region))) regions)
         (not (halcyon-find--hidden-p (list :start start :end end))))))

(defun halcyon-inline--look-later (&optional delay)
  "Look over this buffer after DELAY seconds, or `halcyon-inline-delay'."
  (halcyon-inline--own)
  (let ((delay (or delay halcyon-inline-delay)))
    ;; One that waits for the next start of the server must not hold up the others.
    (when (and halcyon-inline--timer
               (time-less-p (time-add nil delay) (timer--time halcyon-inline--timer)))
      (cancel-timer halcyon-inline--timer)
      (setq halcyon-inline--timer nil))
    (unless halcyon-inline--timer
      (setq halcyon-inline--timer
            (run-with-timer delay nil
                            (lambda (buffer)
                              (when (buffer-live-p buffer)
                                (with-current-buffer buffer
                                  (when (bound-and-true-p halcyon-inline-mode)
                                    (halcyon-inline--look)))))
                            (current-buffer))))))

(defun halcyon-inline--soon (&rest _)
  "Look over this buffer soon."
  (halcyon-inline--look-later))

(defun halcyon-inline--scrolled (window _start)
  "Look over the buffer of WINDOW soon."
  (with-current-buffer (window-buffer window) (halcyon-inline--look-later)))

(defun halcyon-inline--image-did-change (event)
  "Show the image of EVENT anew wherever it is shown."
  (dolist (buffer (buffer-list))
    (dolist (picture (buffer-local-value 'halcyon-inline--pictures buffer))
      (when (and (equal (plist-get event :url) (halcyon-inline-picture-url picture))
                 (not (halcyon-inline-picture-call picture))
                 (overlay-buffer (halcyon-inline-picture-overlay picture)))
        ;; The image is in the cache now.  Another request to the network
        ;; could find it stale again, in an endless loop.
        (let ((halcyon-inline-options (append '(:offline t) halcyon-inline-options)))
          (halcyon-inline--load picture))))))


;;; The mode

(defconst halcyon-inline--hooks
  '((window-scroll-functions . halcyon-inline--scrolled)
    (window-configuration-change-hook . halcyon-inline--soon)
    (after-change-functions . halcyon-inline--soon)
    (outline-view-change-hook . halcyon-inline--soon)
    (org-cycle-hook . halcyon-inline--soon)
    (kill-buffer-hook . halcyon-inline--end)
    (change-major-mode-hook . halcyon-inline--end))
  "The hooks of a buffer in which images are shown.")

(defun halcyon-inline--end ()
  "Take all pictures out of this buffer, and cancel what is on its way."
  (halcyon-inline--own)
  (when halcyon-inline--timer
    (cancel-timer halcyon-inline--timer)
    (setq halcyon-inline--timer nil))
  (mapc #'halcyon-inline--drop (copy-sequence halcyon-inline--pictures)))

;;;###autoload
(define-minor-mode halcyon-inline-mode
  "Show the remote images of this buffer in it."
  :lighter " Images"
  (pcase-dolist (`(,hook . ,function) halcyon-inline--hooks)
    (if halcyon-inline-mode
        (add-hook hook function nil t)
      (remove-hook hook function t)))
  (halcyon-inline--end)
  (setq halcyon-inline--hidden nil)
  (when halcyon-inline-mode
    (halcyon-inline--integrate)
    (halcyon-inline--look-later 0)))

(defun halcyon-inline--integrate ()
  "Hear of images that change, and have Org's commands do for ours too."
  (unless (member #'halcyon-inline--image-did-change
                  (cdr (assoc "image/didChange"
                              (halcyon-client-listeners halcyon-default-client))))
    (halcyon-listen "image/didChange" #'halcyon-inline--image-did-change))
  (when (derived-mode-p 'org-mode)
    (advice-add 'org-display-inline-images :after #'halcyon-inline--unhide)
    (advice-add 'org-remove-inline-images :after #'halcyon-inline--hide)))

(defun halcyon-inline--hide (&rest _)
  "Hide the images of this buffer, until `halcyon-inline--unhide'."
  (when halcyon-inline-mode
    (halcyon-inline--end)
    (setq halcyon-inline--hidden t)))

(defun halcyon-inline--unhide (&rest _)
  "Show the images of this buffer that were hidden."
  (when halcyon-inline-mode
    (setq halcyon-inline--hidden nil)
    (halcyon-inline--look-later 0)))

(defun halcyon-inline-refresh ()
  "Ask the servers of the images in this buffer for them, whatever is cached."
  (interactive)
  (let ((halcyon-inline-options (append '(:revalidate "always") halcyon-inline-options)))
    (dolist (picture halcyon-inline--pictures)
      (when (halcyon-inline-picture-call picture)
        (halcyon-cancel (halcyon-inline-picture-call picture)))
      (halcyon-inline--load picture))))

(defun halcyon-inline-open ()
  "Visit the cached file of the image at point."
  (interactive)
  (let* ((overlay (seq-find (lambda (overlay) (overlay-get overlay 'halcyon-inline))
                            (overlays-in (line-beginning-position) (line-end-position))))
         (image (and overlay (halcyon-inline-picture-image
                              (overlay-get overlay 'halcyon-inline)))))
    (unless image (user-error "There is no image on this line, or it has not come yet"))
    (find-file (plist-get image :path))))

(defun halcyon-inline-unload-function ()
  "Take the images out of all buffers, and leave Org alone."
  (dolist (buffer (buffer-list))
    (with-current-buffer buffer
      (when halcyon-inline-mode (halcyon-inline-mode -1))))
  (advice-remove 'org-display-inline-images #'halcyon-inline--unhide)
  (advice-remove 'org-remove-inline-images #'halcyon-inline--hide)
  (halcyon-unlisten "image/didChange" #'halcyon-inline--image-did-change)
  nil)

(provide 'halcyon-inline)
;;; halcyon-inline.el ends here
