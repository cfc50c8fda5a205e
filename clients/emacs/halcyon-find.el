;;; halcyon-find.el --- Find references to remote images in a buffer  -*- lexical-binding: t; -*-

;;; Commentary:

;; The finders of image references, by mode.  A finder is called with no
;; arguments after point was put where to begin, gets a bound, and returns
;; the next reference as a plist, or nil.

;;; Code:

(require 'cl-lib)
(require 'seq)
(require 'subr-x)

(declare-function org-element-context "org-element" (&optional element))
(declare-function org-element-type "org-element" (element))

(defconst halcyon-find--url "https?://"
  "How the address of a remote image begins.")

(defconst halcyon-find--longest-tag 10000
  "How many characters of a tag of HTML are looked at.")

(defconst halcyon-find--deepest 32
  "How many brackets may be open at a time in the parts of an image.")

(defconst halcyon-find--fence
  (concat "^[ \t>]*\\(?:\\(?:[-+*]\\|[0-9]+[.)]\\)[ \t]+\\)?"
          "\\(?:\\(?1:```+\\)[^`\n]*\\|\\(?1:~~~+\\).*\\|\\(?2:<!--\\).*\\)$")
  "How a block of code or a comment begins; the first group is the fence.")

(defconst halcyon-find--label
  "\\[\\(\\(?:[^][\\]\\|\\\\.\\)\\{0,999\\}\\)\\]"
  "A label of Markdown in brackets, its only ones; the first group is the label.
As in CommonMark, it has at most 999 characters.")

(defconst halcyon-find--definition
  (concat "^[ >]\\{0,3\\}" halcyon-find--label
          ":[ \t]*\n?[ \t]*\\(?:<\\(?2:[^<>\n]*\\)>\\|\\(?2:[^ \t\n<][^ \t\n]*\\)\\)")
  "The line that says what a label stands for; the second group is the address.")

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
  "The references of Markdown and HTML between START and END."
  (let ((blocks (halcyon-find--blocks end))
        (labels (halcyon-find--labels))
        ;; Elsewhere two backticks may have nothing to do with each other.
        (spans (not (derived-mode-p 'prog-mode 'sgml-mode 'nxml-mode)))
        found)
    ;; What stands before START in the paragraph may open code that goes on behind it.
    (goto-char start)
    (when (re-search-backward "^[ \t]*$" (max (point-min) (- start 10000)) 'move) (forward-line))
    (while (and (< (point) end)
                (re-search-forward "!\\[\\|<img[ \t\n/]\\|<!--\\|`+" end t))
      (let* ((from (match-beginning 0))
             (token (match-string-no-properties 0))
             (block (seq-find (lambda (block) (and (<= (car block) from) (< from (cdr block))))
                              blocks)))
        (cond
         (block (goto-char (max (point) (cdr block))))
         ((halcyon-find--escaped-p from) (goto-char (1+ from)))
         ((eq ?` (aref token 0)) (when spans (halcyon-find--skip-code token)))
         ((equal token "<!--") (search-forward "-->" nil t))
         (t (let* ((after (point))
                   (url (if (eq ?! (aref token 0))
                            (or (halcyon-find--link-url) (halcyon-find--label-url after labels))
                          (halcyon-find--tag-url))))
              (cond
               ;; The text of an image may hold another one.
               ((not url) (goto-char after))
               ((and (<= start from) (<= (point) end)
                     (not (eq ?` (char-before from)))
                     (string-match-p (concat "\\`" halcyon-find--url) url))
                (push (list :start from :end (point) :url url) found))))))))
    (nreverse found)))

(defun halcyon-find--escaped-p (position)
  "Whether an odd number of backslashes stands before POSITION."
  (save-excursion
    (goto-char position)
    (eq 1 (logand 1 (- (skip-chars-backward "\\\\"))))))

(defun halcyon-find--skip-code (ticks)
  "Go behind the code that TICKS before point open, if they are closed again."
  (let ((start (point))
        (bound (save-excursion
                 (if (re-search-forward "^[ \t]*$" nil t) (match-beginning 0) (point-max))))
        closed)
    (while (and (not closed) (re-search-forward "`+" bound t))
      (setq closed (= (length ticks) (- (point) (match-beginning 0)))))
    (unless closed (goto-char start))))

(defun halcyon-find--skip-text ()
  "Go behind the bracket that closes the text of an image, or return nil."
  (let ((depth 1))
    (while (and depth (< 0 depth halcyon-find--deepest))
      (skip-chars-forward "^\\[\\]\n\\\\")
      (pcase (char-after)
        (?\[ (cl-incf depth) (forward-char))
        (?\] (cl-decf depth) (forward-char))
        ;; A line may end in it, a paragraph may not.
        ((and ?\n (guard (not (looking-at "\n[ \t]*$")))) (forward-char))
        ((and ?\\ (guard (looking-at "\\\\."))) (forward-char 2))
        (?\\ (forward-char))
        (_ (setq depth nil))))
    (eql depth 0)))

(defun halcyon-find--link-url ()
  "Go behind the image of Markdown whose text begins at point; return its address.
Returns nil when there is none."
  (when (and (halcyon-find--skip-text) (eq ?\( (char-after)))
    (forward-char)
    (skip-chars-forward " \t\n")
    (let* ((start (point))
           (raw (if (eq ?< (char-after))
                    (when (looking-at "<\\([^<>\n]*\\)>")
                      (goto-char (match-end 0))
                      (match-string-no-properties 1))
                  (halcyon-find--skip-destination)
                  (buffer-substring-no-properties start (point)))))
      (when (and raw
                 (looking-at (concat "\\(?:[ \t\n]+\\(?:\"[^\"]*\"\\|'[^']*'\\|([^()]*)\\)\\)?"
                                     "[ \t\n]*)")))
        (goto-char (match-end 0))
        (halcyon-find--unescaped (replace-regexp-in-string "\\\\\\([[:punct:]]\\)" "\\1" raw))))))

(defun halcyon-find--label-url (start labels)
  "Go behind the image whose text begins at START; return its address in LABELS.
The label stands in brackets behind the text, or is the text itself."
  (goto-char start)
  (when (halcyon-find--skip-text)
    (let ((label (buffer-substring-no-properties start (1- (point)))))
      (when (looking-at halcyon-find--label)
        (goto-char (match-end 0))
        (unless (string-empty-p (match-string 1))
          (setq label (match-string-no-properties 1))))
      (funcall labels label))))

(defun halcyon-find--labels ()
  "A function from a label of this buffer to its address, or nil.
It looks for all of them when it is called for the first time."
  (let (labels)
    (lambda (label)
      (unless labels
        (setq labels (make-hash-table :test #'equal))
        (save-excursion
          (let ((blocks (nreverse (halcyon-find--blocks (point-max)))))
            (goto-char (point-min))
            (while (re-search-forward halcyon-find--definition nil t)
              (while (and blocks (<= (cdar blocks) (match-beginning 0))) (pop blocks))
              (let* ((url (match-string-no-properties 2))
                     (block (and blocks (<= (caar blocks) (match-beginning 0))))
                     (name (halcyon-find--normal (match-string-no-properties 1))))
                ;; The first one counts.
                (unless (or block (gethash name labels))
                  (puthash name (halcyon-find--unescaped url) labels)))))))
      (gethash (halcyon-find--normal label) labels))))

(defun halcyon-find--normal (label)
  "LABEL as it is compared: in small letters, with one space for several."
  (downcase (string-join (split-string label) " ")))

(defun halcyon-find--skip-destination ()
  "Go behind an address without spaces, in which each bracket that opens is closed."
  (let ((depth 0) done)
    (while (not done)
      (skip-chars-forward "^ \t\n()<>\\\\")
      (pcase (char-after)
        ((and ?\( (guard (< depth halcyon-find--deepest))) (cl-incf depth) (forward-char))
        ((and ?\) (guard (> depth 0))) (cl-decf depth) (forward-char))
        ((and ?\\ (guard (looking-at "\\\\[^ \t\n]"))) (forward-char 2))
        (_ (setq done t))))))

(defun halcyon-find--tag-url ()
  "Go behind the tag whose attributes begin here; return its src, or nil."
  (let ((bound (min (point-max) (+ (point) halcyon-find--longest-tag)))
        url)
    (while (progn
             (skip-chars-forward " \t\n/" bound)
             (looking-at "[^] \t\n=<>/\"']+"))
      (let ((src (string-match-p "\\`src\\'" (match-string 0))))
        (goto-char (match-end 0))
        (when (looking-at "[ \t\n]*=[ \t\n]*\\([\"']?\\)")
          (let ((quoted (string-to-list (match-string 1)))
                (start (goto-char (match-end 0))))
            (skip-chars-forward (if quoted (format "^%c" (car quoted)) "^ \t\n>") bound)
            (when (and src (not url))
              (setq url (buffer-substring-no-properties start (point))))
            (when (and quoted (eq (char-after) (car quoted))) (forward-char))))))
    (when (and url (eq ?> (char-after)))
      (forward-char)
      (halcyon-find--unescaped url))))

(defun halcyon-find--unescaped (text)
  "TEXT with the characters that HTML and Markdown write as names."
  (if (not (string-search "&" text)) text
    (let ((case-fold-search nil))
      (replace-regexp-in-string
       "&\\(?:amp\\|quot\\|lt\\|gt\\|#39\\);"
       (lambda (name) (cdr (assoc name '(("&amp;" . "&") ("&quot;" . "\"") ("&lt;" . "<")
                                         ("&gt;" . ">") ("&#39;" . "'")))))
       text t t))))

(defun halcyon-find--blocks (end)
  "The blocks of code and the comments that begin before END, as (START . END)."
  (let (blocks)
    (goto-char (point-min))
    (while (re-search-forward halcyon-find--fence end t)
      (let ((start (match-beginning 0))
            (comment (match-beginning 2))
            (fence (match-string 1)))
        (if comment
            (progn (goto-char comment)
                   ;; One that is never closed is none.
                   (if (search-forward "-->" nil t)
                       (push (cons start (point)) blocks)
                     (goto-char (match-end 0))))
          (forward-line)
          (unless (re-search-forward (concat "^[ \t>]*" fence "[`~]*[ \t]*$") nil t)
            (goto-char (point-max)))
          (push (cons start (point)) blocks))))
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
  "The width that stands in an attr_org line above POSITION, or nil.
As for Org, 50% and 0.5 are parts of the width of the window: a float."
  (save-excursion
    (goto-char position)
    (let (width)
      (while (and (not width) (zerop (forward-line -1)) (looking-at "[ \t]*#\\+"))
        (when (looking-at "[ \t]*#\\+attr_org:.*:width +\\([0-9]*\\.?[0-9]+\\)\\(%\\)?")
          (setq width (string-to-number (match-string 1)))
          (when (match-beginning 2) (setq width (/ width 100.0)))))
      (and width (> width 0) (if (and (floatp width) (> width 2)) (round width) width)))))

(provide 'halcyon-find)
;;; halcyon-find.el ends here
