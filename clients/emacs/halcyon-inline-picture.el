;;; halcyon-inline-picture.el --- What a buffer shows of one image  -*- lexical-binding: t; -*-

;;; Commentary:

;; A picture is an overlay over a reference to an image, and what is known
;; of that image: it shows the image, or a label that says how far it is.
;; Which pictures a buffer has is for `halcyon-inline-mode'.

;;; Code:

(require 'cl-lib)
(require 'halcyon)
(require 'image)

(defcustom halcyon-inline-max-width 0.9
  "The widest that an image is shown: pixels, or a fraction of the window."
  :group 'halcyon-inline
  :type '(choice (integer :tag "Pixels") (float :tag "Fraction of the window")))

(defcustom halcyon-inline-max-height 0.7
  "The highest that an image is shown: pixels, or a fraction of the window."
  :group 'halcyon-inline
  :type '(choice (integer :tag "Pixels") (float :tag "Fraction of the window")))

(defface halcyon-inline-label '((t :inherit shadow))
  "For what stands in place of an image."
  :group 'halcyon-inline)

(defface halcyon-inline-error '((t :inherit error))
  "For what is said of an image that did not come."
  :group 'halcyon-inline)

(cl-defstruct (halcyon-inline-picture (:copier nil))
  "An image in a buffer."
  overlay url width
  (state 'loading :documentation "`loading', `shown' or `failed'.")
  (call nil :documentation "The call that is on its way, or nil.")
  (image nil :documentation "The result that is shown, or nil.")
  (error nil :documentation "The error that is shown, or nil.")
  (asked 0 :documentation "When it was asked for last, in seconds.")
  (room nil :documentation "The room for which it was shown.")
  (spec nil :documentation "The image of Emacs that is shown, or nil."))

(defun halcyon-inline-picture--window (buffer)
  "A window of BUFFER on a frame that can show images, or nil."
  (seq-find (lambda (window) (display-images-p (window-frame window)))
            (get-buffer-window-list buffer nil t)))

(defun halcyon-inline-picture--room (window)
  "The largest width and height in pixels of an image in WINDOW."
  (cl-flet ((pixels (limit whole) (if (floatp limit) (round (* limit whole)) limit)))
    (cons (pixels halcyon-inline-max-width (window-body-width window t))
          (pixels halcyon-inline-max-height (window-body-height window t)))))

(defun halcyon-inline-picture-name (url)
  "A short name for URL."
  (let ((name (file-name-nondirectory (replace-regexp-in-string "[?#].*" "" url))))
    (truncate-string-to-width (if (string-empty-p name) url name) 40 nil nil "…")))

(defun halcyon-inline-picture-say (picture text face)
  "Show TEXT in FACE behind what PICTURE stands for."
  (let ((overlay (halcyon-inline-picture-overlay picture)))
    (overlay-put overlay 'display nil)
    (overlay-put overlay 'face nil)
    (overlay-put overlay 'after-string (propertize (format " [%s]" text) 'face face))))

(defun halcyon-inline-picture--why (error)
  "A few words for ERROR."
  (let* ((data (halcyon-error-data error))
         (status (plist-get data :statusCode)))
    (if status (format "HTTP %s" status)
      (or (plist-get data :name) (string-remove-prefix "halcyon-" (symbol-name (car error)))))))

(defun halcyon-inline-picture-show (picture)
  "Show PICTURE as it is now."
  (let* ((overlay (halcyon-inline-picture-overlay picture))
         (image (halcyon-inline-picture-image picture))
         (window (halcyon-inline-picture--window (overlay-buffer overlay)))
         (name (halcyon-inline-picture-name (halcyon-inline-picture-url picture)))
         (spec (and image window (plist-get image :path) (halcyon-image-type image)
                    (halcyon-inline-picture--spec picture window))))
    (setf (halcyon-inline-picture-spec picture) spec)
    (overlay-put overlay 'help-echo
                 (pcase (halcyon-inline-picture-state picture)
                   ('failed (halcyon-error-message (halcyon-inline-picture-error picture)))
                   ('shown (format "%s\n%s" (halcyon-inline-picture-url picture)
                                   (halcyon-image-label image)))))
    (cond
     (spec (overlay-put overlay 'after-string nil)
           ;; Else the underline of a link runs through it.
           (overlay-put overlay 'face 'default)
           (overlay-put overlay 'display spec))
     (image (halcyon-inline-picture-say picture (halcyon-image-label image) 'halcyon-inline-label))
     ((halcyon-inline-picture-error picture)
      (halcyon-inline-picture-say picture
                                  (format "%s: %s" name
                                          (halcyon-inline-picture--why (halcyon-inline-picture-error picture)))
                                  'halcyon-inline-error))
     (t (halcyon-inline-picture-say picture (format "loading %s…" name) 'halcyon-inline-label)))))

(defun halcyon-inline-picture--spec (picture window)
  "The image of Emacs for PICTURE in WINDOW, or nil when there can be none."
  (let* ((image (halcyon-inline-picture-image picture))
         (room (halcyon-inline-picture--room window))
         (wanted (halcyon-inline-picture-width picture))
         (width (and wanted
                     (min (if (floatp wanted)
                              (round (* wanted (window-body-width window t)))
                            wanted)
                          (car room))))
         (rotation (halcyon-inline-picture--rotation image))
         ;; Emacs turns an image after it has given it its size.
         (names (if (memql rotation '(90 270))
                    '(:height :max-height :max-width)
                  '(:width :max-width :max-height))))
    (setf (halcyon-inline-picture-room picture) room)
    (ignore-errors
      (apply #'create-image (plist-get image :path) (halcyon-image-type image) nil
             `(,@(and width (list (nth 0 names) width))
               ,(nth 1 names) ,(car room) ,(nth 2 names) ,(cdr room)
               ,@(and rotation (list :rotation rotation)) :ascent center)))))

(defun halcyon-inline-picture--rotation (image)
  "The degrees by which Emacs is to turn IMAGE, a result, or nil.
It does not look at the orientation that EXIF says."
  (and (member (plist-get image :format) '("jpeg" "png" "webp"))
       (cdr (assq (plist-get image :orientation) '((3 . 180) (6 . 90) (8 . 270))))))

(defun halcyon-inline-picture-outgrown-p (picture)
  "Whether the room for PICTURE is another one now, or there are images now."
  (and (halcyon-inline-picture-image picture)
       (let ((window (halcyon-inline-picture--window (current-buffer))))
         (and window (not (equal (halcyon-inline-picture--room window)
                                 (halcyon-inline-picture-room picture)))))))

(provide 'halcyon-inline-picture)
;;; halcyon-inline-picture.el ends here
