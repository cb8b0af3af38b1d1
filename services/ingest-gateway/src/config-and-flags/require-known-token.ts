import { requirePossible } from '../access/authorize.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { findProjectApiKey } from '../request/project-api-key.ts';

/**
 * The key without white space around it. A key that no store can be asked about passes, as it does for events.
 * @throws AppError `unauthenticated`, `unavailable`.
 */
export async function requireKnownToken(key: unknown, projectKeys: ProjectKeys): Promise<string> {
  const { token } = await requireKnownProject(key, projectKeys);
  return token;
}

/** The same with the environment; null while nobody can say whose key it is. */
export async function requireKnownProject(
  key: unknown,
  projectKeys: ProjectKeys,
): Promise<{ token: string; environmentId: number | null }> {
  const token = findProjectApiKey({ token: key }, [], null);
  const lookup = await projectKeys.find(token);
  requirePossible(lookup.outcome, 'token');
  return { token, environmentId: lookup.outcome === 'known' ? lookup.project.environmentId : null };
}
