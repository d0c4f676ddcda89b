-- A file is read in parts: what is stored compressed would be unpacked from its beginning for each of them.
ALTER TABLE plan_import ALTER COLUMN content SET STORAGE EXTERNAL;
