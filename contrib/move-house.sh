#!/bin/bash
# move-house.sh HOUSE FROM TO: moves a house to another PostgreSQL while it sells. Nothing that was confirmed is lost: for a moment
# requests are answered with "try again", and from then on only the copy takes them. docs/houses.md says what to do before and after.
# FROM and TO lead superusers to the two databases, such as service=db1. Their passwords are in the file that PGPASSFILE names.
# FROM needs wal_level=logical. PEER in the environment is FROM as the server of TO reaches it.
set -euo pipefail
[ $# = 3 ] || { sed -n '2,5s/^# //p' "$0"; exit 2; }
house=$1 from=$2 to=$3
[[ $house =~ ^[a-z][a-z0-9_]{0,39}$ ]] || { echo "$house is not the name of a house" >&2; exit 2; }
if [[ "$from $to" =~ password|://[^/@]*:[^/@]*@ ]]; then
	echo "an address has a password in it, which all users of this machine can read: put it into the file that PGPASSFILE names" >&2
	exit 2
fi
export PEER=${PEER:-$from} PGAPPNAME=move_$house PGCONNECT_TIMEOUT=5
at() { psql --no-psqlrc --quiet --tuples-only --no-align --set ON_ERROR_STOP=1 --set house="$house" --dbname "$1" "${@:2}"; }
refuse() { echo "$1" >&2; exit 1; }
is() { # whether a condition holds at an address. The script ends if it cannot be asked
	local holds
	holds=$(at "$1" <<<"SELECT coalesce($2, false)") || exit 1
	[ "$holds" = t ]
}
is "$from" "to_regclass(:'house' || '.migration') IS NOT NULL" || refuse "there is no house $house at the first address"
is "$from" "to_regnamespace(:'house' || '_moved') IS NULL" || refuse "the first address has a schema ${house}_moved, from an earlier move: drop it, or rename it"
is "$to" "to_regnamespace(:'house') IS NULL" || refuse "there is a house $house at the second address already"
is "$from" "current_setting('wal_level') = 'logical'" || refuse "the first PostgreSQL needs wal_level=logical, and a restart"
is "$from" "NOT EXISTS (SELECT FROM pg_publication WHERE pubname = 'move_' || :'house') AND NOT EXISTS (SELECT FROM pg_replication_slots WHERE slot_name = 'move_' || :'house')" ||
	refuse "$house is being moved by another script, or one was killed: its publication or slot move_$house is at the first address"
is "$to" "NOT EXISTS (SELECT FROM pg_subscription WHERE subname = 'move_' || :'house')" ||
	refuse "$house is being moved by another script, or one was killed: its subscription move_$house is at the second address"

# What ends before the copy is whole is undone, also what a signal ends. The house comes first, then what holds WAL, then the copy.
full='' syncs='' left=()
back() { # runs COMMAND at ADDRESS, called NAME, where CONDITION holds; a command that fails until the time is over is left
	until at "$1" --set command="$3" >/dev/null 2>&1 <<<"SET lock_timeout = '500ms'; SELECT :'command' WHERE $4 \gexec"; do
		[ $SECONDS -lt "$ends" ] || { left+=("at the $2 address: $3;"); return 0; }
		sleep 0.5
	done
}
undo() {
	trap - EXIT
	trap '' INT TERM HUP PIPE
	set +e
	local ends=$((SECONDS + 15)) table open
	local others="SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE application_name = 'move_$house' AND pid <> pg_backend_pid()"
	back "$from" first "$others" true # what this script began there
	back "$from" first "ALTER SCHEMA \"${house}_moved\" RENAME TO \"$house\"" "to_regnamespace('${house}_moved') IS NOT NULL AND to_regnamespace('$house') IS NULL"
	back "$from" first "DROP PUBLICATION IF EXISTS \"move_$house\"" true
	for table in $full; do back "$from" first "ALTER TABLE \"$house\".$table REPLICA IDENTITY DEFAULT" true; done
	ends=$((SECONDS + 15))
	local subscribed="EXISTS (SELECT FROM pg_subscription WHERE subname = 'move_$house')"
	back "$to" second "$others" true
	back "$to" second "ALTER SUBSCRIPTION \"move_$house\" DISABLE" "$subscribed"
	back "$to" second "ALTER SUBSCRIPTION \"move_$house\" SET (slot_name = NONE)" "$subscribed"
	back "$to" second "DROP SUBSCRIPTION \"move_$house\"" "$subscribed"
	back "$to" second "DROP SCHEMA IF EXISTS \"$house\" CASCADE" true
	ends=$((SECONDS + 15))
	back "$from" first "SELECT pg_terminate_backend(active_pid, 5000), pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE slot_name = 'move_$house' OR slot_name LIKE '$syncs'" true
	open=$(at "$from" 2>&1 <<<"SELECT to_regclass(:'house' || '.migration') IS NOT NULL")
	if [ "$open" = t ]; then
		echo "$house is not moved; it goes on where it was" >&2
	else
		echo "$house IS CLOSED, or its server is away: $open" >&2
	fi
	if [ ${#left[@]} -gt 0 ]; then
		echo "These commands failed. Until they are run, WAL may pile up at the first address:" >&2
		printf '%s\n' "${left[@]}" >&2
	fi
	exit 1
}
trap undo EXIT
trap 'exit 1' INT TERM HUP PIPE

# while_busy runs SQL at the first address until it gets its locks, each time for half a second at most, up to 60 times.
while_busy() {
	local sql said try
	sql=$(cat)
	for try in {1..60}; do
		if said=$(at "$from" --set VERBOSITY=verbose <<<"$sql" 2>&1); then return 0; fi
		[[ $said =~ (55P03|57014|40P01): ]] || break # a lock, the time, a deadlock
		sleep 0.$((RANDOM % 5 + 2))
	done
	echo "its tables were not to be had, $try times: $said" >&2
	return 1
}

# 1. Its tables, empty, with the owner that they have, and the roles that their rights name.
at "$to" <<-'SQL'
	SELECT format('CREATE ROLE %I NOLOGIN', name) FROM unnest('{usher_desk,usher_serve}'::text[]) name WHERE to_regrole(name) IS NULL \gexec
SQL
pg_dump --schema="$house" --schema-only --no-publications --no-subscriptions --dbname "$from" | at "$to" >/dev/null
at "$to" <<<"SELECT format('GRANT usher_desk TO %I', rolname) FROM pg_namespace n JOIN pg_roles r ON r.oid = nspowner WHERE nspname = :'house' AND NOT pg_has_role(rolname, 'usher_desk', 'MEMBER') \gexec"

# 2. Their rows, and all changes. A table without a key is followed by whole rows.
full=$(at "$from" <<-'SQL'
	SELECT string_agg(quote_ident(relname), ' ') FROM pg_class c WHERE relkind = 'r' AND relreplident = 'd' AND relnamespace = to_regnamespace(:'house')
	   AND NOT EXISTS (SELECT FROM pg_index i WHERE i.indrelid = c.oid AND i.indisprimary)
SQL
)
for table in $full; do while_busy <<<"SET lock_timeout = '500ms'; ALTER TABLE \"$house\".$table REPLICA IDENTITY FULL"; done
at "$from" <<<"SELECT format('CREATE PUBLICATION %I FOR TABLES IN SCHEMA %I', 'move_' || :'house', :'house') \gexec"
at "$to" <<-'SQL'
	\getenv peer PEER
	SET statement_timeout = '60s'; -- its slot waits for transactions that are open at the first address
	SELECT format('CREATE SUBSCRIPTION %I CONNECTION %L PUBLICATION %I', 'move_' || :'house', :'peer', 'move_' || :'house') \gexec
SQL
syncs=$(at "$to" <<<"SELECT format('pg_%s_sync_%%_%s', oid, system_identifier) FROM pg_subscription, pg_control_system() WHERE subname = 'move_' || :'house'")
echo "$house is being copied"
copied="(SELECT count(*) > 0 AND bool_and(srsubstate = 'r') FROM pg_subscription_rel JOIN pg_subscription s ON s.oid = srsubid WHERE subname = 'move_' || :'house')"
failing="(SELECT sync_error_count + apply_error_count > 20 FROM pg_stat_subscription_stats WHERE subname = 'move_' || :'house')"
until is "$to" "$copied"; do
	if is "$to" "$failing"; then refuse "the copy fails again and again: see the log of the second server"; fi
	sleep 0.5
done

# 3. The end of the house where it was: under locks of all its tables its schema gets another name. What waits for a lock then finds no table.
while_busy <<-'SQL'
	BEGIN;
	SET LOCAL lock_timeout = '500ms';
	SET LOCAL statement_timeout = '500ms'; -- for all locks together
	SELECT string_agg(format('%s', oid::regclass), ', ' ORDER BY array_position('{event,hold,seat_state,counter,change}', relname::text), relname) AS tables
	  FROM pg_class WHERE relkind = 'r' AND relnamespace = to_regnamespace(:'house') \gset
	LOCK TABLE :tables IN ACCESS EXCLUSIVE MODE;
	SELECT format('ALTER SCHEMA %I RENAME TO %I', :'house', :'house' || '_moved') \gexec
	COMMIT;
SQL
ends=$((SECONDS + 30))

# 4. What the copy does not have yet, and the numbers that ids go on from.
end=$(at "$from" <<<"SELECT pg_current_wal_lsn()")
slot="FROM pg_replication_slots WHERE slot_name = 'move_' || :'house'"
until is "$from" "(SELECT confirmed_flush_lsn >= '$end' $slot)"; do
	is "$from" "EXISTS (SELECT $slot)" || refuse "the slot of the copy is no longer there"
	[ $SECONDS -lt $ends ] || refuse "the copy does not have everything after 30 s"
	sleep 0.1
done
at "$from" <<-'SQL' | at "$to" >/dev/null
	SELECT format('SELECT setval(%L, %s);', format('%I.%I', :'house', sequencename), last_value) FROM pg_sequences WHERE schemaname = :'house' || '_moved' AND last_value IS NOT NULL;
SQL
at "$to" <<<"SELECT format('DROP SUBSCRIPTION %I', 'move_' || :'house') \gexec"
trap '' INT TERM HUP PIPE
trap - EXIT
publication="DROP PUBLICATION \"move_$house\""
at "$from" <<<"$publication" || echo "the publication is left. At the first address: $publication;" >&2
echo "$house is at the second address, and was without an answer from the rename of its schema until now. Serve it there, and verify it."
echo "What it was before is the schema ${house}_moved of the first: drop it when you have a backup of the new one."
