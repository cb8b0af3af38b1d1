import { AppError } from '@millrace/runtime';
import type { KnownProject } from './project-key-store.ts';
import type { KeyLookup, ProjectKeys } from './project-keys.ts';

/**
 * Accepts a request if its API key belongs to a project. A historical batch also requires a plan that includes
 * migrations. If the database refuses connections, accepts the request without the check, and the consumer checks the
 * key.
 * @returns null if the key could not be looked up
 * @throws AppError `unauthenticated` (`invalid_api_key`), `payment_required`, or `unavailable` if the lookup times out
 */
export async function authorize(
  { token, isHistorical }: { token: string; isHistorical: boolean },
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
 * Checks an API key that was found before the request was parsed.
 * @throws AppError `unauthenticated` if it is certain that no project has this key, or `unavailable` if the lookup
 * times out
 */
export async function rejectUnknownKey(key: string, projectKeys: ProjectKeys): Promise<void> {
  const lookup = await lookUp(key, projectKeys);
  if (lookup !== null) rejectUnusableLookup(lookup.outcome, 'api_key');
}

/** Returns true if a project certainly has this key. Returns false if no project has it or the lookup failed. */
export async function isKnownKey(key: string, projectKeys: ProjectKeys): Promise<boolean> {
  return (await lookUp(key, projectKeys))?.outcome === 'known';
}

/** Looks up a key. Returns null for a malformed key, because `findProjectApiKey` would throw an error for it. */
async function lookUp(key: string, projectKeys: ProjectKeys): Promise<KeyLookup | null> {
  const trimmed = key.trim();
  if (trimmed === '' || trimmed.length > maxLookedUp || !/^[\x20-\x7e]+$/.test(trimmed)) return null;
  return projectKeys.find(trimmed);
}

/**
 * Accepts a key that belongs to a project or could not be looked up.
 * @param attr the field that contained the key
 * @throws AppError `unauthenticated` or `unavailable`
 */
export function rejectUnusableLookup(outcome: KeyLookup['outcome'], attr: KeyField): void {
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
