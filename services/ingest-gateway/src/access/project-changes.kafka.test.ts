import { randomUUID } from 'node:crypto';
import { createMetrics } from '@millrace/runtime';
import { createInProcessStore } from '@millrace/runtime/cache';
import { createTestTenant, eventually } from '@millrace/testing';
import { patientTimeLimits } from '../testing/patient-time-limits.ts';
import { quietLogger } from '../testing/quiet-logger.ts';
import { createGatewayFixture, type GatewayFixture, type TestGateway } from '../testing/test-gateway.ts';
import { createProjectKeys } from './project-keys.ts';

/** Tests several gateways that share only PostgreSQL, and cache keys for longer than any test takes. */
let fixture: GatewayFixture;
let gateways: TestGateway[];

beforeAll(async () => {
  fixture = await createGatewayFixture();
  const alone = () =>
    fixture.startGateway({ cache: createInProcessStore(), config: { restrictionsRefreshMs: 60_000 } });
  gateways = [await alone(), await alone()];
});
afterAll(() => fixture.stop());

const sql = (text: string, values: unknown[]) => fixture.database.sql.query(text, values);
/**
 * Changes must take effect within a second. This limit allows for slow machines, but is far below the minute after
 * which a change takes effect if its notification is lost.
 */
const soon = { timeoutMs: 20_000 };

async function statuses(token: string): Promise<number[]> {
  const body = JSON.stringify({ api_key: token, event: 'a', distinct_id: 'd' });
  const responses = gateways.map(({ url }) => fetch(`${url}/capture/`, { method: 'POST', body }));
  return (await Promise.all(responses)).map(({ status }) => status);
}

test('all gateways reject a replaced API key and accept the new one', async () => {
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

test('all gateways reject the API key of a deleted project', async () => {
  const { token, projectId } = await createTestTenant(fixture.database);
  expect(await statuses(token)).toEqual([200, 200]);
  await sql('DELETE FROM project WHERE id = $1', [projectId]);
  await eventually(async () => expect(await statuses(token)).toEqual([401, 401]), soon);
});

test('applies changed settings to the browser config', async () => {
  const { token } = await createTestTenant(fixture.database);
  const optedOut = () =>
    Promise.all(
      gateways.map(async ({ url }) => {
        const response = (await (await fetch(`${url}/array/${token}/config`)).json()) as {
          autocapture_opt_out: boolean;
        };
        return response.autocapture_opt_out;
      }),
    );
  expect(await optedOut()).toEqual([false, false]);
  await sql('UPDATE environment SET autocapture_opt_out = true WHERE api_token = $1', [token]);
  await eventually(async () => expect(await optedOut()).toEqual([true, true]), soon);
});

test('looks up API keys every second while no change notifications arrive', async () => {
  const { token } = await createTestTenant(fixture.database);
  const keys = createProjectKeys({
    sql: fixture.database.sql,
    changes: { subscribe: () => {}, isSubscribed: () => false },
    logger: quietLogger(),
    metrics: createMetrics({ withProcessMetrics: false }),
  });
  expect(await keys.find(token)).toMatchObject({ outcome: 'known' });
  await sql('UPDATE environment SET api_token = $2 WHERE api_token = $1', [token, `phc_${randomUUID()}`]);
  await eventually(async () => expect(await keys.find(token)).toEqual({ outcome: 'unknown' }), soon);
});

test('accepts known API keys during a database outage that follows an interruption of change notifications', async () => {
  const { token } = await createTestTenant(fixture.database);
  let isDown = false;
  let interrupt = () => {};
  const keys = createProjectKeys({
    sql: {
      query: (text, values) => (isDown ? Promise.reject(new Error('down')) : fixture.database.sql.query(text, values)),
    },
    changes: {
      subscribe(onChange) {
        interrupt = () => onChange(null);
      },
      isSubscribed: () => true,
    },
    logger: quietLogger(),
    metrics: createMetrics({ withProcessMetrics: false }),
    timeLimits: patientTimeLimits,
  });
  const known = await keys.find(token);
  interrupt();
  isDown = true;
  expect(await keys.find(token)).toEqual(known);
});
