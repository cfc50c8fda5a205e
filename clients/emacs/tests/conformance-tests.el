;;; conformance-tests.el --- The cases of protocol/conformance  -*- lexical-binding: t; -*-

;;; Commentary:

;; The cases that are made of requests alone are asked through the client,
;; whose answers must match the patterns.  The others are spoken to the real
;; server byte by byte: in the framing that they are for, or else in that of
;; the client.  (protocol/conformance/run.py holds them all in both.)

;;; Code:

(require 'support)

;; Patterns

(defun conformance-fits-type-p (type value)
  "Whether VALUE is of the JSON TYPE."
  (pcase type
    ("string" (stringp value))
    ("number" (numberp value))
    ("integer" (integerp value))
    ("boolean" (memq value '(t :false)))
    ("object" (hash-table-p value))
    ("array" (vectorp value))
    ("null" (eq value :null))))

(defun conformance-mismatch (pattern value where)
  "Why VALUE at WHERE does not match PATTERN, or nil when it does."
  (let ((said (format "%s is %.300s" where (json-encode value))))
    (cond
     ((hash-table-p pattern)
      (let ((type (gethash "$type" pattern)) (regex (gethash "$regex" pattern))
            (length (gethash "$length" pattern)) (case-fold-search nil))
        (cond
         ((gethash "$any" pattern) nil)
         (type (unless (conformance-fits-type-p type value) (format "%s, no %s" said type)))
         (regex (unless (and (stringp value)
                             (string-match-p (conformance-regexp regex) value))
                  (format "%s, which does not match %s" said regex)))
         (length (unless (= length (if (hash-table-p value) (hash-table-count value)
                                     (length value)))
                   (format "%s, not of length %s" said length)))
         ((not (hash-table-p value)) (format "%s, not an object" said))
         (t (cl-loop
             for name in (hash-table-keys pattern)
             for wanted = (gethash name pattern)
             for there = (gethash name value 'absent)
             for inner = (format "%s.%s" where name)
             thereis (cond
                      ((and (hash-table-p wanted) (gethash "$absent" wanted))
                       (unless (eq there 'absent) (format "%s is there" inner)))
                      ((eq there 'absent) (format "%s is missing in %s" inner said))
                      (t (conformance-mismatch wanted there inner))))))))
     ((vectorp pattern)
      (if (not (and (vectorp value) (= (length value) (length pattern))))
          (format "%s, not an array of %d" said (length pattern))
        (cl-loop for i below (length pattern)
                 thereis (conformance-mismatch (aref pattern i) (aref value i)
                                               (format "%s[%d]" where i)))))
     ((and (numberp pattern) (numberp value) (= pattern value)) nil)
     ((equal pattern value) nil)
     (t (format "%s, not %S" said pattern)))))

(defun conformance-regexp (regex)
  "REGEX, of the kind that the cases use, as Emacs has it."
  (let ((case-fold-search nil))
    (replace-regexp-in-string
     "\\\\d" "[0-9]"
     (replace-regexp-in-string
      "\\\\\\([(){}|]\\)\\|[(){}|]"
      (lambda (match) (if (= 2 (length match)) (substring match 1) (concat "\\" match)))
      regex t t)
     t t)))

(ert-deftest patterns-tell-what-matches-from-what-does-not ()
  (pcase-dolist (`(,pattern ,good ,bad)
                 '(("{\"a\":1}" "{\"a\":1,\"b\":2}" "{\"a\":2}")
                   ("{\"a\":{\"$absent\":true}}" "{\"b\":1}" "{\"a\":null}")
                   ("[1,{\"$any\":true}]" "[1,null]" "[1]")
                   ("{\"$type\":\"integer\"}" "3" "true")
                   ("{\"$type\":\"number\"}" "3.5" "\"3.5\"")
                   ("{\"$type\":\"null\"}" "null" "0")
                   ("{\"$regex\":\"^a+$\"}" "\"aaa\"" "\"ab\"")
                   ("{\"$regex\":\"^(\\\\d{2}|x)\\\\.$\"}" "\"12.\"" "\"1.\"")
                   ("{\"$length\":2}" "[1,2]" "[1]")
                   ("true" "true" "1")
                   ("\"x\"" "\"x\"" "\"y\"")))
    (let ((pattern (conformance-read pattern)))
      (should-not (conformance-mismatch pattern (conformance-read good) "good"))
      (should (conformance-mismatch pattern (conformance-read bad) "bad")))))

;; Cases

(defun conformance-read (text)
  "The JSON value of TEXT, without loss."
  (condition-case nil
      (json-parse-string text :null-object :null :false-object :false)
    (json-parse-error
     ;; Emacs' parser refuses a zero byte in a text.
     (let ((json-object-type 'hash-table) (json-key-type 'string) (json-array-type 'vector)
           (json-null :null) (json-false :false))
       (json-read-from-string text)))))

(defun conformance-files ()
  "The files of the cases."
  (directory-files-recursively (expand-file-name "protocol/conformance/" test-repository)
                               "\\.json\\'"))

(defun conformance-cases (file)
  "The cases of FILE."
  (with-temp-buffer
    (insert-file-contents file)
    (append (gethash "cases" (conformance-read (buffer-string))) nil)))

(defun conformance-filled-in (value places)
  "VALUE with the PLACES in all its strings filled in."
  (cond
   ((stringp value)
    (pcase-dolist (`(,name . ,place) places value)
      (setq value (string-replace (format "${%s}" name) place value))))
   ((vectorp value) (vconcat (mapcar (lambda (item) (conformance-filled-in item places)) value)))
   ((hash-table-p value)
    (let ((filled (make-hash-table :test #'equal)))
      (maphash (lambda (name item) (puthash name (conformance-filled-in item places) filled))
               value)
      filled))
   (t value)))

(defun conformance-places (folder)
  "What the placeholders stand for in a case that has FOLDER for itself."
  (make-directory (expand-file-name "work" folder) t)
  `(("fixtures" . ,(directory-file-name test-fixtures))
    ("cache" . ,(expand-file-name "cache" folder))
    ("work" . ,(expand-file-name "work" folder))
    ("http" . ,(test-url ""))))

(defun conformance-serve ()
  "Start the web server that the cases expect."
  (test-serve (cons "/status/404" (test-page "There is nothing here." :status 404
                                             :type "text/plain"))
              (cons "/html" (test-page "<!doctype html><p>Not a picture." :type "text/html")))
  (setf (test-web-folder test--web) test-fixtures))

(defun conformance-do-files (step)
  "Do the file work of STEP."
  (when-let ((copy (gethash "file" step)))
    (copy-file (expand-file-name (gethash "copy" copy) test-fixtures) (gethash "to" copy) t))
  (when-let ((file (gethash "delete" step)))
    (delete-file file))
  (when-let ((write (gethash "write" step)))
    (let ((coding-system-for-write 'utf-8-unix))
      (write-region (gethash "text" write) nil (gethash "path" write) nil 'silent))))

;; Byte by byte

(defvar conformance-input nil "What the server wrote and was not taken in yet.")

(defun conformance-next (framing)
  "Take the next message in FRAMING out of the input, or return nil."
  (cond
   ((equal framing "lines")
    (when-let ((end (string-search "\n" conformance-input)))
      (prog1 (conformance-read (decode-coding-string (substring conformance-input 0 end) 'utf-8))
        (setq conformance-input (substring conformance-input (1+ end))))))
   ((string-match "\\`Content-Length: \\([0-9]+\\)\r\n\r\n" conformance-input)
    (let* ((start (match-end 0))
           (end (+ start (string-to-number (match-string 1 conformance-input)))))
      (when (<= end (length conformance-input))
        (prog1 (conformance-read
                (decode-coding-string (substring conformance-input start end) 'utf-8))
          (setq conformance-input (substring conformance-input end))))))
   ((string-match-p "\\`Content-Length: [0-9]*\r?\n?\r?\\'" conformance-input) nil)
   ((and (> (length conformance-input) 16)
         (not (string-prefix-p "Content-Length: " conformance-input)))
    (ert-fail (list "not a frame" conformance-input)))))

(defun conformance-piece (piece)
  "The bytes of PIECE of a step `bytes': a text, or an object."
  (if (stringp piece)
      (encode-coding-string piece 'utf-8)
    (let ((times (gethash "times" piece 1))
          (bytes (if-let ((hex (gethash "hex" piece)))
                     (apply #'unibyte-string (mapcar (lambda (pair) (string-to-number pair 16))
                                                     (seq-partition hex 2)))
                   (encode-coding-string (gethash "text" piece) 'utf-8))))
      (cond ((= times 1) bytes)
            ((= 1 (length bytes)) (make-string times (aref bytes 0)))
            (t (apply #'concat (make-list times bytes)))))))

(defun conformance-expect (pattern framing)
  "Wait for the next message in FRAMING, which must match PATTERN."
  (let ((wrong (conformance-mismatch pattern (test-until (conformance-next framing)) "reply")))
    (when wrong (ert-fail wrong))))

(defun conformance-run (case framing)
  "Run CASE in FRAMING."
  (let* ((folder (make-temp-file (expand-file-name "case" test-scratch) t))
         (places (conformance-places folder))
         (conformance-input "")
         (process (make-process
                   :name "raw" :connection-type 'pipe :coding 'binary :noquery t
                   :stderr (get-buffer-create " *raw stderr*")
                   :command `(,(halcyon-find-program) "serve"
                              "--cache-dir" ,(cdr (assoc "cache" places))
                              ,@(append (conformance-filled-in (gethash "args" case []) places)
                                        nil))
                   :filter (lambda (_ text) (setq conformance-input
                                                  (concat conformance-input text)))
                   :sentinel #'ignore)))
    (set-process-query-on-exit-flag (get-buffer-process " *raw stderr*") nil)
    (unwind-protect
        (progn
          (cl-loop
           for step across (conformance-filled-in (gethash "steps" case) places)
           do (let ((sent (gethash "send" step 'none)) (raw (gethash "raw" step)))
                (when (or raw (not (eq sent 'none)))
                  (let ((body (encode-coding-string
                               (or raw (decode-coding-string
                                        (json-serialize sent :null-object :null
                                                        :false-object :false)
                                        'utf-8))
                               'utf-8)))
                    (process-send-string
                     process (if (equal framing "lines") (concat body "\n")
                               (format "Content-Length: %d\r\n\r\n%s" (length body) body))))))
           do (seq-do (lambda (piece) (process-send-string process (conformance-piece piece)))
                      (gethash "bytes" step))
           do (conformance-do-files step)
           do (let ((pattern (gethash "expect" step :null)))
                (unless (eq pattern :null) (conformance-expect pattern framing)))
           do (let ((patterns (append (gethash "expectAny" step) nil)))
                (while patterns
                  (let* ((message (test-until (conformance-next framing)))
                         (fitting (seq-find (lambda (pattern)
                                              (not (conformance-mismatch pattern message "")))
                                            patterns)))
                    (unless fitting (ert-fail (list "nothing expects" (json-encode message))))
                    (setq patterns (delq fitting patterns))))))
          (when (process-live-p process) (process-send-eof process))
          (seq-do (lambda (pattern) (conformance-expect pattern framing))
                  (gethash "endsWith" case))
          (test-until (not (process-live-p process)))
          (accept-process-output process 0)
          (should (equal (gethash "exit" case 0) (process-exit-status process)))
          (should (equal "" conformance-input)))
      (delete-process process))))

;; Through the client

(defun conformance-askable-p (case)
  "Whether the client can ask CASE: one request after the other, by name.
Batches, raw bytes, notifications, messages that are no requests, ids
and parameters by place are for the raw sender; `initialize' and the end
of the session are the client's own business, and a process that is to
fail has nobody to ask."
  (and (equal 0 (gethash "exit" case 0))
       (seq-every-p
        (lambda (step)
          (and (not (gethash "raw" step)) (not (gethash "bytes" step))
               (not (gethash "expectAny" step))
               (let ((sent (gethash "send" step 'none)) (expect (gethash "expect" step :null)))
                 (if (eq sent 'none)
                     (eq expect :null)
                   (and (hash-table-p sent)
                        (stringp (gethash "method" sent))
                        (equal "2.0" (gethash "jsonrpc" sent))
                        (not (member (gethash "method" sent) '("initialize" "shutdown" "exit")))
                        (cl-typep (gethash "params" sent :null) '(or hash-table (eql :null)))
                        (not (eq 'none (gethash "id" sent 'none)))
                        (hash-table-p expect)
                        (or (gethash "result" expect) (gethash "error" expect))
                        (equal (gethash "id" sent) (gethash "id" expect (gethash "id" sent))))))))
        (gethash "steps" case))))

(defun conformance-to-lisp (value)
  "VALUE, read without loss, as a caller of the client writes it."
  (cond
   ((hash-table-p value)
    (let (plist)
      (maphash (lambda (name item)
                 (push (intern (concat ":" name)) plist)
                 (push (conformance-to-lisp item) plist))
               value)
      (or (nreverse plist) value)))
   ((vectorp value) (vconcat (mapcar #'conformance-to-lisp value)))
   (t value)))

(defun conformance-from-lisp (value pattern)
  "VALUE, a result of the client, as JSON that can be held against PATTERN.
The client reads null as nil; what else PATTERN expects of nil is an
object without members."
  (cond
   ((null value) (if (and (hash-table-p pattern)
                          (not (seq-some (lambda (key) (string-prefix-p "$" key))
                                         (hash-table-keys pattern))))
                     (make-hash-table :test #'equal)
                   :null))
   ((eq value :json-false) :false)
   ((and (consp value) (keywordp (car value)))
    (let ((object (make-hash-table :test #'equal)))
      (cl-loop for (key item) on value by #'cddr
               for name = (substring (symbol-name key) 1)
               do (puthash name
                           (conformance-from-lisp
                            item (and (hash-table-p pattern) (gethash name pattern)))
                           object))
      object))
   ((vectorp value)
    (vconcat (cl-loop for item across value for i from 0
                      collect (conformance-from-lisp
                               item (and (vectorp pattern) (< i (length pattern))
                                         (aref pattern i))))))
   (t value)))

(defun conformance-ask (case)
  "Ask CASE through the client."
  (let* ((folder (make-temp-file (expand-file-name "case" test-scratch) t))
         (places (conformance-places folder))
         (client (halcyon-make-client
                  :cache-directory (cdr (assoc "cache" places))
                  :arguments (append (conformance-filled-in (gethash "args" case []) places)
                                     nil))))
    (unwind-protect
        (cl-loop
         for step across (conformance-filled-in (gethash "steps" case) places)
         do (when-let ((sent (gethash "send" step)))
              (let* ((pattern (gethash "expect" step))
                     (params (gethash "params" sent :null))
                     (call (halcyon-request (gethash "method" sent)
                                            (and (hash-table-p params)
                                                 (conformance-to-lisp params))
                                            :client client :else #'ignore))
                     (answer (make-hash-table :test #'equal)))
                (condition-case error
                    (puthash "result" (test-wait call) answer)
                  (halcyon-error
                   (puthash "error" (list :code (halcyon-error-code error)
                                          :message (halcyon-error-message error)
                                          :data (halcyon-error-data error))
                            answer)))
                (dolist (part '("result" "error"))
                  (when-let ((wanted (gethash part pattern)))
                    (unless (and (hash-table-p wanted) (gethash "$absent" wanted))
                      (let ((wrong (conformance-mismatch
                                    wanted
                                    (conformance-from-lisp (gethash part answer 'absent) wanted)
                                    part)))
                        (when wrong (ert-fail wrong))))))))
         do (conformance-do-files step))
      (halcyon-stop client))))

;; All of them

(defun conformance-run-all (run wanted)
  "Call RUN with every case for which WANTED is true, and return how many there are."
  (test-case
    (conformance-serve)
    (let ((ran 0) failures)
      (dolist (file (conformance-files))
        (dolist (case (conformance-cases file))
          (when (funcall wanted case)
            (cl-incf ran)
            (condition-case error
                (let ((debug-on-error nil)) (funcall run case))
              (error (push (list (file-name-base file) (gethash "name" case) error) failures))))))
      (message "%d conformance cases" ran)
      (should (> ran 50))
      (should-not failures))))

(ert-deftest conformance-through-the-client ()
  (conformance-run-all #'conformance-ask #'conformance-askable-p))

(ert-deftest conformance-byte-by-byte ()
  (conformance-run-all
   (lambda (case)
     (let ((framing (gethash "framing" case "both")))
       (conformance-run case (if (equal framing "both") "content-length" framing))))
   (lambda (case) (not (conformance-askable-p case)))))

(provide 'conformance-tests)
;;; conformance-tests.el ends here
