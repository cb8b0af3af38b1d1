/**
 * Stores unfinished sign-in steps, such as the state between password and second factor. Each step can be used once.
 */

import type { Sql } from '@millrace/db';
import { hashSecret, newSecret } from '../keys/secrets.ts';

export type SignInStepKind =
  | 'second_factor'
  | 'passkey_sign_in'
  | 'passkey_registration'
  | 'totp_setup'
  | 'email_change'
  | 'provider_sign_in'
  | 'provider_answer';

const minutesOf: Record<SignInStepKind, number> = {
  second_factor: 10,
  passkey_sign_in: 5,
  passkey_registration: 5,
  totp_setup: 10,
  email_change: 24 * 60,
  provider_sign_in: 10,
  provider_answer: 5,
};

export interface SignInStep {
  userId: number | null;
  data: Record<string, unknown>;
}

/**
 * Starts a step, and replaces an existing step with the same secret.
 * @param secret a secret that already identifies the step, such as the ID of a session. By default, a new secret.
 * @returns the secret. Only its hash is stored.
 */
export async function beginSignInStep(
  sql: Sql,
  { kind, userId, data, secret = newSecret() }: SignInStep & { kind: SignInStepKind; secret?: string },
): Promise<string> {
  await sql.query('DELETE FROM sign_in_step WHERE expires_at < now()');
  await sql.query(
    `INSERT INTO sign_in_step (token_hash, kind, user_id, data, expires_at)
     VALUES ($1, $2, $3, $4, now() + make_interval(mins => $5))
     ON CONFLICT (token_hash) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at`,
    [hashOf(kind, secret), kind, userId, data, minutesOf[kind]],
  );
  return secret;
}

/**
 * Finds a step without marking it as used.
 * @returns undefined if the step does not exist or has expired
 */
export async function findSignInStep(sql: Sql, kind: SignInStepKind, secret: string): Promise<SignInStep | undefined> {
  const rows = await sql.query<StepRow>(
    'SELECT user_id AS "userId", data FROM sign_in_step WHERE token_hash = $1 AND expires_at > now()',
    [hashOf(kind, secret)],
  );
  return rows[0];
}

export async function updateSignInStep(
  sql: Sql,
  kind: SignInStepKind,
  { secret, data }: { secret: string; data: Record<string, unknown> },
): Promise<void> {
  await sql.query('UPDATE sign_in_step SET data = data || $2::jsonb WHERE token_hash = $1', [
    hashOf(kind, secret),
    data,
  ]);
}

/**
 * Increments `data.tries` atomically.
 * @returns the updated step
 */
export async function countSignInStepAttempt(
  sql: Sql,
  kind: SignInStepKind,
  secret: string,
): Promise<SignInStep | undefined> {
  const rows = await sql.query<StepRow>(
    `UPDATE sign_in_step SET data = data || jsonb_build_object('tries', coalesce((data ->> 'tries')::int, 0) + 1)
      WHERE token_hash = $1 AND expires_at > now() RETURNING user_id AS "userId", data`,
    [hashOf(kind, secret)],
  );
  return rows[0];
}

/**
 * Marks a step as used.
 * @returns undefined if the step was already used or has expired
 */
export async function consumeSignInStep(
  sql: Sql,
  kind: SignInStepKind,
  secret: string,
): Promise<SignInStep | undefined> {
  const rows = await sql.query<StepRow>(
    'DELETE FROM sign_in_step WHERE token_hash = $1 AND expires_at > now() RETURNING user_id AS "userId", data',
    [hashOf(kind, secret)],
  );
  return rows[0];
}

export async function deleteSignInSteps(sql: Sql, userId: number, kind?: SignInStepKind): Promise<void> {
  await sql.query('DELETE FROM sign_in_step WHERE user_id = $1 AND ($2::text IS NULL OR kind = $2)', [
    userId,
    kind ?? null,
  ]);
}

type StepRow = SignInStep & Record<string, unknown>;

/** Hashes a secret together with its step's kind, so that the secret is not valid for steps of another kind. */
function hashOf(kind: SignInStepKind, secret: string): string {
  return hashSecret(`${kind}:${secret}`);
}
