;;; checkdoc.el --- Run checkdoc over files and fail on any complaint  -*- lexical-binding: t; -*-

;;; Commentary:

;; Usage, with Emacs as the program: -Q --batch -l checkdoc.el -- FILE…

;;; Code:

(require 'checkdoc)

(let ((complaints 0)
      (checkdoc-create-error-function
       (lambda (text start _end &optional _unfixable)
         (message "%s:%d: %s" (file-name-nondirectory (buffer-file-name))
                  (line-number-at-pos start) text)
         nil)))
  (advice-add 'message :before (lambda (format &rest _)
                                 (when (equal format "%s:%d: %s") (setq complaints (1+ complaints)))))
  (dolist (file (cdr (member "--" command-line-args)))
    (with-current-buffer (find-file-noselect file)
      (let ((inhibit-message nil))
        (checkdoc-current-buffer t))))
  (kill-emacs (if (zerop complaints) 0 1)))

(provide 'checkdoc-run)
;;; checkdoc.el ends here
