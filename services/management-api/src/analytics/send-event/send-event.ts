// Sends an event to the gateway with a project's API key, as an SDK would.

import { randomUUID } from 'node:crypto';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { findEnvironmentToken } from './store.ts';

export interface GatewayDeps {
  sql: Sql;
  ingestUrl?: string | undefined;
}

interface EventToSend {
  event: string;
  distinct_id: string;
  properties: Record<string, unknown>;
}

/** Disable geolocation, because the gateway sees this server's IP address and not the person's. */
const ownProperties = { $lib: 'millrace', $geoip_disable: true };

/** Time limit in milliseconds. A working gateway always responds sooner. */
const timeoutMs = 10_000;

/**
 * Sends an event to the gateway.
 * @returns the UUID of the event
 * @throws AppError `unavailable` if no gateway responds or if the gateway rejects the event, or `payment_required` if
 *   the event quota is used up
 */
export async function sendEvent(
  { sql, ingestUrl }: GatewayDeps,
  environmentId: number,
  { properties, ...event }: EventToSend,
): Promise<string> {
  if (ingestUrl === undefined) {
    throw new AppError(
      'unavailable',
      'Test events are not available, because INGEST_URL is not set. Ask the operator of this installation.',
      { code: 'no_gateway' },
    );
  }
  const uuid = randomUUID();
  const token = await findEnvironmentToken(sql, environmentId);
  const body = { api_key: token, uuid, ...event, properties: { ...ownProperties, ...properties } };
  await send(new URL('/i/v0/e/', ingestUrl), body);
  return uuid;
}

async function send(url: URL, event: object): Promise<void> {
  let reply: { status: number; text: string };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(timeoutMs),
    });
    reply = { status: response.status, text: await response.text() };
  } catch (cause) {
    throw new AppError('unavailable', 'The gateway does not respond. Try again in a moment.', {
      retryAfterSeconds: 2,
      cause,
    });
  }
  if (reply.status !== 200) {
    const detail = `The gateway rejected the event with status ${reply.status}. Try again in a moment.`;
    throw new AppError('unavailable', detail, { retryAfterSeconds: 2, details: { status: reply.status } });
  }
  if (reply.text.includes('"quota_limited"')) {
    const detail = "The gateway dropped the event, because the plan's monthly event limit has been reached.";
    throw new AppError('payment_required', detail, { code: 'quota_limited' });
  }
}
