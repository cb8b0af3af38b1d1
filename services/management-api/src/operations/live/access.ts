// Checks access to a live event stream when the stream starts, and repeatedly while it is open.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { canKeyAccessProject, findEnvironment, findKeyInUse, findSessionInUse } from '@millrace/accounts/access';
import { includesScope, isObject } from '@millrace/contracts';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import type { Credential } from '../../access/caller.ts';
import { findStreamSettings } from './store.ts';

export interface StreamAccess {
  environmentId: number;
  userId: number;
  credential: Pick<Credential, 'kind' | 'id'>;
  /** When the access began. If the key is rolled after this time, the access ends. */
  since: Date;
  /** The project API key and the expiry time in the token. */
  apiToken?: string;
  endsAt?: Date;
}

export interface GrantedAccess {
  seesDrops: boolean;
  testAccountFilters: unknown;
  timeZone: string;
}

/**
 * Checks the access to a stream.
 * @returns what the stream may show, or the reason why access is denied
 * @throws database errors, because a stream must not continue without a check
 */
export async function checkStreamAccess(sql: Sql, access: StreamAccess): Promise<GrantedAccess | string> {
  const { environmentId, userId, credential, since, apiToken, endsAt } = access;
  if (endsAt !== undefined && endsAt.getTime() <= Date.now()) return 'The token has expired.';
  const [key, found, settings] = await Promise.all([
    findPermissions(sql, credential),
    findEnvironment(sql, userId, environmentId),
    findStreamSettings(sql, environmentId),
  ]);
  if (key === undefined || key.user_id !== userId) {
    return credential.kind === 'key'
      ? 'The personal API key has expired or was revoked.'
      : 'The session has ended. Sign in again.';
  }
  if (key.last_rolled_at !== null && key.last_rolled_at > since)
    return 'The personal API key was rolled after the stream or token was created. Use the new key.';
  if (!includesScope(key.scopes, 'event:read')) return 'The personal API key no longer has the scope `event:read`.';
  if (found === undefined || found.level === null || settings === undefined)
    return 'The project was deleted, or you no longer have access to it.';
  const reach = { scopedEnvironments: key.scoped_teams, scopedOrganizations: key.scoped_organizations };
  if (!canKeyAccessProject(reach, { environmentIds: [environmentId], organizationId: found.organizationId }))
    return 'The personal API key does not have access to the project.';
  if (apiToken !== undefined && apiToken !== settings.api_token)
    return 'The project API key was replaced after the token was created. Request a new token.';
  return {
    seesDrops: includesScope(key.scopes, 'ingestion_warning:read'),
    testAccountFilters: settings.test_account_filters,
    timeZone: settings.timezone,
  };
}

/** Finds the current permissions of a credential. A session has all permissions of its user, and cannot be rolled. */
async function findPermissions(sql: Sql, { kind, id }: StreamAccess['credential']) {
  if (kind === 'key') return findKeyInUse(sql, id);
  const session = await findSessionInUse(sql, id);
  return session && { ...session, scopes: ['*'], scoped_teams: [], scoped_organizations: [], last_rolled_at: null };
}

const audience = 'posthog:livestream';
const refused = () =>
  new AppError('unauthenticated', 'The token is missing or invalid.', { code: 'authentication_failed' });

/**
 * Returns the access that a `live_events_token` in the header `Authorization: Bearer …` claims. The token must be
 * signed (HS256) with one of the configured secrets, must be issued for live events, and must not have expired.
 * `checkStreamAccess` makes all other checks.
 * @throws AppError `unauthenticated`
 */
export function findTokenAccess(header: string | undefined, secrets: readonly string[]): StreamAccess {
  const [word, token = '', ...more] = (header ?? '').split(' ');
  const [head = '', body = '', signature = '', ...parts] = token.split('.');
  if (word !== 'Bearer' || more.length > 0 || parts.length > 0) throw refused();
  if (!secrets.some((secret) => isSignature(signature, `${head}.${body}`, secret))) throw refused();
  if (decode(head)?.alg !== 'HS256') throw refused();
  const claims = decode(body) ?? {};
  const { team_id, api_token, user_id, key_id, session_id, exp, iat, aud } = claims;
  if (aud !== audience || typeof exp !== 'number' || exp * 1000 <= Date.now()) throw refused();
  if (!isId(team_id) || !isId(user_id) || typeof iat !== 'number') throw refused();
  const credential = { kind: key_id === undefined ? ('session' as const) : ('key' as const), id: key_id ?? session_id };
  if (typeof credential.id !== 'string') throw refused();
  if (typeof api_token !== 'string' || api_token === '') throw refused();
  return {
    environmentId: team_id,
    userId: user_id,
    credential: { kind: credential.kind, id: credential.id },
    since: new Date(iat * 1000),
    apiToken: api_token,
    endsAt: new Date(exp * 1000),
  };
}

/** Returns what a stream may currently show. @throws AppError `unauthenticated` if the access has ended */
export async function requireStreamAccess(sql: Sql, access: StreamAccess): Promise<GrantedAccess> {
  const granted = await checkStreamAccess(sql, access);
  if (typeof granted === 'string') throw refused();
  return granted;
}

function isSignature(signature: string, content: string, secret: string): boolean {
  const expected = createHmac('sha256', secret).update(content).digest();
  const bytes = Buffer.from(signature, 'base64url');
  return bytes.length === expected.length && timingSafeEqual(bytes, expected);
}

function decode(part: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(Buffer.from(part, 'base64url').toString('utf8'));
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}

function isId(value: unknown): value is number {
  return typeof value === 'number' && Number.isInteger(value) && value > 0 && value <= 2_147_483_647;
}
