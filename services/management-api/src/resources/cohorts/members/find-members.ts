import { cohortAudience, matchPersons, type StaticCohort } from '@millrace/cohorts';
import type { Sql } from '@millrace/db';
import type { PersonRow } from '../../shown-persons/person-row.ts';
import { listMemberUuids, readPersons } from './member-store.ts';

/** What one request may look at to fill its page; who belongs to a dynamic cohort is found out person by person. */
const mostLookedAt = 20_000;
const mostMs = 3000;

interface FoundUuids {
  uuids: string[];
  /** The last uuid that was looked at; null when all were. */
  lookedUntil: string | null;
}

export interface MemberPage {
  persons: PersonRow[];
  /** Where the next page begins; null on the last. */
  after: string | null;
}

/** A page of a cohort's persons by uuid. It may be shorter than `limit`, and even empty, and not be the last. */
export async function findMembers(
  sql: Sql,
  cohort: StaticCohort & { isStatic: boolean },
  window: { after: string | null; limit: number },
): Promise<MemberPage> {
  const { uuids, lookedUntil } = cohort.isStatic
    ? await listed(sql, cohort, window)
    : await evaluated(sql, cohort, window);
  const persons = await readPersons(sql, cohort.projectId, uuids);
  const last = persons.at(-1)?.uuid;
  // Cut for its bytes: the next page begins behind the last one shown.
  const isCut = last !== undefined && uuids.some((uuid) => uuid > last) && persons.length < uuids.length;
  return { persons, after: isCut ? last : lookedUntil };
}

async function listed(
  sql: Sql,
  cohort: StaticCohort,
  { after, limit }: { after: string | null; limit: number },
): Promise<FoundUuids> {
  const uuids = await listMemberUuids(sql, cohort, { after, limit: limit + 1 });
  const shown = uuids.slice(0, limit);
  return { uuids: shown, lookedUntil: uuids.length > limit ? (shown.at(-1) ?? null) : null };
}

async function evaluated(
  sql: Sql,
  { projectId, cohortId }: StaticCohort,
  { after, limit }: { after: string | null; limit: number },
): Promise<FoundUuids> {
  const audience = await cohortAudience(sql, projectId, [cohortId]);
  const startedAt = performance.now();
  const uuids: string[] = [];
  let lookedAt = 0;
  for await (const page of matchPersons(sql, projectId, { audience, after })) {
    for (const { uuid, matches } of page) {
      if (matches[0] === true) uuids.push(uuid);
      if (uuids.length === limit) return { uuids, lookedUntil: uuid };
    }
    lookedAt += page.length;
    const isEnough = lookedAt >= mostLookedAt || performance.now() - startedAt > mostMs;
    if (isEnough) return { uuids, lookedUntil: page.at(-1)?.uuid ?? null };
  }
  return { uuids, lookedUntil: null };
}
