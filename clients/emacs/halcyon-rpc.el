;;; halcyon-rpc.el --- Calls to a halcyon server  -*- lexical-binding: t; -*-

;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A client starts `halcyon serve', speaks JSON-RPC to it through the
;; library `jsonrpc', and starts it anew after its death.  Nothing here
;; waits, but for `halcyon-wait', which obeys \\[keyboard-quit].
;;
;; Answers, events and questions of the server are taken in by the process
;; filter and handed on from a timer, in the order in which they came: so
;; the functions of the user may wait, ask for more, or fail.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'jsonrpc)
(require 'seq)
(require 'halcyon-methods)

(defgroup halcyon nil
  "Images from the network, through the halcyon image engine."
  :group 'multimedia
  :prefix "halcyon-")

(defcustom halcyon-program nil
  "The executable of the server.
Nil means the environment variable HALCYON_BIN, else `halcyon' on the
variable `exec-path'."
  :type '(choice (const :tag "Find it" nil) file))

(defcustom halcyon-cache-directory nil
  "The folder of all caches; nil for the server's own default.
It may be shared with other programs and other Emacs processes."
  :type '(choice (const :tag "Default" nil) directory))

(defcustom halcyon-arguments nil
  "More flags for `halcyon serve', a list of strings."
  :type '(repeat string))

(defconst halcyon-lasting-seconds 10
  "A server that lived so many seconds is started anew at once after its death.
After a shorter life the next start waits, for ever longer.")

(defconst halcyon--longest-wait 60
  "The most seconds between the death of a server and its next start.")

(define-error 'halcyon-server-gone "The server ended" 'halcyon-error)
(define-error 'halcyon-program-not-found "There is no server to start" 'halcyon-error)
(define-error 'halcyon-call-timed-out "No answer in time" 'halcyon-error)


;;; Clients and calls

(cl-defstruct (halcyon-client (:copier nil) (:constructor halcyon--make-client))
  "A server, running or not, and who is told of what it says."
  (name "halcyon" :documentation "What its buffers and processes are called.")
  (program nil :documentation "The executable; nil to look for it.")
  (cache-directory nil :documentation "The folder of all caches, or nil.")
  (arguments nil :documentation "More flags for `halcyon serve'.")
  (environment nil :documentation "Strings \"NAME=VALUE\" on top of Emacs' own.")
  (delegates nil :documentation "An alist of questions and functions.")
  (connection nil :documentation "The running connection, or nil.")
  (about nil :documentation "What the server said of itself, or nil.")
  (listeners nil :documentation "An alist of events and lists of functions.")
  (failures 0 :documentation "How many servers died young, one after the other.")
  (died nil :documentation "When the last server died, in seconds, or nil.")
  (reason nil :documentation "Why it died, as a sentence."))

(cl-defstruct (halcyon-call (:copier nil) (:constructor halcyon--make-call))
  "A request on its way, or answered."
  (client nil :documentation "Whose request it is.")
  (connection nil :documentation "Where it was sent, or nil.")
  (method nil :documentation "The name of the method.")
  (id nil :documentation "The id of the request; nil when it was not sent.")
  (state 'open :documentation "`open', `done' or `failed'.")
  (result nil :documentation "The result, once it is `done'.")
  (error nil :documentation "The error, once it has `failed'.")
  (then nil :documentation "Called with the result, or nil.")
  (else nil :documentation "Called with the error, or nil.")
  (progress nil :documentation "Called with each report, or nil.")
  (awaited nil :documentation "Whether somebody waits for it, and hears of its failure."))

(defclass halcyon-connection (jsonrpc-process-connection)
  ((client :initarg :client :documentation "The client whose server it is.")
   (server :initarg :server :documentation "The process.")
   (started :initform (float-time) :documentation "When it was started.")
   (calls :initform nil :documentation "The calls that wait for an answer.")
   (input :initform nil :documentation "What came and was not taken in, the last first.")
   (come :initform 0 :documentation "How many bytes that is.")
   (needed :initform 1 :documentation "How many bytes it takes to go on.")
   (fault :initform nil :documentation "How it broke the protocol, or nil."))
  "A running server.")

(cl-defun halcyon-make-client (&key (name "halcyon") program cache-directory arguments
                                    environment delegates)
  "Make a client, whose server will start with the first call.
NAME is for buffers and processes.  PROGRAM, CACHE-DIRECTORY and
ARGUMENTS default to the options `halcyon-program',
`halcyon-cache-directory' and `halcyon-arguments'.  ENVIRONMENT is a
list of strings \"NAME=VALUE\".

DELEGATES decide about downloads: an alist of the questions in
`halcyon-questions' and functions.  A function gets the question's
parameters as a plist and returns what the protocol says, also as a
plist: nil leaves the matter to the server, `:null' is a veto or a stop.
It has ten seconds."
  (halcyon--make-client :name name :program program :cache-directory cache-directory
                        :arguments arguments :environment environment :delegates delegates))

(defvar halcyon-default-client (halcyon-make-client)
  "The client of all calls that name no other: one server for the whole Emacs.")

(defun halcyon-running-p (&optional client)
  "Whether the server of CLIENT, or of the default client, is running."
  (let ((connection (halcyon-client-connection (or client halcyon-default-client))))
    (and connection (jsonrpc-running-p connection))))


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


;;; Handing on

(defvar halcyon--queue nil
  "Functions that are still to be called with no arguments, the next one first.")

(defvar halcyon--queue-timer nil
  "The timer that will empty the queue, or nil.")

(defun halcyon--later (function &rest arguments)
  "Call FUNCTION with ARGUMENTS soon, outside of the process filter."
  (setq halcyon--queue (nconc halcyon--queue (list (lambda () (apply function arguments)))))
  (unless halcyon--queue-timer
    (setq halcyon--queue-timer (run-with-timer 0 nil #'halcyon--hand-on))))

(defun halcyon--hand-on ()
  "Call what is in the queue.
A function that waits lets the others be called from within its waiting."
  (setq halcyon--queue-timer nil)
  (while halcyon--queue
    (let ((function (pop halcyon--queue)))
      (when (and halcyon--queue (not halcyon--queue-timer))
        (setq halcyon--queue-timer (run-with-timer 0 nil #'halcyon--hand-on)))
      (condition-case-unless-debug error
          (funcall function)
        ((error quit) (message "halcyon: a function failed: %s" (error-message-string error))))))
  (when halcyon--queue-timer
    (cancel-timer halcyon--queue-timer)
    (setq halcyon--queue-timer nil)))

(defun halcyon--settle (call state value)
  "Put CALL into STATE with VALUE, once, and hand that on."
  (when (eq (halcyon-call-state call) 'open)
    (setf (halcyon-call-state call) state)
    (when-let ((connection (halcyon-call-connection call)))
      (setf (slot-value connection 'calls) (delq call (slot-value connection 'calls))))
    (if (eq state 'done)
        (setf (halcyon-call-result call) value)
      (setf (halcyon-call-error call) value))
    (let ((then (halcyon-call-then call))
          (else (halcyon-call-else call)))
      (cond
       ((eq state 'done) (when then (halcyon--later then value)))
       (else (halcyon--later else value))
       ((and then (not (halcyon-call-awaited call))
             (not (eq (car value) 'halcyon-request-cancelled)))
        (halcyon--later #'message "halcyon: %s" (halcyon-error-message value)))))))


;;; The connection

(defvar halcyon--sending nil
  "The call that is being sent, which wants to learn its id.")

(cl-defstruct (halcyon--question (:copier nil))
  "A question of the server that is answered later."
  id method params)

(cl-defmethod jsonrpc-connection-send ((_connection halcyon-connection) &rest message)
  "Send MESSAGE, unless it is the answer to a question that is still open."
  (let ((result (plist-get message :result)))
    (cond
     ((halcyon--question-p result)
      (setf (halcyon--question-id result) (plist-get message :id)))
     (t
      (when (and halcyon--sending (plist-get message :method) (plist-get message :id))
        (setf (halcyon-call-id halcyon--sending) (plist-get message :id)))
      (cl-call-next-method)))))

(defun halcyon-find-program (&optional client)
  "The server's executable for CLIENT, or for the default client.
The first way that is given decides.  Signals
`halcyon-program-not-found', which tells what was looked at."
  (let* ((client (or client halcyon-default-client))
         (given (or (halcyon-client-program client) halcyon-program))
         (variable (getenv "HALCYON_BIN"))
         (way (cond (given (format "halcyon-program is %S" given))
                    ((not (member variable '(nil ""))) (format "HALCYON_BIN is %S" variable))))
         (name (cond (given given) (way variable) (t "halcyon"))))
    (or (executable-find (if (file-name-absolute-p name) (expand-file-name name) name))
        (signal 'halcyon-program-not-found
                (list (if way
                          (format "%s, which is no executable file." way)
                        "Neither halcyon-program nor HALCYON_BIN is set, and there is no \
halcyon in exec-path."))))))

(defun halcyon--command (client)
  "The command line of the server of CLIENT."
  (let ((cache (or (halcyon-client-cache-directory client) halcyon-cache-directory)))
    `(,(halcyon-find-program client) "serve"
      ,@(and cache (list "--cache-dir" (expand-file-name cache)))
      ,@(or (halcyon-client-arguments client) halcyon-arguments))))

(defun halcyon--log (name)
  "The buffer for what the server of NAME writes to its standard error."
  (get-buffer-create (format "*%s log*" name)))

(defun halcyon--note (name text)
  "Append TEXT to the log of NAME, and keep the log short."
  (with-current-buffer (halcyon--log name)
    (goto-char (point-max))
    (insert text)
    (when (> (buffer-size) 200000)
      (delete-region (point-min) (- (point-max) 100000)))))

(defun halcyon--log-pipe (name)
  "A pipe for the standard error of a server, into the log of NAME."
  (let ((pipe (make-pipe-process :name (concat name " log") :noquery t
                                 :buffer (generate-new-buffer " *halcyon pipe*" t)
                                 :filter (lambda (_ text) (halcyon--note name text))
                                 :sentinel #'ignore)))
    ;; It must have a buffer to begin with; a user who kills one must not cut the pipe.
    (let ((buffer (process-buffer pipe)))
      (set-process-buffer pipe nil)
      (kill-buffer buffer))
    pipe))

(defvar halcyon--count 0 "How many servers were started.")

(defun halcyon--start (client)
  "Start a server for CLIENT and introduce ourselves.
Signals `halcyon-program-not-found' or `file-error'."
  (let* ((command (halcyon--command client))
         (log (halcyon-client-name client))
         (name (format "%s-%d" log (cl-incf halcyon--count)))
         ;; Neither a remote folder nor one that is gone must keep the server from starting.
         (default-directory (if (file-accessible-directory-p "~/") (expand-file-name "~/") "/"))
         (process-environment (append (halcyon-client-environment client) process-environment))
         (stderr (halcyon--log-pipe log))
         (process (condition-case error
                      (make-process :name name :command command :connection-type 'pipe
                                    :coding '(binary . utf-8-emacs-unix)
                                    :noquery t :stderr stderr)
                    (error (delete-process stderr) (signal (car error) (cdr error)))))
         (connection (make-instance 'halcyon-connection
                                    :name name :process process :server process :client client
                                    :events-buffer-scrollback-size 0
                                    :request-dispatcher #'halcyon--asked
                                    :notification-dispatcher #'halcyon--told)))
    (set-process-filter process #'halcyon--filter)
    (set-process-sentinel process #'halcyon--ended)
    (set-process-thread process nil)
    (setf (halcyon-client-connection client) connection
          (halcyon-client-about client) nil)
    (halcyon--send connection
                   (halcyon--make-call :client client :method "initialize"
                                       :then (lambda (about)
                                               (setf (halcyon-client-about client) about))
                                       :else #'ignore)
                   (list :processId (emacs-pid)
                         :capabilities
                         (list :delegates
                               (vconcat (mapcar #'car (halcyon-client-delegates client))))))
    (when-let ((events (mapcar #'car (halcyon-client-listeners client))))
      (halcyon--ask-for events client))
    connection))

(defun halcyon--backoff (failures)
  "Seconds to wait for the next start after FAILURES servers that died young."
  (if (zerop failures) 0 (min halcyon--longest-wait (expt 2 (1- (min failures 10))))))

(defun halcyon--pause (client now)
  "Seconds from NOW until the server of CLIENT may be started; 0 for at once."
  (let ((died (halcyon-client-died client)))
    (if died
        (max 0 (- (+ died (halcyon--backoff (halcyon-client-failures client))) now))
      0)))

(defun halcyon--connection (client)
  "The running connection of CLIENT, started when there is none.
Signals `halcyon-program-not-found', or `halcyon-server-gone' while it
is too early to start one anew."
  (if (halcyon-running-p client)
      (halcyon-client-connection client)
    (let ((pause (halcyon--pause client (float-time))))
      (when (> pause 0)
        (signal 'halcyon-server-gone
                (list (format "%s  It will be started anew in %d seconds."
                              (halcyon-client-reason client) (ceiling pause))
                      :data (list :retryable t :retryAfter pause))))
      (condition-case error
          (halcyon--start client)
        (halcyon-program-not-found (signal (car error) (cdr error)))
        (file-error
         (halcyon--died-young client (format "It cannot be started: %s."
                                             (error-message-string error)))
         (signal 'halcyon-server-gone
                 (list (halcyon-client-reason client) :data (list :retryable t))))))))

(defun halcyon--died-young (client reason)
  "Note that the server of CLIENT died for REASON, and soon after its start."
  (cl-incf (halcyon-client-failures client))
  (setf (halcyon-client-died client) (float-time)
        (halcyon-client-reason client) reason))

(defun halcyon--ended (process _change)
  "Note that PROCESS, a server, has ended; whoever waits for it is told."
  (unless (process-live-p process)
    (let* ((connection (process-get process 'jsonrpc-connection))
           (client (slot-value connection 'client))
           (reason (or (slot-value connection 'fault)
                       (format "The server ended (%s %d)."
                               (if (eq (process-status process) 'signal) "signal" "exit status")
                               (process-exit-status process)))))
      (jsonrpc-forget-pending-continuations connection)
      (dolist (buffer (list (process-buffer process) (jsonrpc-stderr-buffer connection)))
        (when (buffer-live-p buffer) (kill-buffer buffer)))
      (dolist (call (copy-sequence (slot-value connection 'calls)))
        (halcyon--settle call 'failed (halcyon--gone reason)))
      (when (eq connection (halcyon-client-connection client))
        (setf (halcyon-client-connection client) nil)
        (if (>= (- (float-time) (slot-value connection 'started)) halcyon-lasting-seconds)
            (setf (halcyon-client-failures client) 0
                  (halcyon-client-died client) nil)
          (halcyon--died-young client reason))
        (when (halcyon-client-listeners client)
          (run-with-timer (halcyon--pause client (float-time)) nil #'halcyon--revive client))))))

(defun halcyon--revive (client)
  "Start the server of CLIENT anew for those who listen to it."
  (when (and (halcyon-client-listeners client) (not (halcyon-running-p client)))
    (ignore-errors (halcyon--connection client))))


;;; Calls

(defun halcyon--send (connection call params)
  "Send CALL over CONNECTION with PARAMS, in the form for `jsonrpc'."
  (setf (halcyon-call-connection call) connection)
  (push call (slot-value connection 'calls))
  (condition-case error
      (let ((halcyon--sending call))
        (jsonrpc-async-request
         connection (intern (halcyon-call-method call)) params
         :timeout nil
         :success-fn (lambda (result) (halcyon--settle call 'done result))
         :error-fn (lambda (error)
                     (halcyon--settle call 'failed (halcyon--error-from-wire error)))))
    (file-error
     ;; It reads no more: its end, which says why, settles the call.
     (let ((process (slot-value connection 'server)))
       (run-with-timer 1 nil (lambda () (when (process-live-p process)
                                          (delete-process process))))))
    (error
     (setf (slot-value connection 'calls) (delq call (slot-value connection 'calls)))
     (if (jsonrpc-running-p connection)
         (signal (car error) (cdr error))
       (halcyon--settle call 'failed (halcyon--gone "The server ended before it was asked."))))))

(defun halcyon-request (method params &rest keywords)
  "Call METHOD, a string, with PARAMS, a plist, and return the call at once.
Everything works so; the functions for single methods call this one.
KEYWORDS are:

`:then' FUNCTION      called with the result, a plist
`:else' FUNCTION      called with the error, as from `condition-case'
`:progress' FUNCTION  called with a plist, at most ten times a second
`:client' CLIENT      another client than `halcyon-default-client'

Without `:else', and unless somebody waits, a failure is shown in the
echo area.  Nothing is signalled but for PARAMS that are no JSON.

\(fn METHOD PARAMS &key THEN ELSE PROGRESS CLIENT)"
  (let* ((client (or (plist-get keywords :client) halcyon-default-client))
         (progress (plist-get keywords :progress))
         (call (halcyon--make-call :client client :method method :progress progress
                                   :then (plist-get keywords :then)
                                   :else (plist-get keywords :else)))
         (wire (halcyon--encode params)))
    (condition-case error
        (let ((connection (halcyon--connection client)))
          (halcyon--send connection call
                         (if progress
                             (append (list :workDoneToken (halcyon--token call))
                                     (and (listp wire) wire))
                           wire)))
      (halcyon-error (halcyon--settle call 'failed error)))
    call))

(defvar halcyon--tokens (make-hash-table :test #'equal :weakness 'value)
  "The calls that want to hear of their progress, by their tokens.")

(defvar halcyon--last-token 0 "The number of the last token.")

(defun halcyon--token (call)
  "A new token for the progress of CALL."
  (let ((token (format "emacs-%d" (cl-incf halcyon--last-token))))
    (puthash token call halcyon--tokens)
    token))

(defun halcyon-notify (method params &optional client)
  "Send the notification METHOD with PARAMS, which is never answered.
CLIENT is another client than the default one; its server is started
when it does not run."
  (jsonrpc-notify (halcyon--connection (or client halcyon-default-client))
                  (intern method) (halcyon--encode params)))

(defun halcyon-cancel (call)
  "Give up CALL, which fails with `halcyon-request-cancelled' at once.
The server stops the work, unless others want it too.  A call that was
answered stays as it is."
  (when (eq (halcyon-call-state call) 'open)
    (let ((connection (halcyon-call-connection call)))
      (halcyon--settle call 'failed
                       (halcyon--error 'halcyon-request-cancelled "The request was cancelled."
                                       :code -32800 :data (list :name "requestCancelled")))
      (when (and connection (jsonrpc-running-p connection) (halcyon-call-id call))
        (jsonrpc-notify connection '$/cancelRequest (list :id (halcyon-call-id call)))))))

(defun halcyon-wait (call &optional seconds)
  "Wait for the answer to CALL and return its result.
Signals its error.  After SECONDS, if given, CALL is cancelled and the
signal is `halcyon-call-timed-out'.  Typing \\[keyboard-quit] cancels
CALL and quits.  Other processes and timers go on meanwhile."
  (setf (halcyon-call-awaited call) t)
  (let ((end (and seconds (+ (float-time) seconds)))
        (inhibit-quit nil))
    (unwind-protect
        (while (and (eq (halcyon-call-state call) 'open)
                    (or (not end) (< (float-time) end)))
          ;; Output that comes with the end of a process does not end this wait: look often.
          (accept-process-output nil 0.05))
      (when (eq (halcyon-call-state call) 'open)
        (halcyon-cancel call)
        (when end
          (setf (halcyon-call-error call)
                (halcyon--error 'halcyon-call-timed-out
                                (format "There was no answer to %s in %s seconds."
                                        (halcyon-call-method call) seconds)
                                :data (list :retryable t))))))
    (if (eq (halcyon-call-state call) 'done)
        (halcyon-call-result call)
      (signal (car (halcyon-call-error call)) (cdr (halcyon-call-error call))))))

(defun halcyon--call (method params arguments)
  "Call METHOD with PARAMS and ARGUMENTS, two plists.
The keywords of `halcyon-request' are taken out of ARGUMENTS."
  (let (keywords)
    (cl-loop for (key value) on arguments by #'cddr
             do (if (memq key '(:then :else :progress :client))
                    (setq keywords (cons key (cons value keywords)))
                  (setq params (append params (list key (halcyon--as-param key value))))))
    (apply #'halcyon-request method params keywords)))

(defun halcyon--as-param (key value)
  "VALUE as it is in the parameter KEY.
Files become absolute and bytes base64, calls are named by their ids and
lists stay lists when they are empty."
  (pcase key
    (:path (and value (expand-file-name value)))
    (:data (and value (base64-encode-string (encode-coding-string value 'binary) t)))
    (:id (if (halcyon-call-p value) (or (halcyon-call-id value) 0) value))
    ((or :urls :events) (vconcat value))
    (_ value)))


;;; What the server says

;; The filter of `jsonrpc' searches all that has come for each piece that
;; comes, stops at the first function that fails, and drops a message that
;; Emacs' parser refuses, such as one with a zero byte in a text: its call
;; would wait for ever.  This one hands the same messages to the same place.

(defun halcyon--filter (process text)
  "Take in TEXT from PROCESS, and the messages that are whole with it."
  (when-let ((connection (process-get process 'jsonrpc-connection)))
    (push text (slot-value connection 'input))
    (cl-incf (slot-value connection 'come) (length text))
    (when (>= (slot-value connection 'come) (slot-value connection 'needed))
      (let ((messages (halcyon--take-in connection)))
        (dolist (message messages)
          (condition-case-unless-debug error
              (jsonrpc-connection-receive connection (halcyon--parse message))
            (error (halcyon--note (halcyon-client-name (slot-value connection 'client))
                                  (format "A message was lost: %s\n"
                                          (error-message-string error)))))))
      (when (slot-value connection 'fault) (delete-process process)))))

(defun halcyon--take-in (connection)
  "Take the whole messages out of what came from CONNECTION, as bytes."
  (let ((input (apply #'concat (nreverse (slot-value connection 'input))))
        (start 0) (needed nil) messages)
    (while (not needed)
      (let ((end (string-search "\r\n\r\n" input start)))
        (cond
         ((and end (eq start (string-match "Content-Length: \\([0-9]+\\)\r\n\r\n" input start)))
          (let* ((body (match-end 0))
                 (next (+ body (string-to-number (match-string 1 input)))))
            (if (> next (length input))
                (setq needed (- next start))
              (push (substring input body next) messages)
              (setq start next))))
         ((and (not end) (< (- (length input) start) 64)
               (string-prefix-p (substring "Content-Length: " 0 (min 16 (- (length input) start)))
                                (substring input start)))
          (setq needed (1+ (- (length input) start))))
         (t
          (setf (slot-value connection 'fault)
                (format "The server wrote what is no message, and was ended: %S"
                        (truncate-string-to-width (substring input start) 40)))
          (setq needed 1 start (length input))))))
    (setf (slot-value connection 'input) (list (substring input start))
          (slot-value connection 'come) (- (length input) start)
          (slot-value connection 'needed) needed)
    (nreverse messages)))

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

(defun halcyon--told (connection method params)
  "Hand on the notification METHOD with PARAMS of CONNECTION."
  (let ((client (slot-value connection 'client))
        (name (symbol-name method)))
    (if (equal name "$/progress")
        (when-let ((call (gethash (plist-get params :token) halcyon--tokens)))
          (halcyon--later #'halcyon--report call (plist-get params :value)))
      (dolist (function (cdr (assoc name (halcyon-client-listeners client))))
        (halcyon--later function params)))))

(defun halcyon--report (call value)
  "Tell VALUE to the function for the progress of CALL, unless it was cancelled."
  (unless (eq (halcyon-call-state call) 'failed)
    (funcall (halcyon-call-progress call) value)))

(defun halcyon--asked (connection method params)
  "Note the question METHOD with PARAMS of CONNECTION, to be answered later."
  (let* ((client (slot-value connection 'client))
         (function (cdr (assoc (symbol-name method) (halcyon-client-delegates client))))
         (question (make-halcyon--question :method method :params params)))
    (unless function
      (jsonrpc-error :code -32601 :message (format "This client does not answer %s." method)))
    (halcyon--later #'halcyon--answer connection question function)
    question))

(defun halcyon--answer (connection question function)
  "Send the answer of FUNCTION to QUESTION over CONNECTION."
  (let* ((neutral (cdr (assq (halcyon--question-method question)
                             `((downloader/modifyRequest . ,(make-hash-table))
                               (downloader/redirect . ,(make-hash-table))
                               (downloader/challenge . "default")))))
         (reply (condition-case-unless-debug error
                    (let ((answer (funcall function (halcyon--question-params question))))
                      (list :result (if answer (halcyon--encode answer) neutral)))
                  ((error quit)
                   (message "halcyon: a delegate failed: %s" (error-message-string error))
                   (list :error (list :code -32603 :message (error-message-string error)))))))
    (when (jsonrpc-running-p connection)
      (apply #'jsonrpc-connection-send connection :id (halcyon--question-id question) reply))))

(defun halcyon--ask-for (events client)
  "Subscribe CLIENT to EVENTS, a list of names."
  (halcyon--call "subscribe" (list :events (vconcat events)) (list :client client)))

(defun halcyon-listen (event function &optional client)
  "Have FUNCTION called with the parameters of each EVENT, a plist.
EVENT is one of `halcyon-events'.  It stays so when the server is
started anew.  CLIENT is another client than the default one.  Returns
the call that subscribes."
  (let* ((client (or client halcyon-default-client))
         (entry (assoc event (halcyon-client-listeners client))))
    (if entry
        (cl-pushnew function (cdr entry))
      (push (list event function) (halcyon-client-listeners client)))
    (halcyon--ask-for (list event) client)))

(defun halcyon-unlisten (event function &optional client)
  "Call FUNCTION no more for EVENT.
CLIENT is another client than the default one.  Unsubscribes when nobody
listens to EVENT any more."
  (let* ((client (or client halcyon-default-client))
         (entry (assoc event (halcyon-client-listeners client))))
    (when entry
      (setcdr entry (remove function (cdr entry)))
      (unless (cdr entry)
        (setf (halcyon-client-listeners client) (delq entry (halcyon-client-listeners client)))
        (when (halcyon-running-p client)
          (halcyon--call "unsubscribe" (list :events (vector event)) (list :client client)))))))


;;; End

(defun halcyon-stop (&optional client)
  "End the server of CLIENT, or of the default client, and return at once.
What is on its way is answered first; after five seconds it is killed.
The next call starts a new one."
  (interactive)
  (let* ((client (or client halcyon-default-client))
         (connection (halcyon-client-connection client)))
    (setf (halcyon-client-failures client) 0
          (halcyon-client-died client) nil
          (halcyon-client-connection client) nil)
    (when connection
      (let ((process (slot-value connection 'server)))
        (when (process-live-p process)
          (process-send-eof process)
          (run-with-timer 5 nil (lambda () (when (process-live-p process)
                                             (delete-process process)))))))))

(defun halcyon-restart (&optional client)
  "End the server of CLIENT, or of the default client, and start another one.
Calls that are open go on with the old one, for at most five seconds."
  (interactive)
  (let ((client (or client halcyon-default-client)))
    (halcyon-stop client)
    (halcyon--connection client)
    (when (called-interactively-p 'interactive) (message "halcyon was started anew"))))

(provide 'halcyon-rpc)
;;; halcyon-rpc.el ends here
