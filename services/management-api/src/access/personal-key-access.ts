import { grants } from '@millrace/contracts';
import { hashPersonalApiKey, type Sql } from '@millrace/db';
import { AppError } from '@millrace/errors';
import type { Access } from '@millrace/http';
import type { Logger } from '@millrace/runtime';
import type { Caller } from './caller.ts';
import { findPersonalKey } from './find-personal-key.ts';
import { findLiveKey, noteKeyUse } from './personal-key-store.ts';

/**
 * Callers known by a personal API key (contract/management-api.md "Authentication", reference/management-api.md 2.5,
 * 2.6). Nothing is cached: a revoked key, a deactivated user or a lost membership counts from the next request on.
 */
export function personalKeyAccess({ sql, logger }: { sql: Sql; logger: Logger }): Access<Caller> {
  return {
    async authenticate(request) {
      const { value, place } = await findPersonalKey(request);
      const key = await findLiveKey(sql, hashPersonalApiKey(value));
      if (!key) {
        throw new AppError('unauthenticated', `Personal API key found in request ${place} is invalid.`, {
          code: 'authentication_failed',
        });
      }
      if (key.is_last_use_stale) {
        // Beside the request, which neither waits for it nor fails with it.
        noteKeyUse(sql, key.id).catch((error) => logger.debug('the use of a key could not be noted', { error }));
      }
      return {
        userId: key.user_id,
        keyId: key.id,
        scopes: key.scopes,
        scopedTeams: key.scoped_teams,
        scopedOrganizations: key.scoped_organizations,
        memberships: key.memberships,
        currentEnvironmentId: key.current_environment_id,
      };
    },
    authorize(caller, scope) {
      if (grants(caller.scopes, scope)) return;
      throw new AppError('forbidden', `API key missing required scope '${scope}'`);
    },
  };
}
