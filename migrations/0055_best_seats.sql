-- Who asks for the best seats again gets other ones in place of those: the hold knows which of its seats were our choice.
ALTER TABLE hold ADD COLUMN best integer[]; -- seats that the last request for the best seats chose; null for none
