;;; generated-tests.el --- What is generated is current  -*- lexical-binding: t; -*-

;;; Commentary:

;; halcyon-methods.el against protocol/openrpc.json.

;;; Code:

(require 'support)
(load (expand-file-name "../scripts/generate.el" test-folder) nil t)

(ert-deftest the-methods-are-those-of-the-protocol ()
  (with-temp-buffer
    (insert-file-contents (expand-file-name "../halcyon-methods.el" test-folder))
    (should (equal (buffer-string) (halcyon-generate-text)))))

(ert-deftest names-become-those-of-lisp ()
  (should (equal '("is-cached" "retrieve" "add-read-only-cache-path" "invalid-url" "tls-failed")
                 (mapcar #'halcyon-generate--kebab
                         '("isCached" "retrieve" "addReadOnlyCachePath" "invalidURL" "tlsFailed")))))

(provide 'generated-tests)
;;; generated-tests.el ends here
