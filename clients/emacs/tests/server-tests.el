;;; server-tests.el --- Life and death of servers, and what they write  -*- lexical-binding: t; -*-

;;; Commentary:

;; Against the real server, but where it is to be odd.

;;; Code:

(require 'support)

(defun server-tests-kill (&optional client)
  "Kill the server of CLIENT as nobody should."
  (signal-process (slot-value (halcyon-client-connection (or client halcyon-default-client))
                              'server)
                  'SIGKILL))

(ert-deftest a-call-to-a-stopped-server-fails-as-one-to-a-dead-server-does ()
  (test-case
    (test-wait (halcyon-ping))
    (let ((server (slot-value (halcyon-client-connection halcyon-default-client) 'server)))
      ;; As if it had lived for long.
      (setf (slot-value (halcyon-client-connection halcyon-default-client) 'started) 0)
      (signal-process server 'SIGSTOP)
      (test-until (eq 'stop (process-status server)))
      (should (eq 'halcyon-server-gone (car (test-error (halcyon-ping)))))
      (should-not (test-wait (halcyon-ping))))))

(ert-deftest a-client-starts-the-same-server-whatever-the-current-directory-is ()
  (test-case
    (let* ((default-directory (file-name-as-directory (make-temp-file "halcyon" t)))
           (folder (expand-file-name "here"))
           (client (halcyon-make-client :name "relative" :cache-directory "here"
                                        :program (file-relative-name (halcyon-find-program))))
           (default-directory "/"))
      (unwind-protect
          (let ((made (test-wait (halcyon-cache-path "k" :client client))))
            (should (string-prefix-p folder (plist-get made :path))))
        (halcyon-stop client)))))

(ert-deftest calls-of-a-server-that-dies-fail-and-the-next-call-starts-another ()
  (test-case
    (test-serve (cons "/slow.bmp" (test-page (test-bmp 200 200) :held t)))
    (let ((calls (list (halcyon-retrieve (test-url "/slow.bmp"))
                       (halcyon-retrieve (test-url "/slow.bmp") :key "two"))))
      (test-until (test-page-waiting (test-page-at "/slow.bmp")))
      ;; As if it had lived for long.
      (setf (slot-value (halcyon-client-connection halcyon-default-client) 'started) 0)
      (server-tests-kill)
      (dolist (call calls)
        (let ((error (test-error call)))
          (should (eq 'halcyon-server-gone (car error)))
          (should (halcyon-error-retryable-p error))
          (should (string-match-p "signal 9" (halcyon-error-message error)))))
      (should-not (halcyon-running-p))
      (should-not (test-wait (halcyon-ping))))))

(ert-deftest a-server-that-dies-young-is-not-started-anew-at-once ()
  (test-case
    (let ((client (test-client :program (test-script "exit 3"))))
      (should (string-match-p "exit status 3" (halcyon-error-message
                                               (test-error (halcyon-ping :client client)))))
      (let ((error (test-error (halcyon-ping :client client))))
        (should (eq 'halcyon-server-gone (car error)))
        (should (< 0 (plist-get (halcyon-error-data error) :retryAfter) 2)))
      (should (equal '(0 1 2 4 32 60 60) (mapcar #'halcyon--backoff '(0 1 2 3 6 7 99))))
      (should (= 1.0 (halcyon--pause client (halcyon-client-died client))))
      (should (= 0 (halcyon--pause client (+ 1 (halcyon-client-died client)))))
      ;; A restart by hand does not wait.
      (setf (halcyon-client-program client) nil)
      (halcyon-restart client)
      (should-not (test-wait (halcyon-ping :client client))))))

(ert-deftest a-program-that-is-missing-is-told-without-a-signal ()
  (test-case
    (let ((client (test-client :program "/nowhere/halcyon")))
      (let ((call (halcyon-ping :client client)))
        (should (eq 'halcyon-program-not-found (car (test-error call))))
        (should (string-match-p "/nowhere/halcyon" (halcyon-error-message
                                                    (halcyon-call-error call))))))))

(ert-deftest stopping-answers-what-is-open-and-the-next-call-starts-anew ()
  (test-case
    (let* ((call (halcyon-is-cached "x"))
           (process (slot-value (halcyon-client-connection halcyon-default-client) 'server)))
      (halcyon-stop)
      (should-not (halcyon-running-p))
      (should (equal "none" (plist-get (test-wait call) :cacheType)))
      (test-until (not (process-live-p process)))
      (should (= 0 (process-exit-status process)))
      (should-not (test-wait (halcyon-ping)))
      (should (halcyon-running-p)))))

(ert-deftest a-server-starts-although-the-folder-is-remote-or-gone ()
  (test-case
    (let ((default-directory "/nowhere/at/all/"))
      (should-not (test-wait (halcyon-ping))))))

(ert-deftest servers-that-talk-nonsense-fail-calls-and-hang-nothing ()
  (test-case
    (let ((client (test-client :program (test-script
                                         "echo 'Welcome to my server'"
                                         "printf 'Content-Length: 5\\r\\n\\r\\nfive!'"
                                         "cat >/dev/null")))
          error)
      (test-as-in-use (setq error (test-error (halcyon-ping :client client))))
      (should (eq 'halcyon-server-gone (car error)))
      (should (string-match-p "Welcome" (halcyon-error-message error))))))

(ert-deftest an-answer-that-cannot-be-read-fails-its-call-and-an-unknown-member-does-no-harm ()
  (test-case
    (let* ((client (test-client
                    :program (test-script
                              (test-says "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":7,\"trace\":1}")
                              (test-says "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{")
                              (test-says (concat "{\"jsonrpc\":\"2.0\",\"id\":4,\"result\":"
                                                 (make-string 3000 ?\[) (make-string 3000 ?\]) "}"))
                              (test-says "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ask\",\"params\":{")
                              (test-says "{\"jsonrpc\":\"2.0\",\"id\":5,\"error\":{\"code\":10003}}")
                              "cat >/dev/null")))
           (calls (cl-loop repeat 4 collect (halcyon-ping :client client))))
      (test-as-in-use
        (should (equal 7 (test-wait (pop calls))))
        (dolist (_ '(3 4))
          (let ((error (test-error (pop calls))))
            (should (eq 'halcyon-error (car error)))
            (should (string-match-p "could not be read" (halcyon-error-message error)))))
        (should (eq 'halcyon-not-cached (car (test-error (pop calls)))))))))

(ert-deftest messages-are-taken-in-however-they-are-cut ()
  (let* ((messages '("{\"a\":\"Käthe\"}" "{}" "{\"b\":\"\\u0000\"}"))
         (bytes (mapconcat (lambda (message)
                             (let ((body (encode-coding-string message 'utf-8)))
                               (format "Content-Length: %d\r\n\r\n%s" (length body) body)))
                           messages "")))
    (dolist (size (list 1 2 3 7 19 30 (length bytes)))
      (let ((input (make-halcyon--input)) taken)
        (dolist (piece (seq-partition bytes size))
          (setq taken (append taken (halcyon--take-in input piece))))
        (should (equal '((:a "Käthe") nil (:b "\0")) (mapcar #'halcyon--parse taken)))))))

(ert-deftest a-zero-byte-in-a-text-does-not-lose-the-answer ()
  (test-case
    (test-wait (halcyon-store "zero" :data (test-bmp 2 2) :metadata '(:a "x\0y")))
    (should (equal "x\0y" (plist-get (plist-get (test-wait (halcyon-inspect "zero")) :metadata)
                                     :a)))))

(ert-deftest no-buffer-is-left-by-a-server-that-ended ()
  (test-case
    (test-wait (halcyon-ping))
    (let ((process (slot-value (halcyon-client-connection halcyon-default-client) 'server)))
      (halcyon-stop)
      (test-until (not (process-live-p process)))
      (test-idle)
      (should-not (seq-filter (lambda (buffer)
                                (string-match-p "halcyon-[0-9]" (buffer-name buffer)))
                              (buffer-list))))))

(provide 'server-tests)
;;; server-tests.el ends here
