-- PL/pgSQL plans this question once in a session. PostgreSQL plans the body of an SQL function anew for each order.
CREATE OR REPLACE FUNCTION listens(event bigint, kind text) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
    RETURN EXISTS (SELECT FROM hook h WHERE h.team_id = (SELECT team_id FROM event e WHERE e.id = $1)
                                        AND h.off_at IS NULL AND h.removed_at IS NULL AND $2 = ANY (h.kinds));
END $$;
