import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import { measureFlags } from './flag-limit-store.ts';

/** Every gateway keeps the definitions of the projects it is asked for in memory. */
const mostFlags = 20_000;
const mostMebibytes = 32;
/** A compiled one takes some 20 KB. */
const mostPatterns = 2000;

/** Called after a flag was written that adds to those of its environment. @throws AppError `invalid`. */
export async function checkFlagLimits(sql: Sql, environmentId: number): Promise<void> {
  const { count, bytes, patterns } = await measureFlags(sql, environmentId);
  if (count > mostFlags) {
    throw limitExceeded(`A project has at most ${mostFlags} feature flags. Delete those that are not needed.`);
  }
  if (bytes > mostMebibytes * 1024 * 1024) {
    throw limitExceeded(`The filters of a project's feature flags may take ${mostMebibytes} MiB together.`);
  }
  if (patterns > mostPatterns) {
    throw limitExceeded(`A project's feature flags may have ${mostPatterns} regular expressions together.`);
  }
}

function limitExceeded(detail: string): AppError {
  return new AppError('invalid', detail, { code: 'limit_exceeded' });
}
