#!/bin/bash
# move-house.sh HOUSE FROM TO: moves a house to another PostgreSQL while it sells. Nothing that was confirmed is lost: for a moment
# requests are answered with "try again", and from then on only the copy takes them. docs/houses.md says what to do before and after.
# FROM and TO are addresses of the two databases, for superusers; FROM needs wal_level=logical. PEER is FROM as TO reaches it.
set -euo pipefail
[ $# = 3 ] || { sed -n '2,4s/^# //p' "$0"; exit 2; }
house=$1 from=$2 to=$3 peer=${PEER:-$2}
[[ $house =~ ^[a-z][a-z0-9_]{0,39}$ ]] || { echo "$house is not the name of a house"; exit 2; }
at() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --set house="$house" --dbname "$1" "${@:2}"; }
[ "$(at "$from" <<<"SELECT to_regclass(:'house' || '.migration') IS NOT NULL")" = t ] || { echo "there is no house $house at the first address"; exit 1; }
[ "$(at "$to" <<<"SELECT to_regnamespace(:'house') IS NULL")" = t ] || { echo "there is a house $house at the second address already"; exit 1; }
[ "$(at "$from" <<<"SHOW wal_level")" = logical ] || { echo "the first PostgreSQL needs wal_level=logical, and a restart"; exit 1; }

undo() {
	echo "$house is not moved; it goes on where it was" >&2
	at "$from" <<-'SQL' || true
		SELECT format('ALTER SCHEMA %I RENAME TO %I', :'house' || '_moved', :'house') WHERE to_regnamespace(:'house' || '_moved') IS NOT NULL \gexec
	SQL
	at "$to" <<-'SQL' || true
		SELECT format('DROP SUBSCRIPTION IF EXISTS %I', 'move_' || :'house') \gexec
		SELECT format('DROP SCHEMA IF EXISTS %I CASCADE', :'house') \gexec
	SQL
	at "$from" <<<"SELECT format('DROP PUBLICATION IF EXISTS %I', 'move_' || :'house') \gexec" || true
}
trap undo ERR

# 1. Its tables, empty, with the owner that they have, and the roles that their rights name.
at "$to" <<-'SQL'
	SELECT format('CREATE ROLE %I NOLOGIN', name) FROM unnest('{usher_desk,usher_serve}'::text[]) name WHERE to_regrole(name) IS NULL \gexec
SQL
pg_dump --schema="$house" --schema-only --no-publications --no-subscriptions --dbname "$from" | at "$to" >/dev/null
at "$to" <<<"SELECT format('GRANT usher_desk TO %I', rolname) FROM pg_namespace n JOIN pg_roles r ON r.oid = nspowner WHERE nspname = :'house' AND NOT pg_has_role(rolname, 'usher_desk', 'MEMBER') \gexec"

# 2. Their rows, and all changes. A table without a key is followed by whole rows.
at "$from" <<-'SQL'
	SELECT format('ALTER TABLE %s REPLICA IDENTITY FULL', c.oid::regclass) FROM pg_class c
	 WHERE c.relkind = 'r' AND c.relnamespace = to_regnamespace(:'house') AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary) \gexec
	SELECT format('CREATE PUBLICATION %I FOR TABLES IN SCHEMA %I', 'move_' || :'house', :'house') \gexec
SQL
at "$to" --set peer="$peer" <<-'SQL'
	SELECT format('CREATE SUBSCRIPTION %I CONNECTION %L PUBLICATION %I', 'move_' || :'house', :'peer', 'move_' || :'house') \gexec
SQL
echo "$house is being copied"
until [ "$(at "$to" <<<"SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel WHERE srsubid = (SELECT oid FROM pg_subscription WHERE subname = 'move_' || :'house')")" = t ]; do sleep 0.5; done

# 3. The end of the house where it was: under locks of all its tables its schema gets another name. What waits for a lock then finds no table.
# Claims wait half a second at most; if others do not let go so soon, they pass and it is tried again.
for try in $(seq 60); do
	if at "$from" 2>/dev/null <<-'SQL'
		BEGIN;
		SET LOCAL lock_timeout = '500ms';
		SELECT string_agg(format('%s', oid::regclass), ', ' ORDER BY array_position('{event,hold,seat_state,counter,change}', relname::text), relname) AS tables
		  FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(:'house') \gset
		LOCK TABLE :tables IN ACCESS EXCLUSIVE MODE;
		SELECT format('ALTER SCHEMA %I RENAME TO %I', :'house', :'house' || '_moved') \gexec
		COMMIT;
	SQL
	then
		fenced=1
		break
	fi
	sleep 0.$((RANDOM % 5 + 2))
done
[ "${fenced:-}" = 1 ] || { echo "its tables were busy for too long"; false; }

# 4. What the copy does not have yet, and the numbers that ids go on from.
end=$(at "$from" <<<"SELECT pg_current_wal_lsn()")
until [ "$(at "$from" --set end="$end" <<<"SELECT bool_and(confirmed_flush_lsn >= :'end') FROM pg_replication_slots WHERE slot_name = 'move_' || :'house'")" = t ]; do sleep 0.1; done
at "$from" <<-'SQL' | at "$to" >/dev/null
	SELECT format('SELECT setval(%L, %s);', format('%I.%I', :'house', sequencename), last_value) FROM pg_sequences WHERE schemaname = :'house' || '_moved' AND last_value IS NOT NULL;
SQL
at "$to" <<<"SELECT format('DROP SUBSCRIPTION %I', 'move_' || :'house') \gexec"
trap - ERR
at "$from" <<<"SELECT format('DROP PUBLICATION %I', 'move_' || :'house') \gexec"
echo "$house is at the second address, and was without an answer from the rename of its schema until now. Serve it there, and verify it."
echo "What it was before is the schema ${house}_moved of the first: drop it when you have a backup of the new one."
