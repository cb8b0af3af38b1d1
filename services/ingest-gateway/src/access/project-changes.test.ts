import { randomUUID } from 'node:crypto';
import { createMetrics } from '@millrace/runtime';
import { createInProcessKeyValue } from '@millrace/runtime/cache';
import { createTestTenant, eventually } from '@millrace/testing';
import { patientTimeLimits } from '../testing/patient-time-limits.ts';
import { quietLogger } from '../testing/quiet-logger.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { createProjectKeys } from './project-keys.ts';

/** Gateways that share nothing but PostgreSQL, and remember for longer than any test takes. */
let fixture: GatewayFixture;
let gateways: TestGateway[];

beforeAll(async () => {
  fixture = await createGatewayFixture();
  const alone = () =>
    fixture.startGateway({ cache: createInProcessKeyValue(), config: { restrictionsRefreshMs: 60_000 } });
  gateways = [await alone(), await alone()];
});
afterAll(() => fixture.stop());

const sql = (text: string, values: unknown[]) => fixture.database.sql.query(text, values);
/** Ordered is one second; the rest is for a busy machine. Without a word the gateways would take a minute. */
const soon = { timeoutMs: 20_000 };

async function statuses(token: string): Promise<number[]> {
  const body = JSON.stringify({ api_key: token, event: 'a', distinct_id: 'd' });
  const answers = gateways.map(({ url }) => fetch(`${url}/capture/`, { method: 'POST', body }));
  return (await Promise.all(answers)).map(({ status }) => status);
}

test('a replaced key is refused, and the new one taken, by every gateway', async () => {
  const { token } = await createTestTenant(fixture.database);
  const next = `phc_${randomUUID()}`;
  expect([await statuses(token), await statuses(next)]).toEqual([
    [200, 200],
    [401, 401],
  ]);
  await sql('UPDATE environment SET api_token = $2 WHERE api_token = $1', [token, next]);
  await eventually(async () => expect(await statuses(token)).toEqual([401, 401]), soon);
  await eventually(async () => expect(await statuses(next)).toEqual([200, 200]), soon);
});

test('a deleted project is gone', async () => {
  const { token, projectId } = await createTestTenant(fixture.database);
  expect(await statuses(token)).toEqual([200, 200]);
  await sql('DELETE FROM project WHERE id = $1', [projectId]);
  await eventually(async () => expect(await statuses(token)).toEqual([401, 401]), soon);
});

test('settings of browser clients change', async () => {
  const { token } = await createTestTenant(fixture.database);
  const optedOut = () =>
    Promise.all(
      gateways.map(async ({ url }) => {
        const answer = (await (await fetch(`${url}/array/${token}/config`)).json()) as { autocapture_opt_out: boolean };
        return answer.autocapture_opt_out;
      }),
    );
  expect(await optedOut()).toEqual([false, false]);
  await sql('UPDATE environment SET autocapture_opt_out = true WHERE api_token = $1', [token]);
  await eventually(async () => expect(await optedOut()).toEqual([true, true]), soon);
});

test('while changes are not heard keys are asked for again every second', async () => {
  const { token } = await createTestTenant(fixture.database);
  const keys = await createProjectKeys({
    sql: fixture.database.sql,
    cache: fixture.cache,
    changes: { subscribe: () => {}, isSubscribed: () => false },
    logger: quietLogger(),
    metrics: createMetrics({ withProcessMetrics: false }),
  });
  expect(await keys.find(token)).toMatchObject({ outcome: 'known' });
  await sql('UPDATE environment SET api_token = $2 WHERE api_token = $1', [token, `phc_${randomUUID()}`]);
  await eventually(async () => expect(await keys.find(token)).toEqual({ outcome: 'unknown' }), soon);
});

/** Keys of a gateway whose hearing begins, first or anew, when the test says so. */
async function startKeys({ cache = createInProcessKeyValue(), sql: given = fixture.database.sql } = {}) {
  const metrics = createMetrics({ withProcessMetrics: false });
  let beginSubscription = () => {};
  const keys = await createProjectKeys({
    sql: given,
    cache,
    changes: {
      subscribe(onChange) {
        beginSubscription = () => onChange(null);
      },
      isSubscribed: () => true,
    },
    logger: quietLogger(),
    metrics,
    timeLimits: patientTimeLimits,
  });
  const answersFrom = async (source: string) => {
    const counter = await metrics.registry.getSingleMetric('millrace_project_key_lookups_total')?.get();
    return counter?.values.find(({ labels }) => labels.source === source)?.value ?? 0;
  };
  return { keys, beginSubscription, answersFrom };
}

test('an outage after an interruption finds known keys known', async () => {
  const { token } = await createTestTenant(fixture.database);
  let isDown = false;
  const { keys, beginSubscription } = await startKeys({
    sql: {
      query: (text, values) => (isDown ? Promise.reject(new Error('down')) : fixture.database.sql.query(text, values)),
    },
  });
  const known = await keys.find(token);
  beginSubscription();
  isDown = true;
  expect(await keys.find(token)).toEqual(known);
});

test('a gateway that begins to hear uses the copies of others; after an interruption it asks the database', async () => {
  const { token } = await createTestTenant(fixture.database);
  const { cache } = fixture;
  await (await startKeys({ cache })).keys.find(token);
  // The copy is written beside the answer.
  const { keys, beginSubscription, answersFrom } = await eventually(
    async () => {
      const starting = await startKeys({ cache });
      starting.beginSubscription();
      await starting.keys.find(token);
      expect(await starting.answersFrom('cache')).toBe(1);
      return starting;
    },
    { what: 'an answer from the copy' },
  );
  beginSubscription();
  await keys.find(token);
  expect(await answersFrom('database')).toBe(1);
});
