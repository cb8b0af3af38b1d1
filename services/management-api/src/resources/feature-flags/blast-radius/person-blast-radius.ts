import { filtersAudience, matchPersons } from '@millrace/cohorts';
import type { Sql } from '@millrace/db';
import type { FlagFilters } from '../filters/flag-filters.ts';

/** Persons or groups of one count: more than that changes little of its answer. */
export const mostLookedAt = 10_000;

export interface BlastRadius {
  affected: number;
  total: number;
  /** Reckoned from those that were looked at. */
  isEstimate: boolean;
}

/**
 * How many persons have what filters ask for. Uuids of persons are hashes: the first ones are a sample of all, and how far
 * they reach into the uuids tells how many there are.
 */
export async function personBlastRadius(sql: Sql, environmentId: number, filters: FlagFilters): Promise<BlastRadius> {
  const audience = await filtersAudience(sql, environmentId, filters);
  let looked = 0;
  let affected = 0;
  for await (const page of matchPersons(sql, environmentId, { audience })) {
    looked += page.length;
    affected += page.filter(({ matches }) => matches[0] === true).length;
    const last = page.at(-1)?.uuid;
    if (looked < mostLookedAt || last === undefined) continue;
    const total = Math.max(looked, Math.round(looked / shareUpTo(last)));
    return { affected: Math.round((affected / looked) * total), total, isEstimate: true };
  }
  return { affected, total: looked, isEstimate: false };
}

/** How much of all uuids lies before one, from 0 to 1. */
function shareUpTo(uuid: string): number {
  return Number.parseInt(uuid.replaceAll('-', '').slice(0, 12), 16) / 16 ** 12;
}
