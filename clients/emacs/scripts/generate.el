;;; generate.el --- Make halcyon-methods.el from openrpc.json  -*- lexical-binding: t; -*-

;;; Commentary:

;; Usage, with Emacs as the program: -Q --script generate.el --write
;; Writes halcyon-methods.el into the folder above.  A test says when it is out of date.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)

(defconst halcyon-generate--folder
  (file-name-directory (or load-file-name buffer-file-name))
  "The folder of this file.")

(defconst halcyon-generate--life-cycle
  '("initialize" "initialized" "shutdown" "exit" "$/setTrace" "$/cancelRequest"
    "notifications/cancelled")
  "Methods that the client sends by itself.")

(defconst halcyon-generate--special
  '(("data" . "The bytes, a unibyte string.  Give this or path.")
    ("path" . "A local file or folder.")
    ("id" . "The call, or its id.")
    ("urls" . nil) ("events" . nil))
  "Parameters that the client takes in another form, and what to say of it.")

(defconst halcyon-generate--more-errors
  '((parseError -32700 "The server could not read a message.")
    (invalidRequest -32600 "The server took a message for no request.")
    (methodNotFound -32601 "The server has no such method.")
    (processingFailed 10004 "A processor could not do its work."))
  "Errors that the document does not list.")

(defun halcyon-generate--kebab (name)
  "NAME, such as isCached, as is-cached; initials stay together."
  (let ((case-fold-search nil))
    (downcase
     (replace-regexp-in-string
      "\\([A-Z]+\\)\\([A-Z][a-z]\\)" "\\1-\\2"
      (replace-regexp-in-string "\\([a-z]\\)\\([A-Z]\\)" "\\1-\\2" name)))))

(defun halcyon-generate--filled (text)
  "TEXT in lines that fit."
  (with-temp-buffer
    (insert text)
    (let ((fill-column 70) (sentence-end-double-space nil))
      (fill-region (point-min) (point-max)))
    (halcyon-generate--spaced (string-trim-right (buffer-string)))))

(defun halcyon-generate--spaced (text)
  "TEXT with two spaces between sentences, as Emacs has it."
  (replace-regexp-in-string "\\([a-z0-9)]\\)\\. \\([A-Z]\\)" "\\1.  \\2" text))

(defun halcyon-generate--summary (param)
  "What to say of PARAM."
  (or (cdr (assoc (gethash "name" param) halcyon-generate--special))
      (halcyon-generate--spaced (gethash "summary" param))))

(defun halcyon-generate--lead (summary)
  "SUMMARY as an order: a sentence of one line, then the rest."
  (let* ((words (split-string summary " "))
         (verb (if (string-suffix-p "ies" (car words))
                   (concat (substring (car words) 0 -3) "y")
                 (string-remove-suffix "s" (car words))))
         (order (string-join (cons verb (cdr words)) " ")))
    ;; One verb leads; checkdoc takes a second one for it.
    (pcase-dolist (`(,old . ,new) '((" and checks it" . ", and check it")
                                    ("images a cache holds" . "images are in a cache")
                                    ("what the disk tier of a cache holds"
                                     . "what is in the disk tier of a cache")))
      (setq order (string-replace old new order)))
    (if (< (length order) 70)
        (halcyon-generate--spaced order)
      (string-match "[:;,.] " order)
      (let ((rest (substring order (match-end 0))))
        (concat (substring order 0 (match-beginning 0)) ".\n"
                (halcyon-generate--filled
                 (concat (capitalize (substring rest 0 1)) (substring rest 1))))))))

(defun halcyon-generate--method (method)
  "The definition of the function for METHOD."
  (let* ((name (gethash "name" method))
         (params (append (gethash "params" method) nil))
         (any-of (append (gethash "x-anyOf" method) nil))
         ;; Of several of which one is needed the first has a place, and may be nil.
         (required (cl-remove-if-not (lambda (p) (or (eq t (gethash "required" p))
                                                     (and any-of (equal (gethash "name" p) (car any-of)))))
                                     params))
         (optional (cl-set-difference params required :test #'eq))
         (symbol (concat "halcyon-" (halcyon-generate--kebab (string-remove-prefix "rpc." name))))
         (places (mapcar (lambda (p) (gethash "name" p)) required))
         (doc (concat
               (halcyon-generate--lead (gethash "summary" method))
               "\n\n"
               (mapconcat (lambda (p)
                            (halcyon-generate--filled
                             (format "%s: %s" (upcase (gethash "name" p)) (halcyon-generate--summary p))))
                          required "\n")
               (and required "\n")
               (if optional "ARGS may have, besides those of `halcyon-request':\n"
                 "ARGS may have what `halcyon-request' takes.")
               (mapconcat (lambda (p)
                            (halcyon-generate--filled
                             (format "`:%s' %s" (gethash "name" p) (halcyon-generate--summary p))))
                          (sort (copy-sequence optional)
                                (lambda (a b) (< (cl-position a params) (cl-position b params))))
                          "\n")
               "\nReturns the call; its result is "
               (pcase (gethash "name" (gethash "result" method))
                 ((and kind (guard (string-match-p "\\`[A-Z]" kind)))
                  (format "a plist, %s in the protocol." kind))
                 (_ "in the protocol."))
               "\n\n(fn " (mapconcat (lambda (p) (concat (upcase p) " ")) places "") "&rest ARGS)")))
    (format "(defun %s (%s&rest args)\n  %s\n  (halcyon--call %S %s args))\n"
            symbol (mapconcat (lambda (p) (concat p " ")) places "")
            (string-replace "\n(fn " "\n\\(fn " (prin1-to-string doc)) name
            (if places
                (format "(list %s)" (mapconcat (lambda (p)
                                                 (format (if (assoc p halcyon-generate--special)
                                                             ":%1$s (halcyon--as-param :%1$s %1$s)"
                                                           ":%1$s %1$s")
                                                         p))
                                               places " "))
              "nil"))))

(defun halcyon-generate--booleans (value)
  "The names in VALUE, a part of the document, of what may be true or false."
  (let (names)
    (cl-labels
        ((boolean-p (schema)
           (and (hash-table-p schema)
                (or (equal (gethash "type" schema) "boolean")
                    (seq-contains-p (let ((type (gethash "type" schema))) (and (vectorp type) type)) "boolean")
                    (cl-some #'boolean-p (gethash "oneOf" schema)))))
         (walk (value)
           (cond
            ((hash-table-p value)
             (let ((properties (gethash "properties" value)))
               (when (hash-table-p properties)
                 (maphash (lambda (name schema) (when (boolean-p schema) (push name names)))
                          properties)))
             (when (and (stringp (gethash "name" value)) (boolean-p (gethash "schema" value)))
               (push (gethash "name" value) names))
             (maphash (lambda (_ inner) (walk inner)) value))
            ((vectorp value) (mapc #'walk value)))))
      (walk value))
    (sort (delete-dups names) #'string<)))

(defun halcyon-generate--alist (entries)
  "ENTRIES, name and text, as the lines of a quoted alist."
  (concat "'(" (mapconcat (pcase-lambda (`(,name . ,text)) (format "(%S . %S)" name text))
                          entries "\n    ")
          ")"))

(defun halcyon-generate (document)
  "The text of halcyon-methods.el for DOCUMENT, a parsed openrpc.json."
  (let* ((components (gethash "components" document))
         (schemas (gethash "schemas" components))
         (methods (cl-remove-if (lambda (m)
                                  (member (gethash "name" m) halcyon-generate--life-cycle))
                                (append (gethash "methods" document) nil)))
         (pairs (lambda (list) (mapcar (lambda (e) (cons (gethash "name" e) (gethash "summary" e)))
                                       list)))
         (asked (vconcat (mapcar (lambda (m) (gethash "params" m)) (gethash "methods" document))
                         (mapcar (lambda (name) (gethash name schemas))
                                 '("ImageOptions" "MemorySettings" "DiskSettings"
                                   "DownloaderSettings"))
                         (mapcar (lambda (m) (gethash "result" m))
                                 (gethash "x-clientMethods" document))))
         options errors)
    (maphash (lambda (name schema)
               (push (cons (intern (concat ":" name)) (gethash "description" schema)) options))
             (gethash "properties" (gethash "ImageOptions" schemas)))
    (maphash (lambda (name error)
               (push (list (intern name) (gethash "code" error) (gethash "message" error)) errors))
             (gethash "errors" components))
    (setq errors (append (cl-remove-if (lambda (error) (assq (car error) errors))
                                       halcyon-generate--more-errors)
                         (nreverse errors)))
    (concat
     ";;; halcyon-methods.el --- The methods of the protocol  -*- lexical-binding: t; -*-

;;; Commentary:

;; Made by generate.el from protocol/openrpc.json.  Do not edit.

;;; Code:

(declare-function halcyon--call \"halcyon-rpc\" (method params arguments))
(declare-function halcyon--as-param \"halcyon-rpc\" (key value))

(define-error 'halcyon-error \"Halcyon\")
"
     (mapconcat (pcase-lambda (`(,name ,_ ,message))
                  (format "(define-error 'halcyon-%s\n  %S 'halcyon-error)\n"
                          (halcyon-generate--kebab (symbol-name name))
                          (string-remove-suffix "." message)))
                errors "")
     "\n(defconst halcyon-conditions\n  '("
     (mapconcat (pcase-lambda (`(,name ,code ,_))
                  (format "(%S %d halcyon-%s)" (symbol-name name) code
                          (halcyon-generate--kebab (symbol-name name))))
                errors "\n    ")
     ")\n  \"The errors of the protocol: name, code and condition of each.\")\n\n"
     "(defconst halcyon-events\n  "
     (halcyon-generate--alist (funcall pairs (gethash "x-events" document)))
     "\n  \"What may be listened to with `halcyon-listen', and when it comes.\")\n\n"
     "(defconst halcyon-questions\n  "
     (halcyon-generate--alist (funcall pairs (gethash "x-clientMethods" document)))
     "\n  \"What the server may ask delegates, and what it means.\")\n\n"
     "(defconst halcyon-options\n  " (halcyon-generate--alist (nreverse options))
     "\n  \"The members of `:options', and what they do.\")\n\n"
     "(defconst halcyon-booleans\n  '("
     (mapconcat (lambda (name) (concat ":" name)) (halcyon-generate--booleans asked) "\n    ")
     ")\n  \"The names for which nil means false, and not that they are left out.\")\n\n"
     "\n;;; Methods\n\n"
     (mapconcat #'halcyon-generate--method methods "\n")
     "\n(provide 'halcyon-methods)\n;;; halcyon-methods.el ends here\n")))

(defun halcyon-generate-text ()
  "The text that halcyon-methods.el is to have."
  (let ((file (expand-file-name "../../../protocol/openrpc.json" halcyon-generate--folder))
        (print-escape-newlines nil))
    (with-temp-buffer
      (insert-file-contents file)
      (halcyon-generate (json-parse-buffer)))))

(when (and noninteractive (member "--write" command-line-args-left))
  (setq command-line-args-left nil)
  (let ((coding-system-for-write 'utf-8-unix))
    (write-region (halcyon-generate-text) nil
                  (expand-file-name "../halcyon-methods.el" halcyon-generate--folder))))

(provide 'generate)
;;; generate.el ends here
