-- What printed tickets of a team look like, and on which paper. Written by seats/pages.

ALTER TABLE team_branding
    ADD layout       text NOT NULL DEFAULT 'classic',
    ADD paper        text NOT NULL DEFAULT 'a4', -- that buyers get their tickets on
    ADD office_paper text NOT NULL DEFAULT 'a4', -- that the box office prints on; a roll is 80 mm wide
    ADD sponsor      text NOT NULL DEFAULT '',   -- a line at the foot of tickets
    ADD CONSTRAINT "a ticket has one of three layouts" CHECK (layout IN ('classic', 'poster', 'plain')),
    ADD CONSTRAINT "a ticket is for a paper that is known" CHECK (paper IN ('a4', 'a6') AND office_paper IN ('a4', 'a6', 'roll')),
    ADD CONSTRAINT "a sponsor is one short line" CHECK (length(sponsor) <= 120 AND sponsor !~ '[[:cntrl:]]');
