#!/bin/sh
# Applies each mutant of this folder, or those named, to a copy of the tree, and demands that the test which its first line
# names fails there: "# test: <go package> <TestName>".
set -u
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
[ $# -gt 0 ] || set -- $(cd "$here" && ls *.patch | sed 's/\.patch$//')
copy=$(mktemp -d)
chmod 711 "$copy" # PostgreSQL is another user
export TMPDIR="$copy" # each mutant of the schema makes data of its own
trap 'rm -rf "$copy"' EXIT
trap 'exit 1' INT TERM
missed=0
passed=' ' # tests that passed on the tree as it is
for name; do
	patch="$here/$name.patch"
	read -r _ _ package test <"$patch"
	rm -rf "$copy/tree" && mkdir "$copy/tree"
	(cd "$root" && git ls-files -z --cached --others --exclude-standard | tar --null -T - --ignore-failed-read -cf - 2>/dev/null) | tar -C "$copy/tree" -xf -
	case $passed in *" $package:$test "*) ;; *)
		if ! (cd "$copy/tree" && go test -trimpath -vet=off -count=1 -timeout 3m -v -run "^$test\$" "$package") >"$copy/out" 2>&1 || ! grep -q -e "--- PASS: $test" "$copy/out"; then
			cat "$copy/out"
			echo "$name: $test does not pass without the mutant"
			missed=1
			continue
		fi
		passed="$passed$package:$test "
	esac
	if ! (cd "$copy/tree" && git apply --unsafe-paths "$patch"); then
		echo "$name: the patch does not apply"
		missed=1
	elif ! (cd "$copy/tree" && go vet "$package") >"$copy/out" 2>&1; then
		cat "$copy/out"
		echo "$name: the mutant does not compile"
		missed=1
	elif (cd "$copy/tree" && go test -trimpath -vet=off -count=1 -timeout 3m -run "^$test\$" "$package") >"$copy/out" 2>&1; then
		echo "$name: NOT CAUGHT by $test"
		missed=1
	elif ! grep -q -e "--- FAIL: $test" "$copy/out"; then
		cat "$copy/out"
		echo "$name: $test did not run"
		missed=1
	else
		echo "$name: caught by $test"
	fi
done
exit $missed
