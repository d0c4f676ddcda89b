#!/bin/bash
# Installs what make release and make image made where nothing else is, and sells tickets there:
#   1. the archive, in a Debian without anything but PostgreSQL: checksum, signature, one command, a crowd, the books; the data folder
#      is lost, and comes back as of a second in the past (with pgBackRest)
#   2. the image, with a read-only root, as user 65532, behind Caddy with TLS: its health, a crowd, SIGTERM
#   3. with PREVIOUS=FILE, an upgrade from that program: two nodes behind Caddy, one after the other, while a crowd buys
# As root on Debian; it installs debootstrap, podman, runc, caddy, prometheus and systemd. Everything it starts is on this machine and ends with it.
set -euo pipefail
cd "$(dirname "$0")/../.."
apt-get install -y -qq --no-install-recommends debootstrap podman runc caddy prometheus postgresql openssh-client curl systemd >/dev/null
here=$(mktemp -d) chroot=$here/debian
started=()
finish() {
	for pid in "${started[@]}"; do kill "$pid" 2>/dev/null || true; done
	wait
	podman rm --force --time 5 usher-try >/dev/null 2>&1 || true
	umount "$chroot/proc" 2>/dev/null || true
	rm -rf "$here"
}
trap finish EXIT
say() { printf '\n== %s\n' "$*"; }
until_true() { for _ in $(seq 300); do "$@" >/dev/null 2>&1 && return; sleep 0.2; done; echo "never: $*"; tail -n 20 "$here"/*.log; return 1; }
crowd() { "$@" --scenario places --people 80 --over 5s --buy --again 60s; } # of one address: most of them prove that they are browsers

promtool test rules contrib/alerts_test.yml
systemd-analyze security --offline=true --threshold=20 contrib/usher.service | tail -1 # 2.0 of 10 at most

archive=$(ls "$PWD"/dist/usher-*-linux-"$(go env GOARCH)".tar.gz)
say "1. $(basename "$archive") in a Debian with PostgreSQL"
cp dist/checksums.txt* "$here/"
if [ ! -f "$here/checksums.txt.sig" ]; then # an unsigned release is signed by a key of this run
	ssh-keygen -q -t ed25519 -N '' -f "$here/key"
	ssh-keygen -q -Y sign -f "$here/key" -n usher-release "$here/checksums.txt"
	ALLOWED_SIGNERS=$here/signers
	echo "usher $(cat "$here/key.pub")" > "$ALLOWED_SIGNERS"
fi
: "${ALLOWED_SIGNERS:?is to name the file with the public key of the signature}"
ssh-keygen -Y verify -f "$ALLOWED_SIGNERS" -I usher -n usher-release -s "$here/checksums.txt.sig" < dist/checksums.txt
(cd dist && sha256sum --quiet --check checksums.txt)
debootstrap --variant=minbase --include=postgresql,pgbackrest,ca-certificates bookworm "$chroot" >"$here/debootstrap.log" || { tail "$here/debootstrap.log"; exit 1; }
mount -t proc proc "$chroot/proc"
tar -xzf "$archive" -C "$chroot/opt"
ln -s "/opt/$(basename "$archive" .tar.gz)/usher" "$chroot/usr/local/bin/usher"
inside=(chroot "$chroot" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin:/usr/local/bin HOME=/root)
"${inside[@]}" usher --version
"${inside[@]}" usher serve --addr 127.0.0.1:18180 --data /srv/usher --archive /srv/archive >"$here/archive.log" 2>&1 & started+=($!)
until_true "${inside[@]}" usher healthcheck --addr 127.0.0.1:18180
"${inside[@]}" usher event create --plan conference --name "First night" --data /srv/usher
crowd "${inside[@]}" usher rush --url http://127.0.0.1:18180 --event first-night
"${inside[@]}" usher verify --data /srv/usher
until_true grep -q "a backup was written into the archive" "$here/archive.log"
sold=$("${inside[@]}" usher event list --data /srv/usher)
sleep 2; before=$(date -u +%FT%TZ); sleep 2
"${inside[@]}" usher event create --plan conference --name "A mistake" --data /srv/usher >/dev/null
kill -TERM "${started[0]}"; wait "${started[0]}" || true
rm -rf "$chroot/srv/usher/postgres"
"${inside[@]}" usher restore --to "$before" --archive /srv/archive --data /srv/usher
[ "$("${inside[@]}" usher event list --data /srv/usher)" = "$sold" ] || { echo "restored are other sales than those of $before"; exit 1; }

say "2. the image, behind Caddy"
new=$chroot/opt/$(basename "$archive" .tar.gz)/usher
postgres=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
mkdir "$here/sql" && chown -R postgres "$here/sql" && chmod 711 "$here"
su postgres -s /bin/sh -c "'$postgres/initdb' -D '$here/sql/data' --auth=trust >/dev/null && exec '$postgres/postgres' -D '$here/sql/data' -p 18432 -k '$here/sql'" >"$here/postgres.log" 2>&1 & started+=($!)
until_true "$postgres/pg_isready" -h 127.0.0.1 -p 18432
export DATABASE_URL=postgres://postgres@127.0.0.1:18432/postgres USHER_SECRET_KEY
USHER_SECRET_KEY=$("$new" secrets key)
proxy() { # proxy UPSTREAMS: Caddy with a certificate of its own authority
	HOST="https://localhost:18443" USHER=$1 XDG_DATA_HOME=$here/caddy XDG_CONFIG_HOME=$here/caddy HOME=$here caddy run --config "$here/Caddyfile" >"$here/caddy.log" 2>&1 & started+=($!)
}
{ printf '{\n\tadmin off\n\thttp_port 18081\n\tskip_install_trust\n\tlocal_certs\n}\n'; cat contrib/Caddyfile; } > "$here/Caddyfile"
# As Docker starts it; this process may have fewer descriptors than the standard limits of Podman ask for.
podman --runtime runc --cgroup-manager cgroupfs run --detach --name usher-try --network host --read-only --tmpfs /tmp --cap-drop all --security-opt no-new-privileges \
	--ulimit "nofile=$(ulimit -n):$(ulimit -n)" --ulimit nproc=1000:1000 --env DATABASE_URL --env USHER_SECRET_KEY --env USHER_ADDR=127.0.0.1:18181 \
	--env USHER_URL=https://localhost:18443 --env USHER_ADDRESS_HEADER=X-Forwarded-For --volume usher-try:/data localhost/usher:latest >/dev/null
until_true podman healthcheck run usher-try
podman exec usher-try /usher healthcheck
proxy 127.0.0.1:18181
until_true curl --fail --silent --insecure https://localhost:18443/readyz
export SSL_CERT_FILE=$here/caddy/caddy/pki/authorities/local/root.crt
"$new" event create --plan conference --name "Second night"
crowd "$new" rush --url https://localhost:18443 --event second-night
podman stop --time 45 usher-try >/dev/null
[ "$(podman inspect --format '{{.State.ExitCode}} {{.Config.User}}' usher-try)" = "0 65532:65532" ] || { podman logs usher-try | tail; exit 1; }
"$new" verify

if [ -n "${PREVIOUS:-}" ]; then
	say "3. an upgrade from $("$PREVIOUS" --version)"
	kill -TERM "${started[-1]}"; wait "${started[-1]}" || true
	"$postgres/createdb" -h 127.0.0.1 -p 18432 -U postgres previous
	export DATABASE_URL=postgres://postgres@127.0.0.1:18432/previous USHER_ADDRESS_HEADER=X-Forwarded-For USHER_URL=https://localhost:18443 USHER_DRAIN=3s
	serve() { "$1" serve --addr "127.0.0.1:$2" --data "$here/mail" >"$here/$2.log" 2>&1 & started+=($!); until_true "$new" healthcheck --addr "127.0.0.1:$2"; }
	serve "$PREVIOUS" 18182; one=${started[-1]}
	serve "$PREVIOUS" 18183; two=${started[-1]}
	"$PREVIOUS" event create --plan conference --name "Third night" >/dev/null
	sed -i 's|reverse_proxy .*|reverse_proxy 127.0.0.1:18182 127.0.0.1:18183 {\n\t\thealth_uri /readyz\n\t\thealth_interval 500ms\n\t\tlb_try_duration 5s|' "$here/Caddyfile"
	proxy unused
	until_true curl --fail --silent --insecure https://localhost:18443/readyz
	"$PREVIOUS" rush --url https://localhost:18443 --event third-night --scenario places --people 150 --over 40s --buy --again 60s & crowd=$!
	"$new" migrate --plan | head -1
	sleep 5; kill -TERM "$one"; wait "$one"; serve "$new" 18182
	sleep 5; kill -TERM "$two"; wait "$two"; serve "$new" 18183
	wait "$crowd"
	"$new" verify
fi
say "all of it works"
