;;; readme-tests.el --- A newcomer's path  -*- lexical-binding: t; -*-

;;; Commentary:

;; The first example of the README as it stands, but for the address of the
;; picture, and the package as it is installed.

;;; Code:

(require 'support)

(defun readme-tests-emacs (&rest arguments)
  "Run another Emacs with ARGUMENTS, which must end well; return its output."
  (let* ((buffer (generate-new-buffer "emacs"))
         (process-environment (append (list (concat "HALCYON_CACHE_DIR=" halcyon-cache-directory)
                                            (concat "HOME=" test-scratch))
                                      process-environment))
         (process (make-process :name "emacs" :buffer buffer :noquery t :connection-type 'pipe
                                :sentinel #'ignore
                                :command (append (list (expand-file-name invocation-name
                                                                         invocation-directory)
                                                       "-Q" "--batch")
                                                 arguments))))
    (test-until (not (process-live-p process)))
    (accept-process-output process 0)
    (with-current-buffer buffer
      (should (equal '(0 "") (list (process-exit-status process)
                                   (if (zerop (process-exit-status process)) ""
                                     (buffer-string)))))
      (prog1 (buffer-string) (kill-buffer)))))

(ert-deftest the-first-example-of-the-readme-runs-as-it-stands ()
  (test-case
    (test-serve (cons "/cat.png" (test-bmp 320 213)))
    (let ((example (with-temp-buffer
                     (insert-file-contents (expand-file-name "../README.md" test-folder))
                     (search-forward "```elisp\n")
                     (buffer-substring (point) (progn (search-forward "```")
                                                      (match-beginning 0)))))
          (file (expand-file-name "example.el" test-scratch)))
      (should (string-search "https://example.com/cat.png" example))
      (with-temp-file file
        (insert (string-replace "https://example.com/cat.png" (test-url "/cat.png") example)))
      (let ((said (split-string (readme-tests-emacs
                                 "-L" (file-name-directory (locate-library "halcyon")) "-l" file)
                                "\n" t)))
        (should (= 2 (length said)))
        (should (string-match-p (concat "\\`BMP 320×213, [0-9.]+ kB, "
                                        (regexp-quote halcyon-cache-directory) ".*\\.bmp\\'")
                                (car said)))
        (should (equal "memory" (cadr said)))
        (should (= 1 (test-count "/cat.png")))))))

(ert-deftest the-folder-installs-as-a-package ()
  (test-case
    (let ((said (readme-tests-emacs
                 "--eval" (format "(progn (require 'package)
                                          (setq package-user-dir %S)
                                          (package-initialize)
                                          (package-install-file %S))"
                                  (expand-file-name "elpa" test-scratch)
                                  (expand-file-name ".." test-folder))
                 "--eval" "(progn (halcyon-inline-mode)
                                  (halcyon-wait (halcyon-ping))
                                  (message \"It works: %s\" (featurep 'halcyon-inline)))")))
      (should (string-suffix-p "It works: t\n" said))
      (should-not (string-match-p "Warning" said)))))

(ert-deftest what-is-unloaded-leaves-nothing-behind ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (let ((said (readme-tests-emacs
                 "-L" (file-name-directory (locate-library "halcyon"))
                 "--eval" (format "(progn (require 'halcyon-inline)
                                          (require 'halcyon-shr)
                                          (require 'org)
                                          (halcyon-shr-mode)
                                          (switch-to-buffer \"text\")
                                          (insert \"[[%s]]\")
                                          (org-mode)
                                          (halcyon-inline-mode)
                                          (halcyon-wait (halcyon-ping)))"
                                  (test-url "/cat.png"))
                 "--eval" "(let ((server (halcyon-client-connection halcyon-default-client)))
                             (setq server (slot-value server 'server))
                             (dolist (feature '(inline inline-picture find shr nil rpc server wire methods))
                               (setq feature (if feature (intern (format \"halcyon-%s\" feature))
                                               'halcyon))
                               (when (featurep feature) (unload-feature feature)))
                             (with-current-buffer \"text\"
                               (insert \"!\")
                               (org-remove-inline-images)
                               (org-display-inline-images))
                             (sit-for 0)
                             (message \"%s\" (list (process-live-p server)
                                                   (overlays-in (point-min) (point-max))
                                                   (advice--p (symbol-function
                                                               'url-queue-retrieve))
                                                   (memq 'halcyon-inline--soon
                                                         after-change-functions))))")))
      (should (string-suffix-p "(nil nil nil nil)\n" said))
      (should-not (string-match-p "halcyon: \\|rror" said)))))

(provide 'readme-tests)
;;; readme-tests.el ends here
