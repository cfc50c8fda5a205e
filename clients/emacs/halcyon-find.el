;;; halcyon-find.el --- Find references to remote images in a buffer  -*- lexical-binding: t; -*-

;;; Commentary:

;; The finders of image references, by mode.  A finder is called with no
;; arguments after point was put where to begin, gets a bound, and returns
;; the next reference as a plist, or nil.

;;; Code:

(require 'seq)
(require 'subr-x)

(declare-function org-element-context "org-element" (&optional element))
(declare-function org-element-type "org-element" (element))

(defconst halcyon-find--url "https?://"
  "How the address of a remote image begins.")

(defconst halcyon-find--markdown
  (concat "!\\[[^]\n]*\\]([ \t]*<?"
          "\\(?1:" halcyon-find--url "\\(?:[^][ \t\n()<>]\\|\\[[^][\n]*\\]\\|([^ \t\n()]*)\\)+\\)"
          ">?\\(?:[ \t]+[\"'][^\n]*?[\"']\\)?[ \t]*)"
          "\\|<img[ \t\n][^>]*?src=[\"']\\(?1:" halcyon-find--url "[^\"'>\n]+\\)[\"'][^>]*>")
  "An image in Markdown or in HTML; the first group is its address.")

(defconst halcyon-find--org
  (concat "\\[\\[\\(?1:[^]\n]+\\)\\]\\(?:\\[\\(?2:" halcyon-find--url "[^]\n]+\\)\\]\\)?\\]")
  "A link of Org: the first group is where to, the second its description.")

(defconst halcyon-find--image-file
  "\\.\\(?:png\\|jpe?g\\|gif\\|webp\\|svg\\|bmp\\|tiff?\\|ico\\|avif\\|heic\\|jxl\\)\\(?:[?#].*\\)?\\'"
  "The end of an address that is that of an image.")

(defun halcyon-find-images (start end)
  "The references to remote images between START and END that are in sight.
Each is a plist of `:start', `:end', `:url' and, if one is asked for,
`:width'.  What stands in code is no reference."
  (save-excursion
    (save-restriction
      (widen)
      (save-match-data
        (let ((case-fold-search t))
          (seq-remove #'halcyon-find--hidden-p
                      (if (derived-mode-p 'org-mode)
                          (halcyon-find--in-org start end)
                        (halcyon-find--in-markdown start end))))))))

(defun halcyon-find--hidden-p (reference)
  "Whether nothing of REFERENCE is in sight; Org hides the brackets of links."
  (let ((position (plist-get reference :start))
        (end (plist-get reference :end)))
    (while (and (< position end) (invisible-p position))
      (setq position (next-single-char-property-change position 'invisible nil end)))
    (>= position end)))

(defun halcyon-find--in-markdown (start end)
  "The references of Markdown between START and END."
  (let ((code (halcyon-find--fences end)) found)
    (goto-char start)
    (while (re-search-forward halcyon-find--markdown end t)
      (let ((from (match-beginning 0)))
        (unless (or (eq ?` (char-before from))
                    (seq-some (lambda (block) (< (car block) from (cdr block))) code))
          (push (list :start from :end (match-end 0) :url (match-string-no-properties 1))
                found))))
    (nreverse found)))

(defun halcyon-find--fences (end)
  "The blocks between fences that begin before END, as (START . END) of each."
  (let (blocks)
    (goto-char (point-min))
    (while (re-search-forward "^ \\{0,3\\}\\(```+\\|~~~+\\)" end t)
      (let ((start (match-beginning 0))
            (fence (match-string 1)))
        (forward-line)
        (unless (re-search-forward (concat "^ \\{0,3\\}" fence "[`~]*[ \t]*$") nil t)
          (goto-char (point-max)))
        (push (cons start (point)) blocks)))
    blocks))

(defun halcyon-find--in-org (start end)
  "The links of Org to images between START and END.
As for Org's own images, a link counts that has no description, or one
that is the address of an image."
  (let (found)
    (goto-char start)
    (while (re-search-forward halcyon-find--org end t)
      (let ((from (match-beginning 0)) (to (match-end 0))
            (url (or (match-string-no-properties 2) (match-string-no-properties 1))))
        (when (and (string-match-p (concat "\\`" halcyon-find--url) url)
                   (string-match-p halcyon-find--image-file url)
                   (save-excursion (goto-char (1+ from))
                                   (eq 'link (org-element-type (org-element-context)))))
          (push (list :start from :end to :url url :width (halcyon-find--org-width from))
                found))
        (goto-char to)))
    (nreverse found)))

(defun halcyon-find--org-width (position)
  "The width that stands in an attr_org line above POSITION, or nil."
  (save-excursion
    (goto-char position)
    (let (width)
      (while (and (not width) (zerop (forward-line -1)) (looking-at "[ \t]*#\\+"))
        (when (looking-at "[ \t]*#\\+attr_org:.*:width +\\([0-9]+\\)")
          (setq width (string-to-number (match-string 1)))))
      width)))

(provide 'halcyon-find)
;;; halcyon-find.el ends here
