"""The package for Emacs, installed by its package manager into a folder of its own."""

from __future__ import annotations

import json

from support import CLIENT_SIZES, ClientTest, made, needs, web

SETTINGS = '(progn (require (quote package)) (setq package-user-dir "%s") (package-initialize))'
SCRIPT = """
(let* ((url (concat (getenv "ADDRESS") "/jpeg-photo.jpg"))
       (cat (progn (require 'halcyon) (halcyon-wait (halcyon-retrieve url))))
       (small (halcyon-wait (halcyon-retrieve url :processors "resize:16x16"))))
  (princ (json-encode (list (plist-get cat :width) (plist-get cat :height)
                            (plist-get small :width) (plist-get small :height)))))
"""


@needs("emacs")
class EmacsTests(ClientTest):
    def emacs(self, *forms: str, **variables: str) -> str:
        words = [word for form in (SETTINGS % (self.folder / "elpa"), *forms) for word in ("--eval", form)]
        done = self.run_there("emacs", "-Q", "--batch", *words, **variables)
        self.assertNotIn("Warning", done.stderr)
        return done.stdout

    def test_it_installs_without_a_warning_and_works_in_the_next_emacs(self) -> None:
        package = made().one("halcyon-*.tar")
        self.emacs(f'(package-install-file "{package}")')
        compiled = list((self.folder / "elpa").glob("halcyon-*/halcyon*.elc"))
        self.assertGreaterEqual(len(compiled), 8)
        with web() as address:
            self.assertEqual(json.loads(self.emacs(SCRIPT, ADDRESS=address)), CLIENT_SIZES)
        # Commands are known before anything is loaded.
        self.assertEqual(self.emacs("(princ (commandp 'halcyon-inline-mode))", "(princ (featurep 'halcyon-inline))"), "tnil")
        described = self.emacs("(princ (package-desc-summary (cadr (assq 'halcyon package-alist))))")
        self.assertEqual(described, "Images from the network, without waiting for them")
        self.emacs("(package-delete (cadr (assq 'halcyon package-alist)))")
        self.assertEqual(list((self.folder / "elpa").glob("halcyon-*")), [])
