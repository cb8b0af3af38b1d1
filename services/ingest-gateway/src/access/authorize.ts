import { AppError } from '@millrace/runtime';
import type { IncomingRequest } from '../readers/classic.ts';
import type { KnownProject } from './project-key-store.ts';
import type { KeyLookup, ProjectKeys } from './project-keys.ts';

/**
 * Lets a request in when its key is a project's, and a historical batch when the project's plan includes
 * migrations. When the database refuses to answer it is let in as well: the consumer decides.
 *
 * @returns null when it could not be found out whose key it is.
 * @throws AppError `unauthenticated` (`invalid_api_key`), `payment_required`, `unavailable` when it does not
 * answer in time.
 */
export async function authorize(
  { token, isHistorical }: Pick<IncomingRequest, 'token' | 'isHistorical'>,
  projectKeys: ProjectKeys,
): Promise<KnownProject | null> {
  const lookup = await projectKeys.find(token);
  switch (lookup.outcome) {
    case 'undetermined':
      return null;
    case 'unknown':
      throw unknownKey('api_key');
    case 'busy':
      throw cannotBeChecked();
    case 'known':
      if (isHistorical && !lookup.project.mayMigrate) throw migrationNotIncluded();
      return lookup.project;
  }
}

/**
 * For a key that was found before the request was parsed.
 * @throws AppError `unauthenticated` when it is certain that no project has it, `unavailable` when nobody says in time.
 */
export async function requirePossibleKey(key: string, projectKeys: ProjectKeys): Promise<void> {
  const lookup = await lookUp(key, projectKeys);
  if (lookup !== null) requirePossible(lookup.outcome, 'api_key');
}

/** Whether it is certain that a project has this key. */
export async function isKnownKey(key: string, projectKeys: ProjectKeys): Promise<boolean> {
  return (await lookUp(key, projectKeys))?.outcome === 'known';
}

/** Null for a key of a wrong shape, which has an answer of its own and needs no lookup (findProjectApiKey). */
async function lookUp(key: string, projectKeys: ProjectKeys): Promise<KeyLookup | null> {
  const trimmed = key.trim();
  if (trimmed === '' || trimmed.length > maxLookedUp || !/^[\x20-\x7e]+$/.test(trimmed)) return null;
  return projectKeys.find(trimmed);
}

/**
 * Lets a key pass that is a project's, or that the database refuses to tell of.
 * @param attr the field the key was read from.
 * @throws AppError `unauthenticated`, `unavailable`.
 */
export function requirePossible(outcome: KeyLookup['outcome'], attr: KeyField): void {
  if (outcome === 'unknown') throw unknownKey(attr);
  if (outcome === 'busy') throw cannotBeChecked();
}

const maxLookedUp = 64;

type KeyField = 'api_key' | 'token';

function cannotBeChecked(): AppError {
  return new AppError('unavailable', 'Could not check the API key. Try again in a second.', {
    retryAfterSeconds: 1,
  });
}

function unknownKey(attr: KeyField): AppError {
  return new AppError('unauthenticated', 'No project has this API key. Copy the key from the project settings.', {
    code: 'invalid_api_key',
    attr,
  });
}

function migrationNotIncluded(): AppError {
  return new AppError('payment_required', "The project's plan does not include historical migrations.", {
    code: 'payment_required',
    attr: 'historical_migration',
  });
}
