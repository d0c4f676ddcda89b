-- The public log of an event (docs/audit-log.md): its changes as leaves of a Merkle tree, of which the root is signed. Written by seats/publiclog.
CREATE TABLE public_log (
    event_id   bigint PRIMARY KEY REFERENCES event,
    enabled    boolean NOT NULL DEFAULT true,
    origin     text NOT NULL DEFAULT '',        -- the first line of checkpoints, from the beginning on; empty: it has not begun
    secret     bytea,                           -- the key that signs and the salts follow from it; sealed (seats/seal) if the operator set a key
    verifier   text NOT NULL DEFAULT '',        -- the public key, as a vkey of signed notes
    size       bigint NOT NULL DEFAULT 0,       -- leaves
    version    bigint NOT NULL DEFAULT -1,      -- of the event, that the last leaves are about
    at         timestamptz,                     -- of the last leaf
    presale    boolean NOT NULL DEFAULT false,  -- a statement says that codes claim before the doors open
    draw       bytea,                           -- the commitment of the last statement about a draw
    checkpoint text NOT NULL DEFAULT '',        -- the signed root of all leaves
    signed_at  timestamptz,
    CONSTRAINT "a secret has 32 bytes, or 80 sealed" CHECK (octet_length(secret) IN (32, 80)),
    CONSTRAINT "a log that began has a key and an origin" CHECK (size = 0 OR secret IS NOT NULL AND origin <> '' AND verifier <> ''),
    CONSTRAINT "leaves are signed" CHECK ((size = 0) = (checkpoint = '') AND (size = 0) = (signed_at IS NULL) AND (size = 0) = (at IS NULL))
) WITH (fillfactor = 50);

-- What was signed is never taken back: a second wall against a fork.
CREATE FUNCTION public_log_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF NEW.size < OLD.size OR NEW.version < OLD.version OR NEW.size = OLD.size AND (NEW.checkpoint, NEW.version) IS DISTINCT FROM (OLD.checkpoint, OLD.version)
       OR OLD.size > 0 AND (NEW.origin, NEW.verifier) IS DISTINCT FROM (OLD.origin, OLD.verifier) THEN
        RAISE EXCEPTION 'a public log only grows';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER "a log only grows" BEFORE UPDATE ON public_log FOR EACH ROW EXECUTE FUNCTION public_log_grows();

-- A tile of the tree. Written by seats/publiclog. The last one of a level grows until it has 256 hashes.
CREATE TABLE public_log_tile (
    event_id bigint NOT NULL REFERENCES public_log,
    level    smallint NOT NULL,
    n        bigint NOT NULL,
    hashes   bytea NOT NULL,
    version  bigint NOT NULL DEFAULT 0, -- of level 0: where its first leaf is in the change log
    part     integer NOT NULL DEFAULT 0,
    PRIMARY KEY (event_id, level, n),
    CONSTRAINT "a tile has 1 to 256 hashes" CHECK (octet_length(hashes) BETWEEN 32 AND 8192 AND octet_length(hashes) % 32 = 0)
);
ALTER TABLE public_log_tile ALTER COLUMN hashes SET STORAGE EXTERNAL; -- hashes do not compress

CREATE FUNCTION public_log_tile_grows() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    IF substr(NEW.hashes, 1, octet_length(OLD.hashes)) <> OLD.hashes OR (NEW.version, NEW.part) <> (OLD.version, OLD.part) THEN
        RAISE EXCEPTION 'a tile of a public log only grows';
    END IF;
    RETURN NEW;
END $$;
CREATE TRIGGER "a tile only grows" BEFORE UPDATE ON public_log_tile FOR EACH ROW EXECUTE FUNCTION public_log_tile_grows();

-- A leaf that is no change of seats: a statement. Written by seats/publiclog, and never changed.
CREATE TABLE public_log_statement (
    event_id bigint NOT NULL REFERENCES public_log,
    leaf     bigint NOT NULL,
    at       timestamptz NOT NULL,
    text     text NOT NULL,
    PRIMARY KEY (event_id, leaf)
);

-- The leaf that sold a seat the last time: for the code on its ticket. Written by seats/publiclog.
CREATE TABLE public_log_seat (
    event_id bigint NOT NULL REFERENCES public_log,
    idx      integer NOT NULL,
    leaf     bigint NOT NULL,
    version  bigint NOT NULL,
    PRIMARY KEY (event_id, idx)
) WITH (fillfactor = 80);

-- Events that were there before have no log until their organizer switches it on.
INSERT INTO public_log (event_id, enabled) SELECT id, false FROM event;

CALL desk_wall('public_log', 'event_id IN (SELECT id FROM event)',
    'SELECT (event_id, enabled, origin, verifier, size, version, at, presale, draw, checkpoint, signed_at), UPDATE (enabled)');
CALL desk_wall('public_log_tile', 'event_id IN (SELECT id FROM event)', '');
CALL desk_wall('public_log_statement', 'event_id IN (SELECT id FROM event)', '');
CALL desk_wall('public_log_seat', 'event_id IN (SELECT id FROM event)', '');
