#!/bin/sh
# Builds the image usher:VERSION and usher:latest of the program for ARCH (amd64 or arm64; this machine's unless said
# otherwise), with docker, podman or buildah, whichever is there.
set -eu
cd "$(dirname "$0")/../.."
arch=${ARCH:-$(go env GOARCH)}
root=dist/image
rm -rf "$root" && mkdir -p "$root/data" "$root/tmp" "$root/etc/ssl/certs"
GOFLAGS=-trimpath CGO_ENABLED=0 GOWORK=off GOOS=linux GOARCH=$arch go build -buildvcs=true -ldflags='-s -w' -o "$root/usher" ./cmd/usher
version=$(go version -m "$root/usher" | awk '$1 == "mod" { print $3 }')
cp /etc/ssl/certs/ca-certificates.crt "$root/etc/ssl/certs/"
cp "$(go env GOROOT)/lib/time/zoneinfo.zip" "$root/"
tag=$(echo "${version#v}" | tr + -)
set -- --platform "linux/$arch" --label "org.opencontainers.image.version=$version" --label org.opencontainers.image.licenses=Apache-2.0 \
	--tag "usher:$tag" --tag usher:latest --file contrib/Dockerfile "$root"
if docker info >/dev/null 2>&1; then docker build "$@"
elif command -v podman >/dev/null; then podman build --isolation=chroot --format docker "$@"
elif command -v buildah >/dev/null; then buildah build --isolation=chroot --format docker "$@"
else echo "docker, podman or buildah builds an image; none is here:  sudo apt-get install -y podman" >&2; exit 1; fi
echo "built usher:$tag"
