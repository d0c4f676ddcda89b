-- An account lists the waiting-list entries of its address.
CREATE INDEX entry_by_email ON entry (email) WHERE state IN ('new', 'waiting', 'offered');
