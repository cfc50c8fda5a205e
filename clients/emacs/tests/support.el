;;; support.el --- What the tests share  -*- lexical-binding: t; -*-

;;; Commentary:

;; Pictures, a web server in this Emacs that holds its answers back until a
;; test lets them go, fresh clients and folders, and patient waiting.

;;; Code:

(require 'cl-lib)
(require 'ert)
(require 'halcyon)
(require 'halcyon-inline)
(require 'halcyon-shr)

(defconst test-folder
  (file-name-directory (or load-file-name buffer-file-name))
  "The folder of the tests.")

(defconst test-repository (expand-file-name "../../../" test-folder)
  "The root of the repository.")

(defconst test-fixtures (expand-file-name "Tests/Fixtures/" test-repository)
  "The folder of the pictures that all tests share.")

(defconst test-patience 30
  "Seconds after which a wait is a hang; never reached by a test that passes.")

(defmacro test-until (condition)
  "Let Emacs go on until CONDITION is true, and return what it is."
  `(let ((end (+ (float-time) test-patience)) value)
     (while (not (setq value ,condition))
       (when (> (float-time) end)
         (ert-fail (list "This did not happen" ',condition)))
       (accept-process-output nil 0.004))
     value))

(defmacro test-as-in-use (&rest body)
  "Run BODY as in use, where ERT does not debug every error."
  (declare (indent 0) (debug t))
  `(let ((debug-on-error nil) (inhibit-message t)) ,@body))

(defun test-wait (call)
  "The result of CALL."
  (halcyon-wait call test-patience))

(defun test-error (call)
  "The error of CALL, which must fail."
  (condition-case error
      (ert-fail (list "This did not fail" (test-wait call)))
    (halcyon-error error)))

(defun test-idle ()
  "Let Emacs do all that waits to be done."
  (dotimes (_ 3) (accept-process-output nil 0.001)))


;;; Pictures

(defun test-bytes (&rest parts)
  "PARTS, numbers of 32 bits and unibyte strings, as bytes."
  (mapconcat (lambda (part)
               (if (stringp part) part
                 (apply #'unibyte-string
                        (mapcar (lambda (shift) (logand 255 (ash part shift)))
                                '(-24 -16 -8 0)))))
             parts ""))

(defun test-bmp (width height)
  "A black BMP of WIDTH and HEIGHT."
  (cl-flet ((little (n size) (apply #'unibyte-string
                                    (cl-loop for i below size
                                             collect (logand 255 (ash n (* -8 i)))))))
    (let ((size (* height (* 4 (/ (+ (* 3 width) 3) 4)))))
      (concat "BM" (little (+ 54 size) 4) (little 0 4) (little 54 4)
              (little 40 4) (little width 4) (little height 4) (little 1 2) (little 24 2)
              (little 0 4) (little size 4) (make-string 16 0) (make-string size 0)))))


;;; The web server

(cl-defstruct (test-page (:constructor test-page (body &key (status 200) (type "image/bmp")
                                                       held headers)))
  "An answer: with HELD true, its second half waits for `test-release'."
  body status type held headers (waiting nil) (left 0))

(cl-defstruct (test-web (:constructor test-web--make))
  "The server, its pages, a folder for what is none of these, and who asked."
  process pages (folder nil) (asked nil))

(defvar test--web nil "The web server of this test.")

(defun test-serve (&rest pages)
  "Serve PAGES, an alist of paths and pages or bytes, until the test ends."
  (setq test--web
        (test-web--make
         :pages (mapcar (pcase-lambda (`(,path . ,page))
                          (cons path (if (stringp page) (test-page page) page)))
                        pages)
         :process (make-network-process
                   :name "web" :server 200 :host "127.0.0.1" :service t :family 'ipv4
                   :coding 'binary :noquery t
                   :filter #'test--web-filter :sentinel #'test--web-sentinel))))

(defun test-url (path)
  "The address of PATH at the web server."
  (format "http://127.0.0.1:%d%s"
          (process-contact (test-web-process test--web) :service) path))

(defun test-page-at (path)
  "The page at PATH."
  (cdr (assoc path (test-web-pages test--web))))

(defun test-set-page (path page)
  "From now on, answer PATH with PAGE."
  (setf (alist-get path (test-web-pages test--web) nil nil #'equal)
        (if (stringp page) (test-page page) page)))

(defun test-count (path)
  "How often PATH was asked for."
  (cl-count path (test-web-asked test--web) :key #'car :test #'equal))

(defun test-header (path name)
  "The header NAME of the last request for PATH, or nil."
  (let ((case-fold-search t)
        (head (cdr (assoc path (test-web-asked test--web)))))
    (and head (string-match (format "^%s: \\(.*\\)\r$" name) head) (match-string 1 head))))

(defun test--web-file (name)
  "The page for the file NAME of the server's folder, or nil."
  (let* ((folder (test-web-folder test--web))
         (file (and folder (expand-file-name name folder))))
    (and file (file-in-directory-p file folder) (file-regular-p file)
         (test-page (with-temp-buffer
                      (set-buffer-multibyte nil)
                      (insert-file-contents-literally file)
                      (buffer-string))
                    :type "application/octet-stream"))))

(defun test--web-filter (process text)
  "Answer the request of which PROCESS got TEXT."
  (let ((head (concat (process-get process 'head) text)))
    (process-put process 'head head)
    (when (and (string-search "\r\n\r\n" head) (string-match "\\`GET \\([^ ?]*\\)" head))
      (process-put process 'head nil)
      (let* ((path (match-string 1 head))
             (page (or (test-page-at path)
                       (test--web-file (substring path 1))
                       (test-page "There is nothing here." :status 404 :type "text/plain")))
             (body (test-page-body page))
             (half (if (test-page-held page) (/ (length body) 2) (length body))))
        (push (cons path head) (test-web-asked test--web))
        (process-send-string
         process (concat (format "HTTP/1.1 %d It\r\nContent-Type: %s\r\nContent-Length: %d\r\n"
                                 (test-page-status page) (test-page-type page) (length body))
                         (mapconcat (lambda (header) (concat header "\r\n"))
                                    (test-page-headers page) "")
                         "\r\n" (substring body 0 half)))
        (when (test-page-held page)
          (process-put process 'page page)
          (push (cons process (substring body half)) (test-page-waiting page)))))))

(defun test--web-sentinel (process _change)
  "Note that PROCESS went, if it had not got the whole page."
  (let ((page (process-get process 'page)))
    (when (and page (not (process-live-p process)) (assq process (test-page-waiting page)))
      (setf (test-page-waiting page)
            (assq-delete-all process (test-page-waiting page)))
      (cl-incf (test-page-left page)))))

(defun test-release (path)
  "Let the page at PATH go, now and from now on."
  (let ((page (test-page-at path)))
    (setf (test-page-held page) nil)
    (pcase-dolist (`(,process . ,rest) (test-page-waiting page))
      (when (process-live-p process) (process-send-string process rest)))
    (setf (test-page-waiting page) nil)))


;;; Clients

(defvar test-scratch nil "A folder for this test alone.")

(defun test-client (&rest arguments)
  "A client with an empty cache of its own and ARGUMENTS of `halcyon-make-client'."
  (apply #'halcyon-make-client
         (append arguments (list :cache-directory (expand-file-name "cache" test-scratch)))))

(defmacro test-case (&rest body)
  "Run BODY with an empty cache, the default client on it, and clean up after."
  (declare (indent 0) (debug t))
  `(let* ((test-scratch (file-name-as-directory
                         (file-truename (make-temp-file "halcyon-test-" t))))
          (halcyon-cache-directory (expand-file-name "cache" test-scratch))
          (halcyon-default-client (halcyon-make-client))
          ;; Longer than the patience: what a download gives up by itself is not cancelled.
          (halcyon-inline-options '(:revalidate "http" :timeout 100))
          (halcyon-shr-options '(:timeout 100))
          (test--web nil))
     (unwind-protect (progn ,@body)
       (dolist (process (process-list))
         (when (process-live-p process) (delete-process process)))
       (test-idle)
       (dolist (timer (append timer-list nil)) (cancel-timer timer))
       (setq halcyon--queue nil halcyon--queue-timer nil)
       ;; A server whose Emacs has ended may still be writing its last files into the folder.
       (test-until (progn (ignore-error file-error (delete-directory test-scratch t))
                          (not (file-exists-p test-scratch)))))))

(defun test-script (&rest lines)
  "The path of an executable shell script of LINES."
  (let ((file (expand-file-name "script" test-scratch)))
    (with-temp-file file (insert "#!/bin/sh\n" (string-join lines "\n") "\n"))
    (set-file-modes file #o755)
    file))

(defun test-says (message)
  "The line of a script that writes MESSAGE, a text of ASCII, as a server does."
  (format "printf '%%s' 'Content-Length: %d\r\n\r\n%s'" (length message) message))

(provide 'support)
;;; support.el ends here
