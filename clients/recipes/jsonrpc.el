;;; jsonrpc.el --- The JSON-RPC library of Eglot, which is part of Emacs -*- lexical-binding: t -*-

;; Usage: emacs --batch -Q -l jsonrpc.el URL…

;;; Code:

(require 'jsonrpc)

(let* ((process (make-process
                 :name "halcyon"
                 :command (list (or (getenv "HALCYON_BIN") "halcyon"))
                 :connection-type 'pipe
                 :coding 'binary
                 :noquery t
                 ;; Else what the server logs would come between its answers.
                 :stderr (get-buffer-create " *halcyon log*")))
       (connection (make-instance 'jsonrpc-process-connection :name "halcyon" :process process)))
  (dolist (url command-line-args-left)
    (condition-case error
        (let ((image (jsonrpc-request connection :retrieve (list :url url) :timeout 60)))
          (princ (format "%s %s %s %s\n"
                         (plist-get image :width) (plist-get image :height)
                         (plist-get image :cacheType) (plist-get image :path))))
      (jsonrpc-error
       (princ (format "error %s\n" (plist-get (alist-get 'jsonrpc-error-data (cddr error)) :name))))))
  (jsonrpc-request connection :shutdown nil)
  (jsonrpc-notify connection :exit nil))

(setq command-line-args-left nil)

;;; jsonrpc.el ends here
