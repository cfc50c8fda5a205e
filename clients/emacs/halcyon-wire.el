;;; halcyon-wire.el --- Errors, JSON and framing  -*- lexical-binding: t; -*-

;;; Commentary:

;; From what Lisp programs write to what `jsonrpc' makes JSON of, from the
;; server's errors to conditions, and from bytes to messages.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'seq)
(require 'subr-x)
(require 'halcyon-methods)

(define-error 'halcyon-server-gone "The server ended" 'halcyon-error)
(define-error 'halcyon-program-not-found "There is no server to start" 'halcyon-error)
(define-error 'halcyon-call-timed-out "No answer in time" 'halcyon-error)


;;; Errors

(defun halcyon--error (condition message &rest details)
  "Make an error object for CONDITION with MESSAGE and the plist DETAILS."
  (cons condition (cons message details)))

(defun halcyon--gone (reason)
  "The error of a call whose server ended for REASON."
  (halcyon--error 'halcyon-server-gone reason :data (list :retryable t)))

(defun halcyon-error-message (error)
  "The sentence of ERROR, to show to a user."
  (if (stringp (cadr error)) (cadr error) (error-message-string error)))

(defun halcyon-error-code (error)
  "The number of ERROR in the protocol; nil for what the server did not say."
  (plist-get (cddr error) :code))

(defun halcyon-error-data (error)
  "What else the server said about ERROR, as a plist."
  (plist-get (cddr error) :data))

(defun halcyon-error-retryable-p (error)
  "Whether what failed with ERROR may succeed later without a change."
  (eq (plist-get (halcyon-error-data error) :retryable) t))

(defun halcyon--error-from-wire (wire)
  "The error object for WIRE, the `error' member of an answer."
  (let* ((code (plist-get wire :code))
         (data (plist-get wire :data))
         (name (and (listp data) (plist-get data :name)))
         (message (or (plist-get wire :message) "The server gave no reason."))
         (kind (or (assoc name halcyon-conditions)
                   (seq-find (lambda (kind) (eql (nth 1 kind) code)) halcyon-conditions))))
    (halcyon--error (or (nth 2 kind) 'halcyon-error) message :code code :data data)))


;;; From Lisp to JSON

(defun halcyon--encode (value)
  "VALUE in the form for `jsonrpc'.
A list that begins with a keyword and an alist with strings for keys are
objects, other lists and vectors are arrays.  In an object nil is false
for what is true or false, and leaves out the rest.  `:null' is null."
  (cond
   ((memq value '(t :json-false)) value)
   ((eq value :false) :json-false)
   ((memq value '(nil :null)) nil)
   ((keywordp value) (substring (symbol-name value) 1))
   ((symbolp value) (symbol-name value))
   ((hash-table-p value)
    (halcyon--encode-alist (let (pairs) (maphash (lambda (k v) (push (cons k v) pairs)) value)
                                (nreverse pairs))))
   ((and (consp value) (keywordp (car value)))
    (or (cl-loop for (key member) on value by #'cddr
                 if member append (list key (halcyon--encode member))
                 else if (memq key halcyon-booleans) append (list key :json-false))
        (make-hash-table)))
   ((and (consp value) (consp (car value)) (stringp (caar value))) (halcyon--encode-alist value))
   ((or (vectorp value) (listp value)) (vconcat (mapcar #'halcyon--encode value)))
   (t value)))

(defun halcyon--encode-alist (alist)
  "The object with the members of ALIST, whose keys are strings."
  (let ((object (make-hash-table :test #'equal)))
    (pcase-dolist (`(,key . ,value) alist)
      (puthash key (halcyon--encode value) object))
    object))


;;; Framing

(cl-defstruct (halcyon--input (:copier nil))
  "What came from a server, as bytes."
  (pieces nil :documentation "What was not taken in yet, the last piece first.")
  (come 0 :documentation "How many bytes that is.")
  (needed 1 :documentation "How many bytes it takes to go on.")
  (fault nil :documentation "How it broke the protocol, or nil."))

(defun halcyon--take-in (input piece)
  "Add PIECE to INPUT, and return the messages that are whole with it, as bytes.
Each takes time for its own bytes alone, however it is cut."
  (push piece (halcyon--input-pieces input))
  (cl-incf (halcyon--input-come input) (length piece))
  (when (>= (halcyon--input-come input) (halcyon--input-needed input))
    (let ((bytes (apply #'concat (nreverse (halcyon--input-pieces input))))
          (start 0) needed messages)
      (while (not needed)
        (let* ((rest (- (length bytes) start))
               (header (halcyon--header bytes start)))
          (cond
           ((and header (<= (cdr header) (length bytes)))
            (push (substring bytes (car header) (cdr header)) messages)
            (setq start (cdr header)))
           (header (setq needed (- (cdr header) start)))
           ((halcyon--header-begins-p bytes start) (setq needed (1+ rest)))
           (t (setf (halcyon--input-fault input)
                    (format "The server wrote what is no message, and was ended: %S"
                            (truncate-string-to-width (substring bytes start) 40)))
              (setq start (length bytes) needed most-positive-fixnum)))))
      (setf (halcyon--input-pieces input) (list (substring bytes start))
            (halcyon--input-come input) (- (length bytes) start)
            (halcyon--input-needed input) needed)
      (nreverse messages))))

(defun halcyon--header (bytes start)
  "Where the body begins and ends whose header is at START in BYTES, or nil."
  (when (and (string-search "\r\n\r\n" bytes start)
             (eq start (string-match "Content-Length: \\([0-9]+\\)\r\n\r\n" bytes start)))
    (cons (match-end 0) (+ (match-end 0) (string-to-number (match-string 1 bytes))))))

(defun halcyon--header-begins-p (bytes start)
  "Whether what follows START in BYTES may become a header."
  (let ((rest (substring bytes start)))
    (and (< (length rest) 40)
         (string-prefix-p (substring "Content-Length: " 0 (min 16 (length rest))) rest)
         (not (string-search "\r\n\r\n" rest)))))

(defun halcyon--parse (message)
  "The plist for MESSAGE, bytes of JSON."
  (let ((text (decode-coding-string message 'utf-8)))
    (condition-case nil
        (json-parse-string text :object-type 'plist :null-object nil :false-object :json-false)
      (error
       ;; It refuses a zero byte in a text, which is JSON all the same.
       (let ((json-object-type 'plist) (json-array-type 'vector)
             (json-null nil) (json-false :json-false))
         (json-read-from-string text))))))

(defun halcyon--unread-id (message)
  "The id of MESSAGE, bytes that cannot be read, if it is an answer, or nil.
The server writes it before what is answered."
  (and (string-match (concat "\\`{\\(?:\"jsonrpc\":\"2\\.0\",\\)?\"id\":\\([0-9]+\\),"
                             "\"\\(?:result\\|error\\)\":")
                     message)
       (string-to-number (match-string 1 message))))

(provide 'halcyon-wire)
;;; halcyon-wire.el ends here
