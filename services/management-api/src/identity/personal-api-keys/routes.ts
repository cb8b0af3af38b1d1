import {
  createPersonalApiKey,
  getPersonalApiKey,
  listPersonalApiKeys,
  lockUserKeys,
  type PersonalApiKeyWithValue,
  revokePersonalApiKey,
  rollPersonalApiKey,
  updatePersonalApiKey,
} from '@millrace/accounts';
import type { Database, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import type { Caller } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';
import { isWithinReach, type KeyPermissions, type KeyReach, requireNotBroader, requireReachWithin } from './rules.ts';
import {
  newPersonalApiKey,
  personalApiKey,
  personalApiKeyChanges,
  personalApiKeyExample,
  toPersonalApiKey,
} from './schema.ts';

const path = '/api/personal_api_keys';
const tags: [string] = ['personal API keys'];
const keyParams = Type.Object({
  id: Type.String({ description: 'ID of the key, or `@current` for the key used for the request.' }),
});
const createdExample = { ...personalApiKeyExample, value: 'phx_exampleexampleexampleexampleexampleexamplef3Qz' };

/**
 * Creates the routes for a user's own keys (docs/api/personal-api-keys.md). PostHog requires a session for these
 * routes. Millrace also accepts a key with the user scopes. With a key, the caller can manage only keys that have no
 * more permissions than the caller's key.
 */
export function personalApiKeyRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const change = <T>(
    { caller, params }: { caller: Caller; params: { id: string } },
    work: (tx: Transaction, choice: { id: string; userId: number }, own: KeyPermissions) => Promise<T>,
  ): Promise<T> =>
    transaction(async (tx) => {
      const choice = chooseKey(caller, params.id);
      await lockUserKeys(tx, caller.userId);
      const own = await permissionsOfCaller(tx, caller);
      requireNotBroader(own, await getPersonalApiKey(tx, choice));
      return work(tx, choice, own);
    });

  return [
    defineRoute({
      method: 'GET',
      path,
      operationId: 'personal_api_keys_list',
      summary: 'List your personal API keys',
      description:
        'Returns your personal API keys, newest first, without the key values. If the key used for the request is ' +
        'limited to certain organizations or environments, only keys with the same or narrower limits are returned. ' +
        'The list is not paginated.',
      tags,
      scope: 'user:read',
      responses: { 200: { description: 'The keys.', schema: Type.Array(personalApiKey) } },
      examples: { response: [personalApiKeyExample] },
      handler: async ({ caller }) => {
        const keys = await listPersonalApiKeys(sql, { userId: caller.userId });
        return keys.filter((key) => isWithinReach(reachOf(caller), key)).map((key) => toPersonalApiKey(key, null));
      },
    }),
    defineRoute({
      method: 'POST',
      path,
      operationId: 'personal_api_keys_create',
      summary: 'Create a personal API key',
      description:
        'Creates a personal API key. The new key cannot have more access than the key used for the request, or ' +
        'than you have if you are signed ' +
        'in. The key value is returned only in this response. A user can have at most ten keys.',
      tags,
      scope: 'user:write',
      isSensitive: true,
      body: newPersonalApiKey,
      responses: { 201: { description: 'The new key, with its value.', schema: personalApiKey } },
      examples: { request: { label: 'Terraform', scopes: ['project:write'] }, response: createdExample },
      handler: async ({ caller, body }) =>
        transaction(async (tx) => {
          await lockUserKeys(tx, caller.userId);
          const own = await permissionsOfCaller(tx, caller);
          requireReachWithin(own, reachAfter({ scoped_teams: [], scoped_organizations: [] }, body));
          const created = await createPersonalApiKey(tx, {
            userId: caller.userId,
            actor: caller,
            label: body.label,
            scopes: body.scopes,
            scopedEnvironments: body.scoped_teams ?? [],
            scopedOrganizations: body.scoped_organizations ?? [],
            expiresAt: toDate(body.expires_at) ?? null,
          });
          requireNotBroader(own, created.key);
          return shown(created);
        }),
    }),
    defineRoute({
      method: 'GET',
      path: `${path}/:id`,
      operationId: 'personal_api_keys_retrieve',
      summary: 'Show a personal API key',
      description:
        'Returns one of your keys, without the key value. If the key used for the request is limited to certain ' +
        'organizations or environments, the requested key must have the same or narrower limits.',
      tags,
      scope: 'user:read',
      params: keyParams,
      responses: { 200: { description: 'The key.', schema: personalApiKey } },
      examples: { response: personalApiKeyExample },
      handler: async ({ caller, params }) => {
        const key = await getPersonalApiKey(sql, chooseKey(caller, params.id));
        if (isWithinReach(reachOf(caller), key)) return toPersonalApiKey(key, null);
        throw new AppError('not_found', 'Personal API key not found.');
      },
    }),
    defineRoute({
      method: 'PATCH',
      path: `${path}/:id`,
      operationId: 'personal_api_keys_partial_update',
      summary: 'Update a personal API key',
      description:
        'Changes the fields that are sent and leaves all others unchanged. The changed key must not have more ' +
        'access than the key used for the request, either before or after the ' +
        'change.',
      tags,
      scope: 'user:write',
      isSensitive: true,
      params: keyParams,
      body: personalApiKeyChanges,
      responses: { 200: { description: 'The key.', schema: personalApiKey } },
      examples: { request: { label: 'Deployment' }, response: { ...personalApiKeyExample, label: 'Deployment' } },
      handler: async ({ caller, params, body }) =>
        change({ caller, params }, async (tx, choice, own) => {
          const before = await getPersonalApiKey(tx, choice);
          requireReachWithin(own, reachAfter(before, body));
          const expiresAt = toDate(body.expires_at);
          const after = await updatePersonalApiKey(
            tx,
            { ...choice, actor: caller },
            {
              ...(body.label !== undefined && { label: body.label }),
              ...(body.scopes !== undefined && { scopes: body.scopes }),
              ...(body.scoped_teams !== undefined && { scopedEnvironments: body.scoped_teams }),
              ...(body.scoped_organizations !== undefined && { scopedOrganizations: body.scoped_organizations }),
              ...(expiresAt !== undefined && { expiresAt }),
            },
          );
          requireNotBroader(own, after);
          return toPersonalApiKey(after, null);
        }),
    }),
    defineRoute({
      method: 'POST',
      path: `${path}/:id/roll`,
      operationId: 'personal_api_keys_roll',
      summary: 'Roll a personal API key',
      description:
        'Replaces the key value. The new value is returned only in this response. The old value stops working ' +
        'immediately.',
      tags,
      scope: 'user:write',
      isSensitive: true,
      params: keyParams,
      responses: { 200: { description: 'The key, with its new value.', schema: personalApiKey } },
      examples: { response: { ...createdExample, last_rolled_at: '2026-11-02T09:00:00Z' } },
      handler: async ({ caller, params }) =>
        change({ caller, params }, async (tx, choice) =>
          shown(await rollPersonalApiKey(tx, { ...choice, actor: caller })),
        ),
    }),
    defineRoute({
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: 'personal_api_keys_destroy',
      summary: 'Revoke a personal API key',
      description: 'Deletes the key. It stops working immediately.',
      tags,
      scope: 'user:write',
      isSensitive: true,
      params: keyParams,
      responses: { 204: { description: 'The key was revoked.' } },
      handler: async ({ caller, params }) =>
        change({ caller, params }, async (tx, choice) => {
          await revokePersonalApiKey(tx, { ...choice, actor: caller });
          return undefined;
        }),
    }),
  ];
}

function chooseKey(caller: Caller, id: string): { id: string; userId: number } {
  const { credential, userId } = caller;
  if (id !== '@current') return { id, userId };
  if (credential.kind === 'session') throw new AppError('not_found', 'Personal API key not found.');
  return { id: credential.id, userId };
}

function reachOf({ scopedEnvironments, scopedOrganizations }: Caller): KeyReach {
  return { scoped_teams: scopedEnvironments, scoped_organizations: scopedOrganizations };
}

function reachAfter(before: KeyReach, body: Partial<KeyReach>): KeyReach {
  return {
    scoped_teams: body.scoped_teams ?? before.scoped_teams,
    scoped_organizations: (body.scoped_organizations ?? before.scoped_organizations).map((id) => id.toLowerCase()),
  };
}

async function permissionsOfCaller(tx: Transaction, caller: Caller): Promise<KeyPermissions> {
  const { credential, userId } = caller;
  if (credential.kind === 'key') return getPersonalApiKey(tx, { id: credential.id, userId });
  // A session has all permissions of its user, so it can grant all of them to a key.
  return { scopes: ['*'], scoped_teams: [], scoped_organizations: [], expires_at: null };
}

function shown({ key, value }: PersonalApiKeyWithValue) {
  return toPersonalApiKey(key, value);
}

function toDate(text: string | null | undefined): Date | null | undefined {
  return typeof text === 'string' ? new Date(text) : text;
}
