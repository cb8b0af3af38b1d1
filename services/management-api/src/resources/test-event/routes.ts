// An event that shows whether events arrive.

import { randomUUID } from 'node:crypto';
import type { Sql } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { belowEnvironment } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { findEnvironmentToken } from './store.ts';

export function testEventRoutes({ sql, ingestUrl }: { sql: Sql; ingestUrl?: string | undefined }) {
  return defineRoutes({
    method: 'POST',
    below: belowEnvironment(sql),
    path: '/test_event',
    operationId: 'test_event_create',
    summary: 'Send a test event',
    description:
      'Sends one event with the project API key through the gateway of `INGEST_URL`, as an SDK would. It counts as any other; `events/:uuid` shows it once it is stored.',
    tags: ['events'],
    scope: 'event:write',
    body: newTestEvent,
    responses: { 201: { description: 'The gateway has taken it.', schema: sentEvent } },
    examples: { request: { event: 'test event', distinct_id: 'test-user' }, response: sentEventExample },
    handler: async ({ target: { environmentId }, body }) => {
      if (ingestUrl === undefined) {
        throw new AppError('unavailable', 'No gateway is known: INGEST_URL is not set.', { code: 'no_gateway' });
      }
      const token = await findEnvironmentToken(sql, environmentId);
      const sent = {
        uuid: randomUUID(),
        event: body.event ?? 'test event',
        distinct_id: body.distinct_id ?? 'test-user',
      };
      await send(new URL('/i/v0/e/', ingestUrl), { api_key: token, ...sent, properties: testProperties });
      return sent;
    },
  });
}

/** The gateway sees this server's address, which is nobody's place. */
const testProperties = { $lib: 'millrace', $geoip_disable: true, is_test: true };

/** Longer than a gateway takes that answers at all. */
const timeoutMs = 10_000;

/** @throws AppError `unavailable` when no gateway answers or it refuses the event, `payment_required` when the plan's events are used up. */
async function send(url: URL, event: object): Promise<void> {
  let answer: { status: number; text: string };
  try {
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(event),
      signal: AbortSignal.timeout(timeoutMs),
    });
    answer = { status: response.status, text: await response.text() };
  } catch (cause) {
    throw new AppError('unavailable', 'The gateway does not answer.', { retryAfterSeconds: 2, cause });
  }
  if (answer.status !== 200) {
    const detail = `The gateway refused the event with ${answer.status}. Try again in a moment.`;
    throw new AppError('unavailable', detail, { retryAfterSeconds: 2, details: { status: answer.status } });
  }
  if (answer.text.includes('"quota_limited"')) {
    const detail = "The plan's events of this month are used up, so the gateway dropped the event.";
    throw new AppError('payment_required', detail, { code: 'quota_limited' });
  }
}

const newTestEvent = Type.Object(
  {
    event: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Name of the event, `test event` by default.' }),
    ),
    distinct_id: Type.Optional(
      Type.String({ minLength: 1, maxLength: 200, description: 'Who did it, `test-user` by default.' }),
    ),
  },
  { title: 'TestEventToCreate' },
);

const sentEvent = Type.Object(
  {
    uuid: Type.String({ format: 'uuid', description: 'Id of the event.' }),
    event: Type.String({ description: 'Name of the event.' }),
    distinct_id: Type.String({ description: 'Who did it.' }),
  },
  { title: 'TestEvent' },
);

const sentEventExample = {
  uuid: '0193f0c5-7a4e-4000-8000-000000000007',
  event: 'test event',
  distinct_id: 'test-user',
};
