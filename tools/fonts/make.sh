#!/usr/bin/env bash
# Writes the Noto fonts of papers, static/print/noto-*.br, of the packages of Debian 12. Needs apt-get and five minutes. It downloads
# into a folder of its own, and installs python3-fonttools and python3-brotli if they are missing and it may.
set -euo pipefail
into=$(cd "$(dirname "$0")/../../static/print" && pwd)
here=$(cd "$(dirname "$0")" && pwd)
/usr/bin/python3 -c 'import fontTools, brotli' 2>/dev/null || apt-get install -y -qq --no-install-recommends python3-fonttools python3-brotli
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get download -qq fonts-noto-core=20201225-1 fonts-noto-cjk=1:20220127+repack1-1
for package in ./*.deb; do dpkg-deb -x "$package" .; done
nice /usr/bin/python3 "$here/make.py" usr/share/fonts "$into"
