import { requirePossible } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { findProjectApiKey } from '../request/project-api-key.ts';

/**
 * The key without white space around it. A key that no store can be asked about passes, as it does for events.
 * @throws AppError `unauthenticated`, `unavailable`.
 */
export async function requireKnownToken(key: unknown, projectKeys: ProjectKeys): Promise<string> {
  const token = findProjectApiKey({ token: key }, [], null);
  const { outcome } = await projectKeys.find(token);
  requirePossible(outcome, 'token');
  return token;
}
