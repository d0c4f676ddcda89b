-- Witnesses cosign the roots of a public log (docs/audit-log.md). Written by seats/publiclog.
ALTER TABLE public_log
    ADD COLUMN cosigned      text NOT NULL DEFAULT '',       -- the newest root that a witness cosigned, with all signatures, then those of witnesses that are behind
    ADD COLUMN cosigned_size bigint NOT NULL DEFAULT 0,      -- its leaves
    ADD COLUMN unanswered    boolean NOT NULL DEFAULT false, -- a witness has not cosigned that root
    ADD COLUMN asked_at      timestamptz,                    -- when a node asked witnesses the last time
    ADD CONSTRAINT "a root that is cosigned was signed" CHECK (cosigned_size BETWEEN 0 AND size AND (cosigned_size = 0) = (cosigned = ''));
