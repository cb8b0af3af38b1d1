import { cutToCodePoints } from '@millrace/contracts';
import type { Transaction } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { CohortRow } from './cohort-row.ts';
import type { CohortAuthor } from './record-cohort-activity.ts';
import { createCohort, foundCohort } from './write-cohort.ts';

const suffix = ' (static copy)';
const maxNameLength = 400;

/**
 * Makes a static cohort that the delivery worker fills with those who belong to a dynamic one.
 * @throws AppError `not_found`, or `invalid` for a static cohort.
 */
export async function duplicateAsStatic(tx: Transaction, author: CohortAuthor, id: number): Promise<CohortRow> {
  const source = await foundCohort(tx, author.target.environmentId, id);
  if (source.is_static || source.deleted) {
    throw new AppError('invalid', 'Cannot duplicate a static cohort as a static cohort.', { code: 'invalid_input' });
  }
  const name = `${cutToCodePoints(source.name ?? '', maxNameLength - suffix.length)}${suffix}`;
  const body = { name, description: source.description, is_static: true };
  return createCohort(tx, author, { body, fillFrom: { cohort: id } });
}
