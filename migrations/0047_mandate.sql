-- A card that a provider keeps for an order that somebody on a wait list agreed to beforehand (seats/orders/mandate.go). It
-- is there before the provider is asked for anything, and is forgotten there once its entry has ended, whatever ended it.
CREATE TABLE mandate (
    id         uuid PRIMARY KEY,
    method     text NOT NULL,            -- which provider
    email      text NOT NULL,            -- whose card; these three are empty once it was forgotten
    what       text NOT NULL,            -- what they read and agreed to
    back       text NOT NULL,            -- address of our own page, where they come back to
    state      text NOT NULL DEFAULT 'asked',
    reference  text NOT NULL DEFAULT '', -- the provider's name of the page on which it is given
    page       text NOT NULL DEFAULT '', -- that page, while it is open
    token      text NOT NULL DEFAULT '', -- what the provider knows the card by
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    tries      integer NOT NULL DEFAULT 0, -- to have it forgotten
    next_try   timestamptz NOT NULL DEFAULT clock_timestamp(),
    CONSTRAINT "a mandate is in one of four states" CHECK (state IN ('asked', 'given', 'ending', 'ended')),
    CONSTRAINT "a mandate that was given has a token" CHECK (state <> 'given' OR token <> ''),
    CONSTRAINT "of a mandate that ended nothing is kept" CHECK (state <> 'ended' OR token || email || what || back || page = '')
);

CREATE INDEX mandate_due ON mandate (next_try) WHERE state = 'ending';

ALTER TABLE mandate ENABLE ROW LEVEL SECURITY; -- the desk does not read it

ALTER TABLE entry ADD COLUMN mandate uuid REFERENCES mandate;
ALTER TABLE payment ADD COLUMN mandate uuid REFERENCES mandate;
ALTER TABLE offer ADD COLUMN unordered text NOT NULL DEFAULT ''; -- why it was not ordered for who agreed to that

CREATE UNIQUE INDEX "a mandate is of one entry" ON entry (mandate) WHERE mandate IS NOT NULL;
CREATE INDEX payment_by_mandate ON payment (mandate) WHERE mandate IS NOT NULL;

CREATE FUNCTION end_mandate() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    UPDATE mandate SET state = 'ending', next_try = clock_timestamp() WHERE id = OLD.mandate AND state IN ('asked', 'given');
    RETURN NULL;
END $$;

CREATE TRIGGER "a mandate ends with its entry" AFTER UPDATE OF state, mandate ON entry FOR EACH ROW
  WHEN (OLD.mandate IS NOT NULL AND (NEW.mandate IS DISTINCT FROM OLD.mandate OR NEW.state IN ('served', 'left', 'over')))
  EXECUTE FUNCTION end_mandate();
