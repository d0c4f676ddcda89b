-- What a member of a team wants to be told of by email. Written by seats/alerts.
CREATE TABLE alert_choice (
    team_id      bigint NOT NULL,
    organizer_id bigint NOT NULL,
    kinds        text[] NOT NULL,                 -- of alerts; none: the member was told and wants none
    PRIMARY KEY (team_id, organizer_id),
    FOREIGN KEY (team_id, organizer_id) REFERENCES member ON DELETE CASCADE
);

-- When the alerts of a team were looked for last. Written by seats/alerts.
CREATE TABLE alert_look (
    team_id   bigint PRIMARY KEY REFERENCES team,
    looked_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- Something that a person of a team has to know, from when it began until it was over. Written by seats/alerts.
CREATE TABLE alert (
    id        bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    team_id   bigint NOT NULL REFERENCES team,
    event_id  bigint REFERENCES event,            -- null: it is about the team
    kind      text NOT NULL,
    cause     text NOT NULL,                      -- equal for the same cause
    about     jsonb NOT NULL,                     -- what there is to say of it: names no attendee
    began_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    ended_at  timestamptz,
    mailed_at timestamptz,                        -- when the members who chose its kind were mailed, if it lasted until then
    CONSTRAINT "an alert ends after it began" CHECK (ended_at >= began_at)
);

CREATE UNIQUE INDEX "a cause is raised once while it lasts" ON alert (team_id, cause) WHERE ended_at IS NULL;
CREATE INDEX alert_by_team ON alert (team_id, began_at);

CALL desk_wall('alert_choice', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('alert_look', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE');
CALL desk_wall('alert', 'team_id = desk_team()', 'SELECT, INSERT, UPDATE (ended_at, mailed_at)');

CREATE FUNCTION tell_alert() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO notice (hook_id, kind, data)
    SELECT h.id, 'alert.raised', jsonb_strip_nulls(jsonb_build_object('event', (SELECT slug FROM event WHERE id = NEW.event_id), 'alert', NEW.kind,
           'order', NEW.about->'order', 'amount', NEW.about->'amount', 'currency', NEW.about->'currency', 'n', NEW.about->'n'))
      FROM hook h WHERE h.team_id = NEW.team_id AND h.off_at IS NULL AND h.removed_at IS NULL AND 'alert.raised' = ANY (h.kinds);
    RETURN NULL;
END $$;
CREATE TRIGGER "an alert is told" AFTER INSERT ON alert FOR EACH ROW EXECUTE FUNCTION tell_alert();

-- A mail about alerts goes to a member.
ALTER TABLE mail
    DROP CONSTRAINT "a mail is of a known kind",
    ADD CONSTRAINT "a mail is of a known kind" CHECK (kind IN ('confirmation', 'cancellation', 'refund', 'moved', 'message', 'lost', 'confirm', 'link', 'security', 'invitation',
        'password', 'place', 'wait-verify', 'wait-offer', 'wait-missed', 'wait-left', 'join', 'reminder', 'paid', 'gift-card', 'gift-receipt', 'upcoming', 'thanks', 'exchanged', 'message-test', 'renewal', 'subscribed',
        'ticket-offer', 'ticket', 'ticket-void', 'email-allow', 'email-confirm', 'turn', 'resale-offer', 'passkey-added', 'passkey-removed', 'code', 'alert')) NOT VALID,
    DROP CONSTRAINT "a mail is about one thing, or goes to an address",
    ADD CONSTRAINT "a mail is about one thing, or goes to an address"
        CHECK (num_nonnulls(order_id, payment_id, email, entry_id, gift_card_id, transfer_id, email_change_id, resale_offer_id) = 1
           AND (kind IN ('link', 'security', 'invitation', 'password', 'place', 'message-test', 'turn', 'passkey-added', 'passkey-removed', 'code', 'alert')) = (email IS NOT NULL)
           AND (kind IN ('lost', 'confirm')) = (payment_id IS NOT NULL) AND (kind = 'invitation') = (invitation_id IS NOT NULL)
           AND (kind IN ('place', 'turn')) = (room_id IS NOT NULL) AND (kind IN ('gift-card', 'gift-receipt')) = (gift_card_id IS NOT NULL)
           AND (kind IN ('ticket-offer', 'ticket', 'ticket-void') OR kind IN ('message', 'upcoming', 'join') AND order_id IS NULL) = (transfer_id IS NOT NULL)
           AND (kind IN ('email-allow', 'email-confirm')) = (email_change_id IS NOT NULL) AND (kind = 'resale-offer') = (resale_offer_id IS NOT NULL)
           AND (kind = 'code') = (code_id IS NOT NULL)
           AND (kind IN ('wait-verify', 'wait-offer', 'wait-missed', 'wait-left')) = (entry_id IS NOT NULL)) NOT VALID;
CREATE POLICY "alerts of the members" ON mail TO usher_desk
    USING (kind = 'alert' AND EXISTS (SELECT FROM member m JOIN organizer o ON o.id = m.organizer_id WHERE o.email = mail.email));
