;;; find-tests.el --- What is a reference to an image  -*- lexical-binding: t; -*-

;;; Commentary:

;; Texts, and the addresses that are found in them.

;;; Code:

(require 'support)
(require 'halcyon-find)
(require 'org)

(defun find-tests-urls (mode text)
  "The addresses that are found in TEXT in MODE."
  (with-temp-buffer
    (insert text)
    (funcall mode)
    (mapcar (lambda (reference) (plist-get reference :url))
            (halcyon-find-images (point-min) (point-max)))))

(ert-deftest markdown-references-are-found ()
  (pcase-dolist
      (`(,text . ,urls)
       '(("![a cat](https://e.org/cat.png)" "https://e.org/cat.png")
         ("![](http://e.org/c)" "http://e.org/c")
         ("![a]( <https://e.org/c.png> \"A title\" )" "https://e.org/c.png")
         ("![a](https://e.org/Cat_(animal).png) and (more)" "https://e.org/Cat_(animal).png")
         ("[![badge](https://e.org/b.svg)](https://e.org)" "https://e.org/b.svg")
         ("![a](https://e.org/1)![b](https://e.org/2)" "https://e.org/1" "https://e.org/2")
         ("<img alt=\"x\"\n src='https://e.org/i.png' width=3>" "https://e.org/i.png")
         ("[a link](https://e.org/cat.png)")
         ("![local](cat.png) ![other](ftp://e.org/cat.png)")
         ("`![code](https://e.org/cat.png)`")
         ("```\n![code](https://e.org/cat.png)\n```\n![a](https://e.org/1)" "https://e.org/1")
         ("~~~\n```\n![code](https://e.org/cat.png)\n~~~\n![a](https://e.org/1)"
          "https://e.org/1")
         ("```\n![never closed](https://e.org/cat.png)")
         ("![a [nested] \\] text](https://e.org/1)" "https://e.org/1")
         ("![a text of\ntwo lines](https://e.org/1)" "https://e.org/1")
         ("![a](https://e.org/a_(b_(c)).png)" "https://e.org/a_(b_(c)).png")
         ("![a](https://e.org/a\\_b.png (A title))" "https://e.org/a_b.png")
         ("![a](<https://e.org/a b.png>)" "https://e.org/a b.png")
         ("![a](https://e.org/?x=1&amp;y=2)" "https://e.org/?x=1&y=2")
         ("![not one ![a](https://e.org/1)" "https://e.org/1")
         ("<img src=https://e.org/i.png> <img src = 'https://e.org/j.png'/>"
          "https://e.org/i.png" "https://e.org/j.png")
         ("<img data-src=\"https://e.org/later.png\" src=\"https://e.org/now.png\">"
          "https://e.org/now.png")
         ("<img alt=\"a > b\" src=\"https://e.org/?x=1&amp;y=2\">" "https://e.org/?x=1&y=2")
         ("\\![a link](https://e.org/1)")
         ("`as ![code](https://e.org/cat.png)` and ![a](https://e.org/1)" "https://e.org/1")
         ("``code ` ![code](https://e.org/cat.png)``")
         ("``` code ``` and\n\n![a](https://e.org/1)" "https://e.org/1")
         ("A lone ` and\n\n![a](https://e.org/1) `" "https://e.org/1")
         ("1. One\n\n   - ```\n     ![code](https://e.org/cat.png)\n     ```\n")
         ("> ```\n> ![code](https://e.org/cat.png)\n> ```\n")
         ("<!--\n![a comment](https://e.org/cat.png)\n\n-->\n![a](https://e.org/1)"
          "https://e.org/1")
         ("a <!-- ![a comment](https://e.org/cat.png) --> b")))
    (should (equal urls (find-tests-urls #'text-mode text)))))

(ert-deftest labels-of-markdown-stand-for-the-addresses-that-the-buffer-defines ()
  (pcase-dolist
      (`(,text . ,urls)
       '(("![a cat][Cat]\n\n[cat]: https://e.org/cat.png" "https://e.org/cat.png")
         ("![a  Cat][] and ![A\ncat]\n\n[a cat]: <https://e.org/cat.png> \"A title\""
          "https://e.org/cat.png" "https://e.org/cat.png")
         ("[cat]:\n  https://e.org/?x=1&amp;y=2\n\n![cat]" "https://e.org/?x=1&y=2")
         ("[![badge]][home]\n\n[badge]: https://e.org/b.svg\n[home]: https://e.org"
          "https://e.org/b.svg")
         ("[a]: https://e.org/1\n[a]: https://e.org/2\n\n![a]" "https://e.org/1")
         ("![a](https://e.org/1)\n\n[a]: https://e.org/2" "https://e.org/1")
         ("![a][b]\n\n[a]: https://e.org/1")
         ("![a]\n\n```\n[a]: https://e.org/1\n```\n")
         ("![a]\n\n[a]: cat.png")
         ("if (![x][1]) {}")))
    (should (equal urls (find-tests-urls #'text-mode text)))))

(ert-deftest a-bracket-that-is-never-closed-is-no-label ()
  (let ((text (concat "![a]\n\n[a]: https://e.org/1\n\n[" (make-string 300000 ?x))))
    (should (equal '("https://e.org/1") (find-tests-urls #'text-mode text)))))

(ert-deftest code-that-opens-before-what-is-looked-at-is-code ()
  (with-temp-buffer
    (insert "`code that goes on\n![code](https://e.org/cat.png)` ![a](https://e.org/1)\n")
    (should (equal '("https://e.org/1")
                   (mapcar (lambda (reference) (plist-get reference :url))
                           (halcyon-find-images (line-beginning-position 0) (point-max)))))))

(ert-deftest backticks-of-programs-open-no-code ()
  (should (equal '("https://e.org/i.png")
                 (find-tests-urls #'prog-mode "x = `<b>\n<img src='https://e.org/i.png'></b>`"))))

(ert-deftest unfinished-and-very-long-lines-are-no-error ()
  (dolist (text '("![" "![a](" "![a](https://e.org/\\" "![a](<https://e.org/" "<img " "<img src="
                  "<img src='https://e.org/1" "`" "<!--"))
    (should-not (find-tests-urls #'text-mode text)))
  (pcase-dolist (`(,part . ,times) '(("a(b)" . 200000) ("![" . 5000) ("<img " . 5000)
                                     ("[" . 5000) ("\\" . 5000)))
    (should (equal '("https://e.org/1")
                   (find-tests-urls #'text-mode
                                    (concat "![](https://e.org/"
                                            (string-join (make-list times part))
                                            "\n\n![a](https://e.org/1)"))))))

(ert-deftest org-references-are-found ()
  (pcase-dolist
      (`(,text . ,urls)
       '(("[[https://e.org/cat.png]]" "https://e.org/cat.png")
         ("[[https://e.org/cat.JPG?size=2]]" "https://e.org/cat.JPG?size=2")
         ("[[https://e.org][https://e.org/cat.png]]" "https://e.org/cat.png")
         ("[[https://e.org/cat.png][A caption is a link]]")
         ("[[https://e.org/page.html]] [[file:cat.png]]")
         ("#+begin_src sh\n[[https://e.org/cat.png]]\n#+end_src")
         ("=[[https://e.org/cat.png]]=")))
    (should (equal urls (find-tests-urls #'org-mode text)))))

(ert-deftest org-tells-the-width ()
  (with-temp-buffer
    (insert "#+attr_org: :width 120\n#+caption: A cat\n[[https://e.org/cat.png]]\n")
    (org-mode)
    (should (equal 120 (plist-get (car (halcyon-find-images (point-min) (point-max))) :width)))))

(ert-deftest org-tells-the-width-as-a-part-of-the-window ()
  (pcase-dolist (`(,text . ,width) '(("50%" . 0.5) ("0.25" . 0.25) ("t" . nil) ("0" . nil)))
    (with-temp-buffer
      (insert "#+attr_org: :width " text "\n[[https://e.org/cat.png]]\n")
      (org-mode)
      (should (equal width
                     (plist-get (car (halcyon-find-images (point-min) (point-max))) :width))))))

(ert-deftest what-is-folded-away-is-not-found ()
  (with-temp-buffer
    (insert "* One\n[[https://e.org/1.png]]\n* Two\n[[https://e.org/2.png]]\n")
    (org-mode)
    (font-lock-ensure)                  ; hides the brackets of links
    (should (= 2 (length (halcyon-find-images (point-min) (point-max)))))
    (goto-char (point-min))
    (let ((inhibit-message t)) (org-cycle))
    (should (equal '("https://e.org/2.png")
                   (mapcar (lambda (reference) (plist-get reference :url))
                           (halcyon-find-images (point-min) (point-max)))))))

(provide 'find-tests)
;;; find-tests.el ends here
