;;; shr-tests.el --- Images of HTML through the cache  -*- lexical-binding: t; -*-

;;; Commentary:

;; HTML is rendered as in EWW by an Emacs that is told to show images.

;;; Code:

(require 'support)
(require 'halcyon-shr)
(require 'shr)

(defmacro shr-tests-rendered (html &rest body)
  "Render HTML in a buffer of its own, and run BODY there.
The images that were put are in `put', as content type and bytes."
  (declare (indent 1) (debug t))
  `(with-current-buffer (generate-new-buffer "rendered")
     (halcyon-shr-mode)
     (unwind-protect
         (let* ((put nil)
                (shr-put-image-function
                 (lambda (spec alt &optional _flags)
                   (push (list (nth 1 spec) (nth 0 spec)) put)
                   (insert alt))))
           (cl-letf (((symbol-function 'display-graphic-p) (lambda (&rest _) t)))
             (shr-insert-document (with-temp-buffer
                                    (insert ,html)
                                    (libxml-parse-html-region (point-min) (point-max)))))
           ,@body)
       (halcyon-shr-mode -1)
       (kill-buffer))))

(ert-deftest images-of-html-come-through-the-cache ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (shr-tests-rendered (format "<p>A cat: <img src='%s' alt='cat'>" (test-url "/cat.bmp"))
      (test-until put)
      (should (equal (list (list 'image/bmp (test-bmp 5 5))) put))
      (should (eq t (plist-get (test-wait (halcyon-is-cached (test-url "/cat.bmp"))) :cached)))
      (should-not (test-header "/cat.bmp" "Cookie"))
      (should-not (get-buffer " *halcyon shr*")))))

(ert-deftest killing-the-rendered-buffer-cancels-its-images ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-page (test-bmp 100 100) :held t)))
    (shr-tests-rendered (format "<img src='%s' alt='cat'>" (test-url "/cat.bmp"))
      (test-until (test-page-waiting (test-page-at "/cat.bmp"))))
    (test-until (= 1 (test-page-left (test-page-at "/cat.bmp"))))))

(provide 'shr-tests)
;;; shr-tests.el ends here
