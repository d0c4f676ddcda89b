-- The sums of book_order for each month of an event, by what day sums (book_day) do not have: reports of long times add up months, and days at
-- their edges only. Written by seats/books through the triggers below, so it is exact beside a program that does not know of it.
CREATE TABLE book_month (
    team_id   bigint NOT NULL,
    month     date NOT NULL, -- its first day, at the event's place
    event_id  bigint NOT NULL,
    category  smallint NOT NULL,
    type      smallint NOT NULL,
    currency  text NOT NULL,
    line      text NOT NULL,
    reason    text NOT NULL,
    postings  bigint NOT NULL, -- 0: orders that were counted here are counted elsewhere now
    tickets   bigint NOT NULL,
    gross     bigint NOT NULL,
    exchanged bigint NOT NULL,
    refunds   bigint NOT NULL,
    fees      bigint NOT NULL,
    tax       bigint NOT NULL,
    PRIMARY KEY (team_id, month, event_id, category, type, currency, line, reason)
);
CALL desk_wall('book_month', 'team_id = desk_team()');

-- It writes as the owner of the tables: what months have follows from book_order, and a program has no rights to write them itself.
CREATE FUNCTION sum_book_months() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER AS $$
DECLARE
    sign integer := CASE TG_OP WHEN 'DELETE' THEN -1 ELSE 1 END;
BEGIN
    INSERT INTO book_month AS m
    SELECT team_id, date_trunc('month', day)::date, event_id, category, type, currency, line, reason, sign * sum(postings), sign * sum(tickets),
           sign * sum(gross), sign * sum(exchanged), sign * sum(refunds), sign * sum(fees), sign * sum(tax)
      FROM changed WHERE team_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8
        ON CONFLICT (team_id, month, event_id, category, type, currency, line, reason) DO UPDATE
       SET postings = m.postings + excluded.postings, tickets = m.tickets + excluded.tickets, gross = m.gross + excluded.gross,
           exchanged = m.exchanged + excluded.exchanged, refunds = m.refunds + excluded.refunds, fees = m.fees + excluded.fees, tax = m.tax + excluded.tax;
    RETURN NULL;
END $$;
DO $$ BEGIN EXECUTE format('ALTER FUNCTION sum_book_months() SET search_path = %I, pg_temp', current_schema()); END $$;

-- Until this is done book_order is read and not written: orders wait for being counted, and the books read them as changed.
CREATE TRIGGER "months have what is counted" AFTER INSERT ON book_order REFERENCING NEW TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sum_book_months();
CREATE TRIGGER "months have what is counted no more" AFTER DELETE ON book_order REFERENCING OLD TABLE AS changed FOR EACH STATEMENT EXECUTE FUNCTION sum_book_months();
INSERT INTO book_month
SELECT team_id, date_trunc('month', day)::date, event_id, category, type, currency, line, reason,
       sum(postings), sum(tickets), sum(gross), sum(exchanged), sum(refunds), sum(fees), sum(tax)
  FROM book_order WHERE team_id IS NOT NULL GROUP BY 1, 2, 3, 4, 5, 6, 7, 8;
