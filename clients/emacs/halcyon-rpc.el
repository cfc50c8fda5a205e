;;; halcyon-rpc.el --- Calls to a halcyon server  -*- lexical-binding: t; -*-

;;; Commentary:

;; Nothing here waits, but for `halcyon-wait', which obeys the key that quits.
;;
;; Answers, events and questions of the server are taken in by the process
;; filter and handed on from a timer, in the order in which they came: so
;; the functions of the user may wait, ask for more, or fail.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'subr-x)
(require 'halcyon-server)

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


;;; Handing on

(defvar halcyon--queue nil
  "Functions that are still to be called with no arguments, the next one first.")

(defvar halcyon--queue-timer nil
  "The timer that will empty the queue, or nil.")

(defun halcyon--later (function &rest arguments)
  "Call FUNCTION with ARGUMENTS soon, outside of the process filter."
  (setq halcyon--queue (nconc halcyon--queue (list (lambda () (apply function arguments)))))
  (halcyon--wake))

(defun halcyon--wake ()
  "Have the queue emptied soon."
  (unless halcyon--queue-timer
    (setq halcyon--queue-timer
          (run-with-timer 0 nil (lambda ()
                                  (setq halcyon--queue-timer nil)
                                  (halcyon--hand-on))))))

(defun halcyon--hand-on ()
  "Call what is in the queue.
A function that waits lets the others be called from within its waiting."
  (while halcyon--queue
    (let ((function (pop halcyon--queue)))
      (when halcyon--queue (halcyon--wake))
      (condition-case-unless-debug error
          (funcall function)
        ((error quit) (message "halcyon: a function failed: %s" (error-message-string error))))))
  (when halcyon--queue-timer
    (cancel-timer halcyon--queue-timer)
    (setq halcyon--queue-timer nil)))


;;; Calls

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

(defun halcyon--send (connection call params)
  "Send CALL over CONNECTION with PARAMS, in the form for `jsonrpc'.
While the pipe is full, timers run and send too: the answer may come
before this returns.  `jsonrpc-async-request' would not know it."
  (setf (halcyon-call-connection call) connection
        (halcyon-call-id call) (cl-incf (slot-value connection 'last-id)))
  (push call (slot-value connection 'calls))
  (condition-case error
      (jsonrpc-connection-send connection :id (halcyon-call-id call)
                               :method (intern (halcyon-call-method call)) :params params)
    (error
     (cond
      ((slot-value connection 'ended)
       (halcyon--settle call 'failed (halcyon--gone (slot-value connection 'ended))))
      ((and (eq 'run (process-status (slot-value connection 'server)))
            (not (eq (car error) 'file-error)))
       (setf (slot-value connection 'calls) (delq call (slot-value connection 'calls)))
       (signal (car error) (cdr error)))
      ;; It reads no more, or was stopped: its end, which says why, settles the call.
      (t (halcyon--end-within 1 connection))))))

(defun halcyon--greet (connection client)
  "Introduce CLIENT to the server of CONNECTION; nobody waits for the answer."
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
    (halcyon--ask-for events client)))

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
  (halcyon--give-up call (halcyon--error 'halcyon-request-cancelled "The request was cancelled."
                                         :code -32800 :data (list :name "requestCancelled"))))

(defun halcyon--give-up (call error)
  "Let CALL fail with ERROR, unless it was answered, and have its work stopped."
  (when (eq (halcyon-call-state call) 'open)
    (halcyon--settle call 'failed error)
    (let ((connection (halcyon-call-connection call)))
      (when (and connection (jsonrpc-running-p connection))
        ;; A server that ends meanwhile has nothing to cancel.
        (ignore-errors
          (jsonrpc-notify connection '$/cancelRequest (list :id (halcyon-call-id call))))))))

(defun halcyon-wait (call &optional seconds)
  "Wait for the answer to CALL and return its result.
Signals its error.  After SECONDS, if given, CALL is given up and fails
with `halcyon-call-timed-out'.  Typing \\[keyboard-quit] cancels CALL and
quits.  Other processes and timers go on meanwhile."
  (setf (halcyon-call-awaited call) t)
  (let ((end (and seconds (+ (float-time) seconds)))
        (inhibit-quit nil))
    (unwind-protect
        (progn
          (while (and (eq (halcyon-call-state call) 'open)
                      (or (not end) (< (float-time) end)))
            ;; Output that comes with the end of a process does not end this wait: look often.
            (accept-process-output nil 0.05))
          (halcyon--give-up call (halcyon--error
                                  'halcyon-call-timed-out
                                  (format "There was no answer to %s in %s seconds."
                                          (halcyon-call-method call) seconds)
                                  :data (list :retryable t))))
      ;; Only after that key is it open still.
      (halcyon-cancel call))
    ;; Earlier answers are delivered first.
    (halcyon--hand-on)
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


;;; Messages of the server

(defun halcyon--received (connection message)
  "Take in MESSAGE, a plist, which came over CONNECTION."
  (let ((method (plist-get message :method))
        (id (plist-get message :id))
        (params (plist-get message :params)))
    (cond
     ((not method) (halcyon--answered connection id message))
     (id (halcyon--asked connection id method params))
     (t (halcyon--told connection method params)))))

(defun halcyon--answered (connection id answer)
  "Settle the call with ID of CONNECTION with ANSWER, unless it was given up."
  (unless (integerp id) (error "It answers no request: its id is %S" id))
  (when-let ((call (cl-find id (slot-value connection 'calls) :key #'halcyon-call-id)))
    (let ((error (plist-get answer :error)))
      (if error
          (halcyon--settle call 'failed (halcyon--error-from-wire error))
        (halcyon--settle call 'done (plist-get answer :result))))))

(defun halcyon--told (connection method params)
  "Hand on the notification METHOD with PARAMS of CONNECTION."
  (let ((client (slot-value connection 'client)))
    (if (equal method "$/progress")
        (when-let ((call (gethash (plist-get params :token) halcyon--tokens)))
          (halcyon--later #'halcyon--report call (plist-get params :value)))
      (dolist (function (cdr (assoc method (halcyon-client-listeners client))))
        (halcyon--later function params)))))

(defun halcyon--report (call value)
  "Tell VALUE to the function for the progress of CALL, unless it was cancelled."
  (unless (eq (halcyon-call-state call) 'failed)
    (funcall (halcyon-call-progress call) value)))

(defun halcyon--asked (connection id method params)
  "Have the question ID, METHOD with PARAMS, of CONNECTION answered soon."
  (let ((function (cdr (assoc method (halcyon-client-delegates
                                      (slot-value connection 'client))))))
    (if function
        (halcyon--later #'halcyon--answer connection id method params function)
      (halcyon--later #'halcyon--reply connection id :error
                      (list :code -32601
                            :message (format "This client does not answer %s." method))))))

(defun halcyon--answer (connection id method params function)
  "Send the answer of FUNCTION to a question over CONNECTION.
The question is METHOD with PARAMS; ID is its id."
  (let ((neutral (cdr (assoc method
                             `(("downloader/modifyRequest" . ,(make-hash-table))
                               ("downloader/redirect" . ,(make-hash-table))
                               ("downloader/challenge" . "default"))))))
    (condition-case-unless-debug error
        (let ((answer (funcall function params)))
          (halcyon--reply connection id :result (if answer (halcyon--encode answer) neutral)))
      ((error quit)
       (message "halcyon: a delegate failed: %s" (error-message-string error))
       ;; The reason stays here: it may be no JSON either.
       (halcyon--reply connection id :error
                       '(:code -32603 :message "The delegate of the client failed."))))))

(defun halcyon--reply (connection id key value)
  "Answer the question ID of CONNECTION with KEY, `:result' or `:error', and VALUE."
  (when (jsonrpc-running-p connection)
    (jsonrpc-connection-send connection :id id key value)))

(defun halcyon--ask-for (events client)
  "Subscribe CLIENT to EVENTS, a list of names."
  (halcyon--call "subscribe" (list :events (vconcat events)) (list :client client)))

(defvar halcyon-events)

(defun halcyon-listen (event function &optional client)
  "Have FUNCTION called with the parameters of each EVENT, a plist.
EVENT is one of `halcyon-events'.  It stays so when the server is
started anew.  CLIENT is another client than the default one.  Returns
the call that subscribes.  Signals an error when there is no such event."
  (when (and (boundp 'halcyon-events) (not (assoc event halcyon-events)))
    (error "There is no event %S; there are %s"
           event (mapconcat (lambda (known) (format "%S" (car known))) halcyon-events ", ")))
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

(defun halcyon-rpc-unload-function ()
  "End all servers, whose output nobody would take in."
  (dolist (process (process-list))
    (when (eq (process-filter process) #'halcyon--filter)
      (set-process-sentinel process #'ignore)
      (delete-process process)))
  (cancel-function-timers #'halcyon--revive)
  (when halcyon--queue-timer (cancel-timer halcyon--queue-timer))
  nil)

(provide 'halcyon-rpc)
;;; halcyon-rpc.el ends here
