import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { CohortFields } from './cohort-row.ts';
import { findCohortsWithin, flagsThatUse, type NamedCohort } from './cohort-use-store.ts';
import { cohortsNamedIn, leavesOf } from './filters/cohort-tree.ts';
import { filtersError } from './filters/parse-cohort-filters.ts';

/** As many as are named in a refusal. */
const mostNamed = 20;

/**
 * What a cohort is made of exists and does not lead back to it; where flags ask for it, it asks for nothing but properties.
 * @param id null for a new one, which nobody can name yet.
 * @throws AppError `invalid`.
 */
export async function checkReferences(
  tx: Transaction,
  { environmentId, id }: { environmentId: number; id: number | null },
  { filters, is_static, deleted }: CohortFields,
): Promise<void> {
  if (filters === null || is_static || deleted) return;
  const named = cohortsNamedIn(filters.properties);
  const within = await findCohortsWithin(tx, environmentId, named);
  const known = new Set(within.map((one) => one.id));
  // Looked for first: a cohort that names itself is a loop, and not unknown.
  if (id !== null && (named.includes(id) || known.has(id))) {
    throw filtersError('Cohorts cannot reference other cohorts in a loop.');
  }
  if (named.some((one) => !known.has(one))) throw filtersError('Invalid Cohort ID in filter');
  if (id === null) return;
  const isBehavioral = leavesOf(filters.properties).some(({ type }) => type === 'behavioral');
  await refuseBehaviorInFlags(tx, { environmentId, id }, { isBehavioral, within });
}

async function refuseBehaviorInFlags(
  tx: Transaction,
  { environmentId, id }: { environmentId: number; id: number },
  { isBehavioral, within }: { isBehavioral: boolean; within: NamedCohort[] },
): Promise<void> {
  const part = within.find(({ is_behavioral }) => is_behavioral);
  if (!isBehavioral && part === undefined) return;
  if ((await flagsThatUse(tx, environmentId, id)).length === 0) return;
  const detail = isBehavioral
    ? 'Behavioral filters cannot be added to cohorts used in feature flags.'
    : `A dependent cohort (${part?.name ?? part?.id}) has filters based on events. These cohorts can't be used in feature flags.`;
  throw filtersError(detail, 'behavioral_cohort_found');
}

/** @throws AppError `invalid` when active flags would ask for a cohort that is not there. */
export async function refuseDeletionInUse(
  tx: Transaction,
  { environmentId, id }: { environmentId: number; id: number },
): Promise<void> {
  const keys = await flagsThatUse(tx, environmentId, id);
  if (keys.length === 0) return;
  const named = `${keys.slice(0, mostNamed).join(', ')}${keys.length > mostNamed ? ', …' : ''}`;
  throw new AppError(
    'invalid',
    `This cohort is used in ${keys.length} active feature flag(s): ${named}. Please remove the cohort from these feature flags before deleting it.`,
    { code: 'invalid_input' },
  );
}
