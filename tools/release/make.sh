#!/bin/sh
# Makes a release of the commit that is checked out, into dist/: for each system an archive with the program, the licenses
# of what is in it, and contrib/; checksums; a bill of materials; a signature, if SIGNING_KEY names a key of SSH.
# The same commit and the same Go make the same bytes. It wants GNU tar.
set -eu
cd "$(dirname "$0")/../.."
export LC_ALL=C TZ=UTC GOFLAGS=-trimpath CGO_ENABLED=0 GOWORK=off
[ -z "$(git status --porcelain)" ] || { echo "there are changes that no commit has: a release is made of a commit"; exit 1; }
time=$(git log -1 --format=%ct)
rm -rf dist && mkdir dist

build() { # build GOOS GOARCH FILE
	GOOS=$1 GOARCH=$2 go build -buildvcs=true -ldflags='-s -w' -o "$3" ./cmd/usher
}

# The licenses of all modules that are compiled in, and that of Go itself.
licenses() {
	mkdir -p "$1"
	cp "$(go env GOROOT)/LICENSE" "$1/go"
	GOOS=$2 GOARCH=$3 go list -deps -f '{{with .Module}}{{if not .Main}}{{.Path}} {{.Dir}}{{end}}{{end}}' ./cmd/usher | sort -u |
		while read -r path dir; do
			set -- "$dir"/[Ll][Ii][Cc][Ee][Nn][Ss]* "$dir"/COPYING*
			found=$(for file; do [ -f "$file" ] && echo "$file"; done; true)
			[ -n "$found" ] || { echo "$path has no license" >&2; exit 1; }
			mkdir -p "$licenses/$path"
			echo "$found" | while read -r file; do cp "$file" "$licenses/$path/"; done
		done
}

build "$(go env GOOS)" "$(go env GOARCH)" dist/usher
version=$(dist/usher --version | cut -d' ' -f2)
rm dist/usher
for target in linux/amd64 linux/arm64 darwin/amd64 darwin/arm64; do
	os=${target%/*} arch=${target#*/}
	name=usher-$version-$os-$arch
	mkdir "dist/$name"
	build "$os" "$arch" "dist/$name/usher"
	licenses=dist/$name/licenses
	licenses "$licenses" "$os" "$arch"
	cp -r LICENSE CHANGELOG.md README.md docs contrib "dist/$name/"
	chmod -R u=rwX,go=rX "dist/$name"
	tar --sort=name --format=ustar --mtime="@$time" --owner=0 --group=0 --numeric-owner -C dist -cf - "$name" | gzip -n -9 > "dist/$name.tar.gz"
	go run github.com/CycloneDX/cyclonedx-gomod/cmd/cyclonedx-gomod@v1.10.0 bin -json -std -licenses -noserial -notimestamp -version "$version" \
		-output "dist/$name.cdx.json" "dist/$name/usher"
	rm -r "dist/$name"
done
(cd dist && sha256sum usher-*.tar.gz usher-*.cdx.json > checksums.txt)
if [ -n "${SIGNING_KEY:-}" ]; then
	ssh-keygen -q -Y sign -f "$SIGNING_KEY" -n usher-release dist/checksums.txt
else
	echo "checksums.txt is not signed: SIGNING_KEY names no key"
fi
ls -l dist
