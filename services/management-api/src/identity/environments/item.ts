// One project or environment, under whichever path it is addressed, and how an answer shows it.

import { createHmac } from 'node:crypto';
import { grants, maskedAddress, membershipLevels } from '@millrace/contracts';
import type { Database, Transaction } from '@millrace/db';
import { formatDateTime, parseDateTime } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import type { TObject, TSchema } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type Caller, seesSecrets } from '../../access/caller.ts';
import type { BasePath } from '../../access/define-route.ts';
import { defaultModifiers } from './schema.ts';
import { type EnvironmentRow, findEnvironmentForCaller } from './store.ts';

export interface ItemDeps extends Pick<Database, 'sql' | 'transaction'> {
  /** What signs `live_events_token` at the moment, and what has signed it. */
  tokenSecrets: () => readonly [string, ...string[]];
}

/** What is particular to projects, and what to environments. */
export interface ItemKind {
  kind: 'project' | 'environment';
  /** Where one is addressed; each path ends in `/:id`. */
  below: BasePath<AddressedProject>[];
  schema: TSchema;
  /** Schema of the answers that show secret keys. */
  schemaWithSecretKeys: TSchema;
  example: Record<string, unknown>;
  changes: TObject<Record<string, TSchema>>;
  show: (row: EnvironmentRow, showing: Showing) => Record<string, unknown>;
  change: (
    tx: Transaction,
    context: { caller: Caller; target: AddressedProject; sent: Record<string, unknown> },
  ) => Promise<void>;
  remove: (context: { caller: Caller; target: AddressedProject }) => Promise<void>;
  /** Scopes of the activity records that are about it. */
  activityScopes: string[];
  /** The API has the activity of environments as an action without a body. */
  isActivityOnlyIfPreferred: boolean;
}

/** A project or an environment as its caller sees it now. @throws AppError `not_found` when it was removed meanwhile. */
export async function showItem(
  { sql, tokenSecrets }: Pick<ItemDeps, 'sql' | 'tokenSecrets'>,
  { show }: Pick<ItemKind, 'show'>,
  { caller, target }: { caller: Caller; target: AddressedProject },
): Promise<Record<string, unknown>> {
  const row = await findEnvironmentForCaller(sql, caller.userId, target.environmentId);
  if (!row) throw new AppError('not_found', 'Not found.');
  return show(row, { caller, secret: tokenSecrets()[0], now: new Date() });
}

/** For whom a record is shown, and what signs the token in it. */
export interface Showing {
  caller: Caller;
  secret: string;
  now: Date;
}

/** An environment as its caller may see it (docs/api/README.md#secrets-in-responses). */
export function toEnvironment(row: EnvironmentRow, showing: Showing): Record<string, unknown> {
  const level = row.effective_membership_level;
  const webhook = row.slack_incoming_webhook;
  return {
    ...row,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
    slack_incoming_webhook:
      webhook === null || seesSecrets(showing.caller, 'project:write', level) ? webhook : maskedAddress(webhook),
    live_events_token: liveEventsToken(row, showing),
    person_on_events_querying_enabled: true,
    default_modifiers: defaultModifiers,
    product_intents: JSON.stringify(row.product_intents.map(toIntent)),
    user_access_level: accessLevelOf(level),
  };
}

/** What a level lets its owner do with an environment (docs/api/access.md#access-to-an-environment). */
export function accessLevelOf(level: number | null): 'admin' | 'member' | null {
  return level === null ? null : level >= membershipLevels.administrator ? 'admin' : 'member';
}

/** The database writes times inside JSON with its own offset. */
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
 * A JSON Web Token (HS256) that lets its holder read an environment's live events for seven days, and no longer than the
 * key or session it is made through (docs/api/live-events.md).
 *
 * @returns null for a key that may not read events.
 */
function liveEventsToken(
  { id, api_token }: { id: number; api_token: string },
  { caller, secret, now }: { caller: Caller; secret: string; now: Date },
): string | null {
  if (!grants(caller.scopes, 'event:read')) return null;
  const { kind, id: credentialId, expiresAt } = caller.credential;
  const endsAt = expiresAt?.getTime() ?? Number.POSITIVE_INFINITY;
  const claims = {
    team_id: id,
    api_token,
    user_id: caller.userId,
    ...(kind === 'key' ? { key_id: credentialId } : { session_id: credentialId }),
    // With milliseconds: whether the key was rolled since.
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
