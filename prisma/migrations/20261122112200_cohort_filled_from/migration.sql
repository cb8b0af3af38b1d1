-- From what the delivery worker fills a static cohort that was made as a copy: `{"cohort": 7}` or `{"flag": 7}`. Null when
-- it is filled, and for every other cohort.
ALTER TABLE "cohort" ADD COLUMN "fill_from" JSONB;
