;;; rpc-tests.el --- Calls, errors, events and delegates  -*- lexical-binding: t; -*-

;;; Commentary:

;; Against the real server, but where it is to be odd.

;;; Code:

(require 'support)

;; Calls

(ert-deftest retrieve-hands-the-image-to-then-and-caches-it ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 32 20)))
    (let (cat)
      (halcyon-retrieve (test-url "/cat.bmp") :then (lambda (image) (setq cat image)))
      (should-not cat)                  ; nothing waits
      (test-until cat)
      (should (equal (list 32 20 "none" "bmp")
                     (mapcar (lambda (key) (plist-get cat key))
                             '(:width :height :cacheType :format))))
      (should (file-in-directory-p (plist-get cat :path) test-scratch))
      (should (equal "memory" (plist-get (test-wait (halcyon-retrieve (test-url "/cat.bmp")))
                                         :cacheType)))
      (should (= 1 (test-count "/cat.bmp"))))))

(ert-deftest every-method-of-the-protocol-answers ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 2 2)))
    (let ((url (test-url "/cat.bmp")) (file (expand-file-name "rose.png" test-scratch)))
      (with-temp-file file (set-buffer-multibyte nil) (insert (test-bmp 3 3)))
      (cl-flet ((ask (call &rest path)
                  (let ((value (test-wait call)))
                    (dolist (key path value) (setq value (plist-get value key))))))
        (should-not (ask (halcyon-ping)))
        (should (equal "none" (ask (halcyon-retrieve url) :cacheType)))
        (should (equal (test-bmp 2 2)
                       (halcyon-image-bytes (test-wait (halcyon-retrieve url :as 'data)))))
        (should (equal 2 (ask (halcyon-download url :as 'none) :width)))
        (should (equal 3 (ask (halcyon-store "rose" :path file) :width)))
        (should (equal 4 (ask (halcyon-store "bytes" :data (test-bmp 4 1)) :width)))
        (should (equal 3 (ask (halcyon-store "rose" :data (test-bmp 5 5) :overwrite nil) :width)))
        (should (eq t (ask (halcyon-is-cached "rose") :cached)))
        (should (eq :json-false (ask (halcyon-is-cached "thorn") :cached)))
        (should (file-exists-p (ask (halcyon-cache-path "rose") :path)))
        (should (equal 3 (ask (halcyon-calculate-size) :disk :count)))
        (should (equal 4 (ask (halcyon-inspect "bytes") :width)))
        (should (equal 3 (length (ask (halcyon-list) :entries))))
        (should (equal 1 (length (ask (halcyon-list :prefix "ro") :entries))))
        (should (eq t (ask (halcyon-remove "rose" :fromMemory t) :removed)))
        (should (equal (vector url) (ask (halcyon-prefetch (list url)) :skipped)))
        (should (equal 0 (ask (halcyon-clean-expired) :count)))
        (should (eq t (ask (halcyon-verify :repair nil) :clean)))
        (should (equal 7 (ask (halcyon-configure :memory '(:countLimit 7)) :memory :countLimit)))
        (should (equal "default" (plist-get (aref (ask (halcyon-caches) :caches) 0) :name)))
        (should (equal (vector (directory-file-name test-fixtures))
                       (ask (halcyon-add-read-only-cache-path
                             (directory-file-name test-fixtures))
                            :disk :readOnlyPaths)))
        (should (equal ["log"] (ask (halcyon-subscribe '("log")) :events)))
        (should (equal [] (ask (halcyon-unsubscribe '("log")) :events)))
        (should (equal 0 (ask (halcyon-forget-failures) :forgotten)))
        (should (equal 0 (ask (halcyon-cancel-all) :cancelled)))
        (should (eq :json-false (ask (halcyon-set-priority 99 0.5) :changed)))
        (should (eq :json-false (ask (halcyon-stop-prefetch 99) :stopped)))
        (should (= 2 (ask (halcyon-stats) :downloads)))
        (should (equal "Halcyon" (ask (halcyon-discover) :info :title)))
        (dolist (clear (list #'halcyon-clear-memory #'halcyon-clear-disk #'halcyon-clear))
          (should (natnump (ask (funcall clear) :count))))))))

(ert-deftest nil-is-false-where-there-is-true-and-else-leaves-out ()
  (should (equal '(:overwrite :json-false :forceRefresh t :urls ["a" "b"] :none nil)
                 (halcyon--encode '(:overwrite nil :forceRefresh t :key nil
                                    :urls ("a" "b") :none :null))))
  (should (equal [] (halcyon--encode [])))
  (should (equal "data" (halcyon--encode 'data)))
  (should (equal "{\"headers\":{\"X-A\":\"1\"},\"o\":{}}"
                 (json-serialize (halcyon--encode '(:headers (("X-A" . "1")) :o (:timeout nil)))
                                 :null-object nil :false-object :json-false))))

(ert-deftest headers-and-other-letters-arrive-as-they-are ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 2 2)))
    (test-wait (halcyon-retrieve (test-url "/cat.bmp") :key "Käthe 🐈"
                                 :options '(:headers (("X-Cat" . "Tom")) :maxBytes 5000)))
    (should (equal "Tom" (test-header "/cat.bmp" "X-Cat")))
    (should (equal "Käthe 🐈" (plist-get (test-wait (halcyon-inspect "Käthe 🐈")) :key)))))

(ert-deftest a-function-that-is-called-back-may-wait-and-may-fail ()
  (test-case
    (let (told)
      (halcyon-ping :then (lambda (_) (error "On purpose")))
      (halcyon-ping :then (lambda (_)
                            (push (plist-get (halcyon-wait (halcyon-is-cached "x")) :cacheType)
                                  told)))
      (halcyon-ping :then (lambda (_) (push 'another told)))
      (test-as-in-use
        (test-wait (halcyon-ping))
        (test-until (= 2 (length told))))
      (should (member 'another told))
      (test-as-in-use
        (halcyon--later #'error "On purpose")
        (halcyon--later (lambda () (push 'third told)))
        (halcyon--hand-on))
      (should (eq 'third (car told)))
      (should (member "none" told)))))

(ert-deftest a-large-answer-comes-whole ()
  (test-case
    (let ((bytes (test-bmp 1000 700)))
      (test-wait (halcyon-store "big" :data bytes))
      (should (equal bytes (halcyon-image-bytes
                            (test-wait (halcyon-retrieve "data:," :key "big" :as "data"))))))))

;; The server of this test answers when it has read a part of a request, and reads on when it is told to.
(ert-deftest an-answer-that-comes-while-its-request-is-being-sent-is-not-lost ()
  (test-case
    (let* ((gate (expand-file-name "gate" test-scratch))
           (token (format "emacs-%d" (1+ halcyon--last-token)))
           (client (test-client
                    :program (test-script
                              (format "mkfifo %s" gate)
                              "head -c 100000 >/dev/null"
                              (test-says "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"early\":true}}")
                              (test-says (format "{\"method\":\"$/progress\",\"params\":{\"token\":\"%s\"}}"
                                                 token))
                              (format "cat %s >/dev/null" gate)
                              "cat >/dev/null")))
           told
           (call (halcyon-store "big" :data (make-string 1000000 ?x) :client client
                                :then (lambda (result) (setq told result))
                                :progress (lambda (_) (write-region "" nil gate nil 'silent)))))
      (should (equal '(:early t) (test-wait call)))
      (should (equal '(:early t) told)))))

;; Errors

(ert-deftest errors-are-conditions-with-what-the-server-said ()
  (test-case
    (test-serve)
    (let ((error (test-error (halcyon-retrieve (test-url "/gone.png")))))
      (should (eq 'halcyon-invalid-status-code (car error)))
      (should (= 10002 (halcyon-error-code error)))
      (should (= 404 (plist-get (halcyon-error-data error) :statusCode)))
      (should-not (halcyon-error-retryable-p error))
      (should (string-match-p "404" (halcyon-error-message error))))
    (should-error (test-wait (halcyon-retrieve "nonsense")) :type 'halcyon-invalid-url)
    (should-error (test-wait (halcyon-inspect "nobody")) :type 'halcyon-not-cached)
    (should-error (test-wait (halcyon-request "retreive" nil)) :type 'halcyon-method-not-found)
    (let ((error (test-error (halcyon-retrieve "data:," :kay "x"))))
      (should (eq 'halcyon-invalid-params (car error)))
      (should (equal "key" (plist-get (halcyon-error-data error) :suggestion))))))

(ert-deftest a-failure-nobody-waits-for-is-shown-unless-else-takes-it ()
  (test-case
    (let ((shown nil) (told nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest arguments) (push (apply #'format format arguments) shown))))
        (halcyon-inspect "nobody" :then #'ignore)
        (test-until shown)
        (halcyon-inspect "nobody" :then #'ignore :else (lambda (error) (setq told error)))
        (test-until told)
        (should (eq 'halcyon-not-cached (car told)))
        (test-error (halcyon-inspect "nobody" :then #'ignore)) ; somebody waits
        (test-wait (halcyon-ping))
        (should (= 1 (length shown)))))))

(ert-deftest what-is-no-json-is-signalled-at-once ()
  (test-case
    (should-error (halcyon-is-cached (string ?a #x3fffff)))
    (should-not (test-wait (halcyon-ping)))))

;; Cancellation and progress

(ert-deftest a-cancelled-call-fails-at-once-and-its-download-stops ()
  (test-case
    (test-serve (cons "/slow.bmp" (test-page (test-bmp 200 200) :held t)))
    (let* (told
           (call (halcyon-retrieve (test-url "/slow.bmp") :then #'ignore
                                   :options '(:timeout 100)
                                   :else (lambda (error) (setq told error)))))
      (test-until (test-page-waiting (test-page-at "/slow.bmp")))
      (halcyon-cancel call)
      (halcyon-cancel call)
      (test-until told)
      (should (eq 'halcyon-request-cancelled (car told)))
      (test-until (= 1 (test-page-left (test-page-at "/slow.bmp")))))))

(ert-deftest cancelling-one-of-two-leaves-the-other-its-image ()
  (test-case
    (test-serve (cons "/slow.bmp" (test-page (test-bmp 200 200) :held t)))
    (let ((first (halcyon-retrieve (test-url "/slow.bmp")))
          (second (halcyon-retrieve (test-url "/slow.bmp"))))
      (test-until (test-page-waiting (test-page-at "/slow.bmp")))
      (halcyon-cancel first)
      (test-wait (halcyon-ping))
      (test-release "/slow.bmp")
      (should (= 200 (plist-get (test-wait second) :width)))
      (should (= 1 (test-count "/slow.bmp"))))))

(ert-deftest waiting-obeys-the-key-that-quits-and-cancels ()
  (test-case
    (test-serve (cons "/slow.bmp" (test-page (test-bmp 200 200) :held t)))
    (let ((call (halcyon-retrieve (test-url "/slow.bmp") :options '(:timeout 100))))
      (test-until (test-page-waiting (test-page-at "/slow.bmp")))
      (run-with-timer 0 nil (lambda () (setq quit-flag t)))
      (should (eq 'quit (condition-case nil (halcyon-wait call test-patience) (quit 'quit))))
      (should (eq 'failed (halcyon-call-state call)))
      (should (eq 'halcyon-request-cancelled (car (halcyon-call-error call))))
      (test-until (= 1 (test-page-left (test-page-at "/slow.bmp")))))))

(ert-deftest waiting-ends-after-the-seconds-given ()
  (test-case
    (test-serve (cons "/slow.bmp" (test-page (test-bmp 200 200) :held t)))
    (let* (told
           (call (halcyon-retrieve (test-url "/slow.bmp") :else (lambda (error) (push error told))))
           (error (should-error (halcyon-wait call 0.05) :type 'halcyon-call-timed-out)))
      (should (halcyon-error-retryable-p error))
      (should (equal error (halcyon-call-error call)))
      (should (equal (list error) told)))
    (should-not (test-wait (halcyon-ping)))))

(ert-deftest progress-is-told-until-the-answer ()
  (test-case
    (test-serve (cons "/slow.bmp" (test-page (test-bmp 400 400) :held t)))
    (let* (reports
           (call (halcyon-retrieve (test-url "/slow.bmp")
                                   :progress (lambda (report) (push report reports)))))
      (test-until (cl-some (lambda (report) (> (plist-get report :receivedBytes) 0)) reports))
      (test-release "/slow.bmp")
      (test-wait call)
      (test-until (equal "end" (plist-get (car reports) :kind)))
      (should (= (length (test-bmp 400 400)) (plist-get (car reports) :receivedBytes)))
      (let ((counts (mapcar (lambda (report) (plist-get report :receivedBytes)) reports)))
        (should (equal counts (sort (copy-sequence counts) #'>)))))))

;; Events and delegates

(ert-deftest events-come-to-those-who-listen-and-to-nobody-after ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 2 2)))
    (let* (finished (note (lambda (event) (push (plist-get event :status) finished))))
      (test-wait (halcyon-listen "download/didFinish" note))
      (test-wait (halcyon-retrieve (test-url "/cat.bmp")))
      (test-until (equal '(200) finished))
      (test-wait (halcyon-unlisten "download/didFinish" note))
      (test-wait (halcyon-retrieve (test-url "/none.bmp") :else #'ignore
                                   :options (list :alternativeSources
                                                  (list (test-url "/cat.bmp")))))
      (test-idle)
      (should (equal '(200) finished)))))

(ert-deftest listening-goes-on-with-the-next-server ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 2 2)))
    (let (finished)
      (test-wait (halcyon-listen "download/didFinish" (lambda (event) (push event finished))))
      (halcyon-restart)
      (test-wait (halcyon-retrieve (test-url "/cat.bmp")))
      (test-until finished))))

(ert-deftest an-event-that-does-not-exist-is-refused-at-once ()
  (test-case
    (let ((told (should-error (halcyon-listen "cache/didclean" #'ignore))))
      (should (string-match-p "no event \"cache/didclean\".*\"cache/didClean\"" (error-message-string told))))
    ;; Nor does it spoil the subscriptions of others.
    (should-not (assoc "cache/didclean" (halcyon-client-listeners halcyon-default-client)))))

(ert-deftest delegates-change-requests-and-call-them-off ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 2 2)) (cons "/dog.bmp" (test-bmp 2 2)))
    (let ((client
           (test-client
            :delegates
            `(("downloader/modifyRequest"
               . ,(lambda (request)
                    (cond ((string-suffix-p "/dog.bmp" (plist-get request :url)) :null)
                          ((string-suffix-p "/cat.bmp" (plist-get request :url))
                           '(:headers (("X-Signed" . "yes")))))))
              ("downloader/validateStatus"
               . ,(lambda (answer) (list :accept (= 200 (plist-get answer :status)))))))))
      (test-wait (halcyon-retrieve (test-url "/cat.bmp") :client client))
      (should (equal "yes" (test-header "/cat.bmp" "X-Signed")))
      (should-error (test-wait (halcyon-retrieve (test-url "/dog.bmp") :client client))
                    :type 'halcyon-download-cancelled-before-starting)
      (should-error (test-wait (halcyon-retrieve (test-url "/elk.bmp") :client client))
                    :type 'halcyon-invalid-status-code)
      (should (= 1 (test-count "/elk.bmp"))) ; nil left the matter to the server
      (should (= 0 (test-count "/dog.bmp"))))))

(ert-deftest a-delegate-that-fails-leaves-the-matter-to-the-server ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 2 2)))
    (let ((client (test-client :delegates `(("downloader/modifyRequest"
                                             . ,(lambda (_) (error "On purpose"))))))
          image)
      (test-as-in-use
        (setq image (test-wait (halcyon-retrieve (test-url "/cat.bmp") :client client))))
      (should (= 2 (plist-get image :width))))))

(ert-deftest a-delegate-whose-answer-is-no-json-is-a-failure-that-the-server-and-the-user-hear-of ()
  (test-case
    (let* ((heard (expand-file-name "heard" test-scratch))
           (question "{\"id\":%d,\"method\":\"downloader/modifyRequest\",\"params\":{}}")
           (answers (list (list :url "http://h/Zo\353") (list :body (current-buffer))))
           (client (test-client
                    :program (test-script (test-says (format question 71))
                                          (test-says (format question 72))
                                          (format "cat >%s" heard))
                    :delegates `(("downloader/modifyRequest" . ,(lambda (_) (pop answers))))))
           shown)
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest arguments) (push (apply #'format format arguments) shown))))
        (test-as-in-use
          (halcyon-ping :client client)
          (dolist (id '(71 72))
            (test-until (with-temp-buffer
                          (ignore-error file-error (insert-file-contents heard))
                          (search-forward (format "\"id\":%d,\"error\":{\"code\":-32603" id) nil t))))))
      (should (= 2 (cl-count-if (lambda (text) (string-match-p "a delegate failed" text)) shown))))))

(provide 'rpc-tests)
;;; rpc-tests.el ends here
