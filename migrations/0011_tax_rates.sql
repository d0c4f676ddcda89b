-- Tax rates that a team entered instead of those in seats/pricing/rates.json.

-- Rates of a country, in thousandths of a percent. Written by seats/pricing.
CREATE TABLE tax_rate (
    team_id    bigint NOT NULL REFERENCES team,
    country    text NOT NULL,                  -- ISO 3166-1 alpha-2
    name       text NOT NULL,                  -- of the country
    standard   integer NOT NULL,
    reduced    integer[] NOT NULL DEFAULT '{}',
    by_line    boolean NOT NULL DEFAULT false, -- the tax is rounded for each ticket, not once for an order
    changed_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (team_id, country),
    CONSTRAINT "a tax rate is of a country" CHECK (country ~ '^[A-Z]{2}$' AND length(name) BETWEEN 1 AND 60),
    CONSTRAINT "a tax rate is less than 100 percent" CHECK (standard BETWEEN 0 AND 99999 AND 0 <= ALL (reduced) AND 100000 > ALL (reduced)),
    CONSTRAINT "a country has few reduced rates" CHECK (cardinality(reduced) <= 6)
);

CALL desk_wall('tax_rate', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE, DELETE');
