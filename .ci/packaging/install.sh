#!/bin/sh
# Installs halcyon, or removes it.
# Usage: install.sh [--prefix FOLDER] [--uninstall]
# The prefix is /usr/local for root and ~/.local for others, unless it is given.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
list=share/doc/halcyon/files

fail() { echo "install.sh: $1" >&2; exit "${2:-1}"; }

prefix=""
is_removal=""
while [ $# -gt 0 ]; do
  case $1 in
    --prefix) [ -n "${2:-}" ] || fail "--prefix needs a folder." 2; prefix=$2; shift ;;
    --prefix=?*) prefix=${1#--prefix=} ;;
    --prefix=) fail "--prefix needs a folder." 2 ;;
    --uninstall) is_removal=1 ;;
    -h | --help) sed -n '2,4s/^# //p' "$0"; exit 0 ;;
    *) fail "$1 is not known. It takes --prefix FOLDER and --uninstall." 2 ;;
  esac
  shift
done
if [ -z "$prefix" ]; then
  if [ "$(id -u)" = 0 ]; then prefix=/usr/local; else prefix=${HOME:?}/.local; fi
fi
case $prefix in /*) ;; *) prefix=$PWD/$prefix ;; esac

# Removes the files of an installation that the list in $1 does not have, and the folders that are only its own.
remove_except() {
  while IFS= read -r file; do
    grep -qxF -e "$file" "$1" || rm -f "$prefix/$file"
  done <"$prefix/$list"
  find "$prefix/share/doc/halcyon" -depth -type d -exec rmdir {} \; 2>/dev/null || :
}

if [ -n "$is_removal" ]; then
  [ -f "$prefix/$list" ] || fail "halcyon is not installed in $prefix: there is no $prefix/$list. Name another --prefix."
  echo "$list" >"$prefix/$list.all"
  cat "$prefix/$list" >>"$prefix/$list.all"
  mv "$prefix/$list.all" "$prefix/$list"
  remove_except /dev/null
  echo "halcyon is removed from $prefix. The cached images are left where they are." >&2
  exit 0
fi

cd "$here"
mkdir -p "$prefix/share/doc/halcyon" || fail "$prefix cannot be written: name another --prefix."
new=$(mktemp)
trap 'rm -f "$new"' EXIT
find bin share -type f | LC_ALL=C sort >"$new"
while IFS= read -r file; do
  mkdir -p "$prefix/$(dirname "$file")"
  # A program that is running cannot be written to, but another file can take its name.
  cp "$file" "$prefix/$file.new"
  mv -f "$prefix/$file.new" "$prefix/$file"
done <"$new"
[ ! -f "$prefix/$list" ] || remove_except "$new"
cp "$new" "$prefix/$list"
echo "halcyon is installed in $prefix; $here/install.sh --prefix '$prefix' --uninstall removes it." >&2
case ":$PATH:" in *":$prefix/bin:"*) ;; *) echo "Add $prefix/bin to PATH." >&2 ;; esac

# Prints the libraries that the programs in $@ lack.
lacking() { LC_ALL=C ldd "$@" 2>/dev/null | sed -n 's/^[[:space:]]*\([^ ]*\) => not found.*/\1/p' | sort -u | tr '\n' ' '; }

advise() {
  if command -v apt-get; then set -- apt-get install libjansson4 libsqlite3-0 libcurl4 libvips42
  elif command -v dnf; then set -- dnf install jansson sqlite-libs libcurl vips
  elif command -v zypper; then set -- zypper install libjansson4 libsqlite3-0 libcurl4 libvips42
  elif command -v pacman; then set -- pacman -S jansson sqlite curl libvips
  else set -- your package manager for jansson, SQLite, libcurl and libvips 8.14 or later; fi >/dev/null
  echo "Run: $*" >&2
}
server=$(lacking bin/halcyon)
codec=$(lacking bin/halcyon-codec)
[ -z "$codec" ] || echo "halcyon-codec, which resizes pictures, lacks $codec" >&2
if [ -n "$server" ]; then
  echo "halcyon does not start without $server" >&2
  advise
  exit 1
fi
[ -z "$codec" ] || advise
"$prefix/bin/halcyon" --version >/dev/null || fail "halcyon does not start on this machine."
echo "$prefix/bin/halcyon doctor tells what else this machine lacks." >&2
