import { AppError } from '@millrace/errors';
import { requirePossible } from '../access/authorize.ts';
import type { KnownProject } from '../access/project-key-store.ts';
import type { ProjectKeys } from '../access/project-keys.ts';

/**
 * The project whose key it is. Other than for events nothing is answered on trust: SDKs keep what they have on an error,
 * and forget it on an empty answer.
 *
 * @throws AppError `unauthenticated`, `unavailable`.
 */
export async function findFlagProject(token: string, projectKeys: ProjectKeys): Promise<KnownProject> {
  const lookup = projectKeys.find(token);
  const found = lookup instanceof Promise ? await lookup : lookup;
  requirePossible(found.outcome, 'token');
  if (found.outcome === 'known') return found.project;
  throw new AppError('unavailable', 'Whose key this is cannot be found out now.');
}
