-- Roles for the box office, marketing and accounting. The role door sold tickets, too: its people keep that as till.

ALTER TABLE member DROP CONSTRAINT "a role is one of four";
ALTER TABLE invitation DROP CONSTRAINT "an invitation is for one of four roles";
UPDATE member SET role = 'till' WHERE role = 'door';
UPDATE invitation SET role = 'till' WHERE role = 'door';
ALTER TABLE member ADD CONSTRAINT "a role is known" CHECK (role IN ('owner', 'manager', 'marketing', 'accounting', 'till', 'door', 'viewer'));
ALTER TABLE invitation ADD CONSTRAINT "an invitation is for a known role" CHECK (role IN ('owner', 'manager', 'marketing', 'accounting', 'till', 'door', 'viewer'));
