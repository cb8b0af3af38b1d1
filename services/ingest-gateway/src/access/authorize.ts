import { AppError } from '@millrace/errors';
import type { IncomingRequest } from '../request/incoming-request.ts';
import type { KeyLookup } from './key-lookup.ts';
import type { KnownProject } from './project-key-store.ts';
import type { ProjectKeys } from './project-keys.ts';

/**
 * Step 4: lets a request in when its key is a project's, and a historical batch when the project's plan includes
 * migrations. When the stores are down and nobody can say, it is let in as well: the consumer decides.
 *
 * @returns null when it could not be found out whose key it is.
 * @throws AppError `unauthenticated` (`invalid_api_key`), `payment_required`, `unavailable` when too many keys are
 * looked up.
 */
export function authorize(
  request: Pick<IncomingRequest, 'token' | 'isHistorical'>,
  projectKeys: ProjectKeys,
): KnownProject | null | Promise<KnownProject | null> {
  const lookup = projectKeys.find(request.token);
  return lookup instanceof Promise ? lookup.then((found) => decide(found, request)) : decide(lookup, request);
}

/**
 * For a key that was found before the request was parsed.
 * @throws AppError `unauthenticated` when it is certain that no project has it, `unavailable` when too many are looked up.
 */
export async function requirePossibleKey(key: string, projectKeys: ProjectKeys): Promise<void> {
  const trimmed = key.trim();
  // A key of a wrong shape has an answer of its own, which needs no lookup (findProjectApiKey).
  if (trimmed === '' || trimmed.length > maxLookedUp || !/^[\x20-\x7e]+$/.test(trimmed)) return;
  const { outcome } = await projectKeys.find(trimmed);
  requirePossible(outcome, 'api_key');
}

/**
 * Lets a key pass that is a project's, or that no store can be asked about.
 * @param attr the field the key was read from.
 * @throws AppError `unauthenticated`, `unavailable`.
 */
export function requirePossible(outcome: KeyLookup['outcome'], attr: KeyField): void {
  if (outcome === 'unknown') throw unknownKey(attr);
  if (outcome === 'busy') throw tooManyLookups();
}

const maxLookedUp = 64;

function decide(lookup: KeyLookup, request: Pick<IncomingRequest, 'isHistorical'>): KnownProject | null {
  switch (lookup.outcome) {
    case 'undetermined':
      return null;
    case 'unknown':
      throw unknownKey('api_key');
    case 'busy':
      throw tooManyLookups();
    case 'known':
      if (request.isHistorical && !lookup.project.mayMigrate) throw migrationNotIncluded();
      return lookup.project;
  }
}

type KeyField = 'api_key' | 'token';

function tooManyLookups(): AppError {
  return new AppError('unavailable', 'Too many API keys are looked up at the moment. Try again.', {
    retryAfterSeconds: 1,
  });
}

function unknownKey(attr: KeyField): AppError {
  return new AppError('unauthenticated', 'No project has this API key.', { code: 'invalid_api_key', attr });
}

function migrationNotIncluded(): AppError {
  return new AppError('payment_required', 'Historical migrations are not part of the plan of this project.', {
    code: 'payment_required',
    attr: 'historical_migration',
  });
}
