// Converts projects and environments to API responses.

import { createHmac } from 'node:crypto';
import { includesScope, maskUrl, membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { formatDateTime, parseDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type Caller, canSeeSecrets } from '../../access/caller.ts';
import { defaultModifiers } from './schema.ts';
import { type EnvironmentRow, findEnvironmentForCaller } from './store.ts';

export interface RecordDeps extends Pick<Database, 'sql' | 'transaction'> {
  /** The current secret for signing `live_events_token`, followed by older secrets. */
  tokenSecrets: () => readonly [string, ...string[]];
}

export interface AddressedRecord {
  caller: Caller;
  target: AddressedProject;
}

export type ShowRecord = (record: AddressedRecord) => Promise<Record<string, unknown>>;

/**
 * Reads an environment and converts it to the API response for this caller.
 * @throws AppError `not_found` if the environment has just been deleted
 */
export async function showRecord(
  { sql, tokenSecrets }: Pick<RecordDeps, 'sql' | 'tokenSecrets'>,
  { caller, environmentId }: { caller: Caller; environmentId: number },
  toRecord: (row: EnvironmentRow, showing: Showing) => Record<string, unknown>,
): Promise<Record<string, unknown>> {
  const row = await findEnvironmentForCaller(sql, caller.userId, environmentId);
  if (!row) throw new AppError('not_found', 'Not found.');
  return toRecord(row, { caller, secret: tokenSecrets()[0], now: new Date() });
}

export interface Showing {
  caller: Caller;
  secret: string;
  now: Date;
}

/** Converts an environment to an API response for this caller (docs/api/README.md#secrets-in-responses). */
export function toEnvironment(row: EnvironmentRow, showing: Showing): Record<string, unknown> {
  const level = row.effective_membership_level;
  const webhook = row.slack_incoming_webhook;
  return {
    ...row,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    slack_incoming_webhook:
      webhook === null || canSeeSecrets(showing.caller, 'project:write', level) ? webhook : maskUrl(webhook),
    live_events_token: liveEventsToken(row, showing),
    person_on_events_querying_enabled: true,
    default_modifiers: defaultModifiers,
    product_intents: JSON.stringify(row.product_intents.map(toIntent)),
    user_access_level: toAccessLevel(level),
  };
}

/** Converts a membership level to an access level (docs/api/access.md#access-to-an-environment). */
export function toAccessLevel(level: number | null): 'admin' | 'member' | null {
  return level === null ? null : level >= membershipLevels.administrator ? 'admin' : 'member';
}

/** Converts an intent's times from PostgreSQL's JSON format to the API's format. */
function toIntent(intent: unknown): unknown {
  return Object.fromEntries(
    Object.entries(intent as Record<string, unknown>).map(([field, value]) => {
      const time = field.endsWith('_at') && typeof value === 'string' ? parseDateTime(value) : null;
      return [field, time ? formatDateTime(time) : value];
    }),
  );
}

const lifetimeSeconds = 7 * 24 * 3600;

/**
 * Creates a JSON Web Token (HS256) that lets clients read an environment's live events. The token expires after seven
 * days, or earlier if the key or session that requested it expires earlier (docs/api/live-events.md).
 * @returns null for a key without the scope `event:read`
 */
function liveEventsToken(
  { id, api_token }: { id: number; api_token: string },
  { caller, secret, now }: { caller: Caller; secret: string; now: Date },
): string | null {
  if (!includesScope(caller.scopes, 'event:read')) return null;
  const { kind, id: credentialId, expiresAt } = caller.credential;
  const endsAt = expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const claims = {
    team_id: id,
    api_token,
    user_id: caller.userId,
    ...(kind === 'key' ? { key_id: credentialId } : { session_id: credentialId }),
    // Include milliseconds, so that a check can tell whether the key was rolled after the token was issued.
    iat: now.getTime() / 1000,
    exp: Math.floor(Math.min(now.getTime() / 1000 + lifetimeSeconds, endsAt / 1000)),
    aud: 'posthog:livestream',
  };
  const content = `${encode({ typ: 'JWT', alg: 'HS256' })}.${encode(claims)}`;
  return `${content}.${createHmac('sha256', secret).update(content).digest('base64url')}`;
}

function encode(part: object): string {
  return Buffer.from(JSON.stringify(part)).toString('base64url');
}
