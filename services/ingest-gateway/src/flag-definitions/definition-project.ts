import type { IncomingMessage } from 'node:http';
import { AppError } from '@millrace/errors';
import type { KnownProject } from '../access/project-key-store.ts';
import type { ProjectKeys } from '../access/project-keys.ts';
import { findFlagProject } from '../flag-data/find-flag-project.ts';
import type { FlagDatabase } from '../flag-data/flag-database.ts';
import { findProjectApiKey } from '../request/project-api-key.ts';
import type { BearerRights } from './bearer-rights.ts';
import type { DefinitionTarget } from './definition-path.ts';
import { findKeyOfEnvironment } from './environment-key-store.ts';
import { requireBearer, requireRights } from './require-rights.ts';

export interface DefinitionAccess {
  rights: BearerRights;
  projectKeys: ProjectKeys;
  database: Pick<FlagDatabase, 'requests'>;
}

/**
 * The environment a request is about, which its bearer may read: named by the project API key, or, without one, by the
 * number in the path.
 *
 * @throws AppError `unauthenticated`, `forbidden`, `unavailable`.
 */
export async function requireDefinitionProject(
  request: IncomingMessage,
  { target, query }: { target: DefinitionTarget; query: string },
  { rights, projectKeys, database }: DefinitionAccess,
): Promise<KnownProject> {
  const bearer = requireBearer(request);
  const token = new URLSearchParams(query).get('token') ?? request.headers['x-posthog-project-api-key'];
  const numbered = token === undefined ? numberIn(target) : null;
  if (numbered === null) {
    const project = await findFlagProject(findProjectApiKey({ token }, [], null), projectKeys);
    await requireRights(bearer, project.environmentId, rights);
    return project;
  }
  // Before anything is looked up: whoever may not read it learns nothing of it.
  await requireRights(bearer, numbered, rights);
  return findFlagProject(await keyOf(numbered, database), projectKeys);
}

/** Null where the path has no number that an environment could have. */
function numberIn({ environment }: DefinitionTarget): number | null {
  const isPossible = environment !== undefined && /^[1-9]\d{0,9}$/.test(environment);
  return isPossible && Number(environment) <= 2_147_483_647 ? Number(environment) : null;
}

async function keyOf(environmentId: number, { requests }: DefinitionAccess['database']): Promise<string> {
  const key = await findKeyOfEnvironment(requests, environmentId).catch((cause: unknown) => {
    throw new AppError('unavailable', 'The project cannot be found out now.', { cause });
  });
  if (key === null) throw new AppError('forbidden', 'API key does not have access to the requested project.');
  return key;
}
