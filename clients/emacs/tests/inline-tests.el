;;; inline-tests.el --- Images in buffers  -*- lexical-binding: t; -*-

;;; Commentary:

;; Buffers in the one window that a headless Emacs has, which shows labels;
;; where images are wanted, Emacs is told that it can show them.

;;; Code:

(require 'support)
(require 'halcyon-inline)
(require 'org)

(defmacro inline-tests-in-buffer (mode text &rest body)
  "Show a buffer of MODE with TEXT and its images, run BODY, and kill it."
  (declare (indent 2) (debug t))
  `(let ((buffer (generate-new-buffer "inline")))
     (unwind-protect
         (save-window-excursion
           (switch-to-buffer buffer)
           (insert ,text)
           (set-buffer-modified-p nil)
           (goto-char (point-min))
           (set-window-start nil (point-min))
           (funcall ,mode)
           (halcyon-inline-mode)
           ,@body)
       (when (buffer-live-p buffer) (kill-buffer buffer)))))

(defmacro inline-tests-with-images (&rest body)
  "Run BODY as if this Emacs could show images."
  (declare (indent 0) (debug t))
  `(cl-letf (((symbol-function 'display-images-p) (lambda (&rest _) t))
             ((symbol-function 'halcyon-image-type)
              (lambda (image) (intern (plist-get image :format))))
             ((symbol-function 'create-image)
              (lambda (file type _data &rest properties)
                `(image :type ,type :file ,file ,@properties))))
     ,@body))

(defun inline-tests-labels ()
  "What is said behind the images of this buffer, in their order."
  (mapcar (lambda (overlay) (substring-no-properties (or (overlay-get overlay 'after-string) "")))
          (inline-tests-overlays)))

(defun inline-tests-overlays ()
  "The overlays of the images of this buffer, in their order."
  (sort (seq-filter (lambda (overlay) (overlay-get overlay 'halcyon-inline))
                    (overlays-in (point-min) (point-max)))
        (lambda (a b) (< (overlay-start a) (overlay-start b)))))

(defun inline-tests-say-p (&rest labels)
  "Whether the images of this buffer have LABELS, regular expressions."
  (let ((said (inline-tests-labels)))
    (and (= (length said) (length labels))
         (cl-every #'string-match-p labels said))))

(ert-deftest a-terminal-gets-labels-and-placeholders-before ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-page (test-bmp 320 200) :held t)))
    (inline-tests-in-buffer #'text-mode (format "![A cat](%s)\n" (test-url "/cat.bmp"))
      (test-until (inline-tests-say-p "loading cat.bmp…"))
      (test-until (inline-tests-say-p "loading cat.bmp… [0-9]+%"))
      (test-release "/cat.bmp")
      (test-until (inline-tests-say-p "\\[BMP 320×200, 192.1 kB\\]"))
      (should-not (overlay-get (car (inline-tests-overlays)) 'display))
      (should (equal (format "![A cat](%s)\n" (test-url "/cat.bmp")) (buffer-string)))
      (should-not (buffer-modified-p (current-buffer))))))

(ert-deftest where-images-can-be-shown-they-stand-for-their-text ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 320 200)))
    (inline-tests-with-images
      (let ((halcyon-inline-max-width 100) (halcyon-inline-max-height 0.5))
        (inline-tests-in-buffer #'text-mode (format "![A cat](%s)\n" (test-url "/cat.bmp"))
          (let ((spec (test-until (and (inline-tests-overlays)
                                       (overlay-get (car (inline-tests-overlays)) 'display)))))
            (should (eq 'image (car spec)))
            (should (= 100 (plist-get (cdr spec) :max-width)))
            (should (= (round (* 0.5 (window-body-height nil t)))
                       (plist-get (cdr spec) :max-height)))
            (should (eq 'bmp (plist-get (cdr spec) :type)))
            (should (file-exists-p (plist-get (cdr spec) :file)))
            (should (equal '("") (inline-tests-labels)))))))))

(ert-deftest what-cannot-be-had-says-why ()
  (test-case
    (test-serve (cons "/page" (test-page "<html>" :type "text/html")))
    (inline-tests-in-buffer #'text-mode
        (format "![](%s) ![](%s)" (test-url "/gone.png") (test-url "/page"))
      (test-until (inline-tests-say-p "gone.png: HTTP 404" "page: badData"))
      (should (string-match-p "answered 404"
                              (overlay-get (car (inline-tests-overlays)) 'help-echo))))))

(ert-deftest an-address-that-cannot-be-sent-says-so-and-keeps-no-other-image-from-coming ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 320 200)) (cons "/dog.bmp" (test-bmp 32 20)))
    (dolist (multibyte '(t nil))
      (inline-tests-in-buffer (lambda () (set-buffer-multibyte multibyte))
          (format "![](%s)\n![](%s)\n![](%s)\n" (test-url "/cat.bmp")
                  (test-url (string-to-multibyte "/caf\351.png")) (test-url "/dog.bmp"))
        (test-until (inline-tests-say-p "BMP 320×200" "caf.+: invalid-params" "BMP 32×20"))))))

(ert-deftest only-what-is-near-the-window-is-loaded-and-what-leaves-is-cancelled ()
  (test-case
    (test-serve (cons "/near.bmp" (test-page (test-bmp 100 100) :held t))
                (cons "/far.bmp" (test-bmp 2 2)))
    (let ((halcyon-inline-margin 2))
      (inline-tests-in-buffer #'text-mode
          (concat (format "![](%s)\n" (test-url "/near.bmp"))
                  (make-string 200 ?\n)
                  (format "![](%s)\n" (test-url "/far.bmp")))
        (test-until (test-page-waiting (test-page-at "/near.bmp")))
        (should (= 0 (test-count "/far.bmp")))
        (should (inline-tests-say-p "near.bmp"))
        ;; Scrolling away.
        (goto-char (point-max))
        (set-window-start nil (line-beginning-position -1))
        (run-hook-with-args 'window-scroll-functions (selected-window) (window-start))
        (test-until (inline-tests-say-p "BMP 2×2"))
        (test-until (= 1 (test-page-left (test-page-at "/near.bmp"))))
        ;; And back.
        (test-set-page "/near.bmp" (test-bmp 9 9))
        (set-window-start nil (point-min))
        (run-hook-with-args 'window-scroll-functions (selected-window) (window-start))
        (test-until (inline-tests-say-p "BMP 9×9" "BMP 2×2"))))))

(ert-deftest killing-the-buffer-cancels-what-loads ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-page (test-bmp 100 100) :held t)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (test-until (test-page-waiting (test-page-at "/cat.bmp")))
      (kill-buffer)
      (test-until (= 1 (test-page-left (test-page-at "/cat.bmp")))))))

(ert-deftest changing-the-text-drops-its-image-and-loads-the-new-one ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-page (test-bmp 100 100) :held t))
                (cons "/dog.bmp" (test-bmp 5 5)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (test-until (test-page-waiting (test-page-at "/cat.bmp")))
      (search-forward "cat")
      (replace-match "dog")
      (test-until (= 1 (test-page-left (test-page-at "/cat.bmp"))))
      (test-until (inline-tests-say-p "BMP 5×5"))
      (goto-char (point-min))
      (search-forward "dog")
      (replace-match "elk")
      (should-not (inline-tests-overlays)) ; at once
      (test-until (inline-tests-say-p "elk.bmp: HTTP 404"))
      (erase-buffer)
      (test-until (not halcyon-inline--pictures)))))

(ert-deftest leaving-the-mode-or-the-major-mode-leaves-nothing ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (test-until (inline-tests-say-p "BMP 5×5"))
      (halcyon-inline-mode -1)
      (should-not (overlays-in (point-min) (point-max)))
      (should-not (memq #'halcyon-inline--soon after-change-functions))
      (halcyon-inline-mode)
      (test-until (inline-tests-say-p "BMP 5×5"))
      (fundamental-mode)
      (should-not (overlays-in (point-min) (point-max))))))

(ert-deftest an-image-that-changed-behind-a-stale-answer-is-shown-anew ()
  (test-case
    (cl-flet ((page (bytes tag)
                (test-page bytes :headers
                           (list "Cache-Control: max-age=0, stale-while-revalidate=600"
                                 (format "ETag: \"%s\"" tag)))))
      (test-serve (cons "/cat.bmp" (page (test-bmp 5 5) "one")))
      (test-wait (halcyon-retrieve (test-url "/cat.bmp")))
      (test-set-page "/cat.bmp" (page (test-bmp 7 7) "two"))
      (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
        (test-until (inline-tests-say-p "BMP 7×7"))
        ;; It is stale again at once: what has come is shown, and not asked for once more.
        (test-idle)
        (should (= 2 (test-count "/cat.bmp")))))))

(ert-deftest refreshing-asks-the-server-and-keeps-what-is-shown-meanwhile ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (test-until (inline-tests-say-p "BMP 5×5"))
      (test-set-page "/cat.bmp" (test-page (test-bmp 70 70) :held t))
      (halcyon-inline-refresh)
      (test-until (test-page-waiting (test-page-at "/cat.bmp")))
      (should (inline-tests-say-p "BMP 5×5"))
      (test-release "/cat.bmp")
      (test-until (inline-tests-say-p "BMP 70×70"))
      ;; A failure leaves what is there.
      (test-set-page "/cat.bmp" (test-page "Sorry" :status 500))
      (halcyon-inline-refresh)
      (test-until (= 3 (test-count "/cat.bmp")))
      (test-until (not (halcyon-inline-picture-call (car halcyon-inline--pictures))))
      (should (inline-tests-say-p "BMP 70×70")))))

(ert-deftest refreshing-what-still-loads-begins-anew ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-page (test-bmp 100 100) :held t)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (test-until (test-page-waiting (test-page-at "/cat.bmp")))
      (halcyon-inline-refresh)
      (test-until (= 1 (test-page-left (test-page-at "/cat.bmp"))))
      (should (inline-tests-say-p "loading"))
      (test-release "/cat.bmp")
      (test-until (inline-tests-say-p "BMP 100×100")))))

(ert-deftest what-is-in-sight-for-long-is-asked-for-again ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (test-until (inline-tests-say-p "BMP 5×5"))
      (let ((picture (car halcyon-inline--pictures)))
        (should-not (halcyon-inline--retry-p picture (float-time)))
        (should (halcyon-inline--retry-p picture (+ 1 halcyon-inline-refresh-after
                                                    (float-time))))
        (setf (halcyon-inline-picture-asked picture) 0)
        (halcyon-inline--look)
        (should (halcyon-inline-picture-call picture))
        (test-until (not (halcyon-inline-picture-call picture)))))))

(ert-deftest the-death-of-the-server-delays-images-and-no-more ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-page (test-bmp 100 100) :held t)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (test-until (test-page-waiting (test-page-at "/cat.bmp")))
      (test-set-page "/cat.bmp" (test-bmp 5 5))
      (setf (slot-value (halcyon-client-connection halcyon-default-client) 'started) 0)
      (signal-process (slot-value (halcyon-client-connection halcyon-default-client) 'server)
                      'SIGKILL)
      (test-until (inline-tests-say-p "BMP 5×5")))))

(ert-deftest a-missing-program-is-said-in-place-of-the-image ()
  (test-case
    (let ((halcyon-program "/nowhere/halcyon"))
      (inline-tests-in-buffer #'text-mode "![](https://example.com/cat.png)"
        (test-until (inline-tests-say-p "cat.png: program-not-found"))))))

(ert-deftest org-hides-and-shows-our-images-with-its-own ()
  (test-case
    (test-serve (cons "/cat.png" (test-bmp 5 5)))
    (inline-tests-with-images
      (inline-tests-in-buffer #'org-mode (format "#+attr_org: :width 40\n[[%s]]\n"
                                                 (test-url "/cat.png"))
        (test-until (and (inline-tests-overlays)
                         (overlay-get (car (inline-tests-overlays)) 'display)))
        (should (= 40 (plist-get (cdr (overlay-get (car (inline-tests-overlays)) 'display))
                                 :width)))
        (let ((inhibit-message t)) (org-toggle-inline-images))
        (should-not (inline-tests-overlays))
        (halcyon-inline--look)
        (should-not (inline-tests-overlays))
        (let ((inhibit-message t)) (org-toggle-inline-images))
        (test-until (inline-tests-overlays))))))

(ert-deftest visiting-the-file-of-an-image-takes-it-from-the-cache ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (should-error (halcyon-inline-open) :type 'user-error)
      (test-until (inline-tests-say-p "BMP 5×5"))
      (let (visited)
        (cl-letf (((symbol-function 'find-file) (lambda (file) (setq visited file))))
          (halcyon-inline-open))
        (should (file-in-directory-p visited test-scratch))))))

(ert-deftest what-has-become-code-is-an-image-no-more ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (inline-tests-in-buffer #'text-mode (format "\n![](%s)\n" (test-url "/cat.bmp"))
      (test-until (inline-tests-say-p "BMP 5×5"))
      (insert "```")
      (test-until (not (inline-tests-overlays)))
      (erase-buffer)
      (insert (format "\n![](%s)\n" (test-url "/cat.bmp")))
      (test-until (inline-tests-say-p "BMP 5×5")))))

(ert-deftest what-is-folded-away-keeps-its-image ()
  (test-case
    (test-serve (cons "/cat.png" (test-bmp 5 5)))
    (inline-tests-in-buffer #'org-mode (format "* One\n[[%s]]\n" (test-url "/cat.png"))
      (test-until (inline-tests-say-p "BMP 5×5"))
      (let ((overlays (inline-tests-overlays))
            (inhibit-message t))
        (org-cycle)
        (should-not (halcyon-find-images (point-min) (point-max)))
        (halcyon-inline--look)
        (should (equal overlays (inline-tests-overlays)))))))

(ert-deftest org-images-take-a-part-of-the-window-and-another-width-when-it-is-changed ()
  (test-case
    (test-serve (cons "/cat.png" (test-bmp 5 5)))
    (inline-tests-with-images
      (inline-tests-in-buffer #'org-mode (format "#+attr_org: :width 50%%\n[[%s]]\n"
                                                 (test-url "/cat.png"))
        (cl-flet ((width ()
                    (plist-get (cdr (overlay-get (car (inline-tests-overlays)) 'display)) :width)))
          (test-until (inline-tests-overlays))
          (test-until (width))
          (should (= (round (* 0.5 (window-body-width nil t))) (width)))
          (search-forward "50%")
          (replace-match "7")
          (test-until (equal 7 (width)))
          (should (= 1 (test-count "/cat.png"))))))))

(ert-deftest a-photo-that-lies-on-its-side-is-turned ()
  (test-case
    (test-serve)
    (setf (test-web-folder test--web) test-fixtures)
    (inline-tests-with-images
      (let ((halcyon-inline-max-width 50) (halcyon-inline-max-height 70))
        (inline-tests-in-buffer #'org-mode
            (format "#+attr_org: :width 9\n[[%s]]\n[[%s]]\n"
                    (test-url "/jpeg-orientation-6.jpg") (test-url "/jpeg-orientation-3.jpg"))
          (test-until (= 2 (cl-count-if (lambda (overlay) (overlay-get overlay 'display))
                                        (inline-tests-overlays))))
          (pcase-let ((`(,turned ,upside-down)
                       (mapcar (lambda (overlay) (cdr (overlay-get overlay 'display)))
                               (inline-tests-overlays))))
            (should (equal '(90 9 50 70)
                           (mapcar (lambda (name) (plist-get turned name))
                                   '(:rotation :height :max-height :max-width))))
            (should (equal '(180 50 70)
                           (mapcar (lambda (name) (plist-get upside-down name))
                                   '(:rotation :max-width :max-height))))
            (let ((image (test-wait (halcyon-retrieve (test-url "/jpeg-orientation-6.jpg")))))
              (should (string-prefix-p (format "JPEG %d×%d," (plist-get image :height)
                                               (plist-get image :width))
                                       (halcyon-image-label image))))))))))

(ert-deftest a-wait-for-the-next-server-does-not-hold-up-a-look ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (inline-tests-in-buffer #'text-mode ""
      (test-until (not halcyon-inline--timer))
      (halcyon-inline--look-later 3600)
      (insert (format "![](%s)" (test-url "/cat.bmp")))
      (test-until (inline-tests-say-p "BMP 5×5")))))

(ert-deftest an-indirect-buffer-has-images-of-its-own ()
  (test-case
    (test-serve (cons "/cat.bmp" (test-bmp 5 5)))
    (inline-tests-in-buffer #'text-mode (format "![](%s)" (test-url "/cat.bmp"))
      (test-until (inline-tests-say-p "BMP 5×5"))
      (halcyon-inline--look-later 3600)
      (let ((copy (make-indirect-buffer (current-buffer) "copy" t)))
        (unwind-protect
            (progn
              (set-window-buffer nil copy)
              (with-current-buffer copy
                (test-until (inline-tests-say-p "BMP 5×5"))
                (halcyon-inline-mode -1)
                (should-not (inline-tests-overlays))
                (halcyon-inline-mode)
                (test-until (inline-tests-say-p "BMP 5×5"))))
          (kill-buffer copy))
        (should (inline-tests-say-p "BMP 5×5"))))))

(provide 'inline-tests)
;;; inline-tests.el ends here
