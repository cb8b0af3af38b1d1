import type { Transaction } from '@millrace/db';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { requireScope } from '../../access/require-scope.ts';
import type { CohortRow } from '../cohorts/cohort-row.ts';
import { findCohort } from '../cohorts/cohort-store.ts';
import { findCohortsWithin } from '../cohorts/cohort-use-store.ts';
import { createCohort } from '../cohorts/write-cohort.ts';
import { findCohortIdByName } from './flag-cohort-store.ts';

interface CohortCopy {
  from: number;
  target: AddressedProject;
  caller: Caller;
}

/**
 * Ids, in another environment, of the cohorts with the names of these and of those they are made of; what is not there is
 * made. A static one comes without its members. @returns the ids there by the ids here.
 */
export async function copyCohorts(tx: Transaction, copy: CohortCopy, ids: number[]): Promise<Map<number, number>> {
  const copied = new Map<number, number>();
  const waiting = (await findCohortsWithin(tx, copy.from, ids)).map(({ id }) => id);
  // A cohort comes after those it is made of; they make no circle, or nothing would have let them be written.
  while (waiting.length > 0) {
    const before = waiting.length;
    for (const id of waiting.splice(0)) {
      const cohort = await findCohort(tx, copy.from, id);
      if (!cohort) continue;
      if (partsOf(cohort).every((part) => copied.has(part)))
        copied.set(id, await copyCohort(tx, copy, { cohort, copied }));
      else waiting.push(id);
    }
    if (waiting.length === before) break;
  }
  return copied;
}

async function copyCohort(
  tx: Transaction,
  { target, caller }: CohortCopy,
  { cohort, copied }: { cohort: CohortRow; copied: ReadonlyMap<number, number> },
): Promise<number> {
  const existing = await findCohortIdByName(tx, target.environmentId, cohort.name ?? '');
  if (existing !== null) return existing;
  requireScope(caller, 'cohort:write');
  const { name, description, is_static } = cohort;
  const filters = is_static ? {} : { filters: renumbered(cohort.filters, copied) };
  const body = { name, description, is_static, ...filters };
  return (await createCohort(tx, { userId: caller.userId, target }, { body })).id;
}

/** Ids of the cohorts a dynamic cohort is made of. */
function partsOf({ is_static, filters }: CohortRow): number[] {
  const parts: number[] = [];
  if (!is_static) {
    JSON.stringify(filters, (_key, part: { type?: unknown; value?: unknown } | null) => {
      if (part?.type === 'cohort') parts.push(Number(part.value));
      return part;
    });
  }
  return parts;
}

function renumbered(filters: CohortRow['filters'], ids: ReadonlyMap<number, number>): Record<string, unknown> | null {
  const text = JSON.stringify(filters, (_key, part: { type?: unknown; value?: unknown } | null) =>
    part?.type === 'cohort' ? { ...part, value: ids.get(Number(part.value)) ?? part.value } : part,
  );
  return JSON.parse(text) as Record<string, unknown> | null;
}
