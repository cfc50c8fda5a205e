;;; halcyon-server.el --- The process that answers  -*- lexical-binding: t; -*-

;;; Commentary:

;; A client starts `halcyon serve' with its first call, and anew after its
;; death: at once when it had lived for a while, else later and later.

;;; Code:

(require 'cl-lib)
(require 'jsonrpc)
(require 'subr-x)
(require 'halcyon-wire)

(declare-function halcyon--greet "halcyon-rpc" (connection client))
(declare-function halcyon--received "halcyon-rpc" (connection message))
(declare-function halcyon--answered "halcyon-rpc" (connection id answer))
(declare-function halcyon--settle "halcyon-rpc" (call state value))

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


;;; Clients

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

(defclass halcyon-connection (jsonrpc-process-connection)
  ((client :initarg :client :documentation "The client whose server it is.")
   (server :initarg :server :documentation "The process.")
   (started :initform (float-time) :documentation "When it was started.")
   (last-id :initform 0 :documentation "The id of the last request.")
   (calls :initform nil :documentation "The calls that wait for an answer.")
   (ended :initform nil :documentation "Why it ended, as a sentence, or nil.")
   (input :initform (make-halcyon--input) :documentation "What comes from it."))
  "A running server.")

(cl-defun halcyon-make-client (&key (name "halcyon") program cache-directory arguments
                                    environment delegates)
  "Make a client, whose server will start with the first call.
NAME is for buffers and processes.  PROGRAM, CACHE-DIRECTORY and
ARGUMENTS default to the options `halcyon-program',
`halcyon-cache-directory' and `halcyon-arguments'; a relative path of
theirs starts at the current directory of this call.  ENVIRONMENT is a
list of strings \"NAME=VALUE\".

DELEGATES decide about downloads: an alist of the questions in
`halcyon-questions' and functions.  A function gets the question's
parameters as a plist and returns what the protocol says, also as a
plist: nil leaves the matter to the server, `:null' is a veto or a stop.
It has ten seconds."
  (halcyon--make-client :name name
                        :program (if (and program (file-name-directory program))
                                     (expand-file-name program)
                                   program)
                        :cache-directory (and cache-directory (expand-file-name cache-directory))
                        :arguments arguments :environment environment :delegates delegates))

(defvar halcyon-default-client (halcyon-make-client)
  "The client of all calls that name no other: one server for the whole Emacs.")

(defun halcyon-running-p (&optional client)
  "Whether the server of CLIENT, or of the default client, is running."
  (let ((connection (halcyon-client-connection (or client halcyon-default-client))))
    (and connection (jsonrpc-running-p connection))))


;;; Start

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
         (connection (apply #'make-instance 'halcyon-connection
                            :name name :process process :server process :client client
                            ;; Nothing is noted of the messages; it has two names for that.
                            (if (fboundp 'jsonrpc-convert-from-endpoint)
                                '(:events-buffer-config (:size 0))
                              '(:events-buffer-scrollback-size 0)))))
    (set-process-filter process #'halcyon--filter)
    (set-process-sentinel process #'halcyon--ended)
    (set-process-thread process nil)
    (setf (halcyon-client-connection client) connection
          (halcyon-client-about client) nil)
    (halcyon--greet connection client)
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
           (reason (or (halcyon--input-fault (slot-value connection 'input))
                       (format "The server ended (%s %d)."
                               (if (eq (process-status process) 'signal) "signal" "exit status")
                               (process-exit-status process)))))
      (setf (slot-value connection 'ended) reason)
      (dolist (buffer (list (process-buffer process) (jsonrpc-stderr-buffer connection)
                            (get-buffer (format "*%s events*" (process-name process)))))
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


;;; Output of the server

;; The filter of `jsonrpc' searches all that has come for each piece that
;; comes, stops at the first function that fails, and drops a message that
;; Emacs' parser refuses, such as one with a zero byte in a text: its call
;; would wait for ever.

(defun halcyon--filter (process text)
  "Take in TEXT from PROCESS, and hand on the messages that are whole with it."
  (when-let* ((connection (process-get process 'jsonrpc-connection))
              (input (slot-value connection 'input)))
    (dolist (message (halcyon--take-in input text))
      (condition-case-unless-debug error
          (halcyon--received connection (halcyon--parse message))
        (error
         (let ((reason (error-message-string error))
               (id (halcyon--unread-id message)))
           (halcyon--note (halcyon-client-name (slot-value connection 'client))
                          (format "A message was lost: %s\n" reason))
           (when id
             (halcyon--answered connection id
                                (list :error (list :message
                                                   (concat "The answer could not be read: "
                                                           reason)))))))))
    (when (halcyon--input-fault input) (delete-process process))))


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
      (when (jsonrpc-running-p connection)
        (process-send-eof (slot-value connection 'server))
        (halcyon--end-within 5 connection)))))

(defun halcyon--end-within (seconds connection)
  "Kill the server of CONNECTION if it has not ended after SECONDS."
  (run-with-timer seconds nil
                  (lambda (process) (when (process-live-p process) (delete-process process)))
                  (slot-value connection 'server)))

(defun halcyon-restart (&optional client)
  "End the server of CLIENT, or of the default client, and start another one.
Calls that are open go on with the old one, for at most five seconds."
  (interactive)
  (let ((client (or client halcyon-default-client)))
    (halcyon-stop client)
    (halcyon--connection client)
    (when (called-interactively-p 'interactive) (message "halcyon was started anew"))))

(provide 'halcyon-server)
;;; halcyon-server.el ends here
