#!/bin/sh
# build.sh [FOLDER]: builds Citus of the source in FOLDER for the newest PostgreSQL of this machine, and installs it. It needs root on
# Debian, for the headers and for the folder of extensions. Where Citus is installed already, it does nothing.
set -eu
config=$(ls -v /usr/lib/postgresql/*/bin/pg_config 2>/dev/null | tail -1)
[ -z "$config" ] || [ ! -e "$("$config" --pkglibdir)/citus.so" ] || exit 0
version=v12.1.12 # the last line for PostgreSQL 15
source=${1:-}
if [ -z "$source" ] || [ ! -e "$source/configure" ]; then
	echo "Citus is not installed, and Debian has no package of it. Get its source:"
	echo "  curl -L https://github.com/citusdata/citus/archive/refs/tags/$version.tar.gz | tar xz"
	echo "then: make citus CITUS_SOURCE=the folder that this made"
	exit 1
fi
[ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || { echo "building Citus needs root on Debian"; exit 1; }
server=$(ls -v -d /usr/lib/postgresql/*/ | tail -1 | xargs basename)
apt-get update -qq
apt-get install -y -qq --no-install-recommends "postgresql-server-dev-$server" gcc make flex bison libicu-dev libkrb5-dev liblz4-dev libpam0g-dev \
	libreadline-dev libselinux1-dev libssl-dev libxslt1-dev libzstd-dev >/dev/null
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cp -R "$source/." "$folder"
cd "$folder"
touch configure src/include/citus_config.h.in # of an archive they may be older than what autoconf makes them of
{ ./configure --without-libcurl PG_CONFIG="/usr/lib/postgresql/$server/bin/pg_config" && make -j"$(nproc)" with_llvm=no && make install with_llvm=no; } >log 2>&1 || { tail -20 log; exit 1; }
