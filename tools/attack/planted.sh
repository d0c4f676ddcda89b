#!/bin/sh
# Opens a door in a copy of the tree for each patch of tools/attack/planted, or those named, and demands that make attack
# fails there, because the attack which the patch's first line names succeeds: "# attack: NAME".
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -gt 0 ] || set -- $(cd "$here/planted" && ls *.patch | sed 's/\.patch$//')
copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' INT TERM
missed=0
for name; do
	patch="$here/planted/$name.patch"
	read -r _ _ attack <"$patch"
	rm -rf "$copy/tree" && mkdir "$copy/tree"
	(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf - 2>/dev/null) | tar -C "$copy/tree" -xf -
	if ! (cd "$copy/tree" && git apply --unsafe-paths "$patch"); then
		echo "$name: the patch does not apply"
		missed=1
	elif make -C "$copy/tree" attack ONLY="$attack" >"$copy/out" 2>&1; then
		cat "$copy/out"
		echo "$name: NOT NOTICED by $attack"
		missed=1
	elif ! grep -q "^$attack .*BROKEN" "$copy/out"; then
		cat "$copy/out"
		echo "$name: $attack did not run, or did not succeed"
		missed=1
	else
		echo "$name: noticed by $attack"
	fi
done
exit $missed
