import { AppError } from '@millrace/errors';
import type { CaptureRequest } from '../capture/parse-capture-request.ts';
import type { KnownProject } from './project-key-store.ts';
import type { KeyLookup, ProjectKeys } from './project-keys.ts';

/**
 * Station 4: lets a request in whose key is a project's, and a historical batch when the project's plan includes
 * migrations. What cannot be found out because the stores are down is let in: the consumer decides.
 *
 * @returns null when it could not be found out whose key it is.
 * @throws AppError `unauthenticated` (`invalid_api_key`), `payment_required`.
 */
export function authorize(
  request: CaptureRequest,
  projectKeys: ProjectKeys,
): KnownProject | null | Promise<KnownProject | null> {
  const lookup = projectKeys.find(request.token);
  return lookup instanceof Promise ? lookup.then((found) => decide(found, request)) : decide(lookup, request);
}

function decide(lookup: KeyLookup, request: CaptureRequest): KnownProject | null {
  switch (lookup.outcome) {
    case 'undetermined':
      return null;
    case 'unknown':
      throw new AppError('unauthenticated', 'No project has this API key.', {
        code: 'invalid_api_key',
        attr: 'api_key',
      });
    case 'known':
      if (request.isHistorical && !lookup.project.mayMigrate) throw migrationNotIncluded();
      return lookup.project;
  }
}

function migrationNotIncluded(): AppError {
  return new AppError('payment_required', 'Historical migrations are not part of the plan of this project.', {
    code: 'payment_required',
    attr: 'historical_migration',
  });
}
