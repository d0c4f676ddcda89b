-- More time, the end and the last seat of a hold rewrite its row: what is dead is swept before it slows a crowd down.

ALTER TABLE hold SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 5000, autovacuum_vacuum_cost_delay = 0);
