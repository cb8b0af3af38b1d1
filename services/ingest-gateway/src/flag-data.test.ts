import { createSqlDatabase, type SqlDatabase } from '@millrace/db/sql';
import { createTestDatabase } from '@millrace/testing';
import { storeTimeLimits } from './access/store-limits.ts';
import { createFlagDatabase } from './flag-data.ts';
import { patientTimeLimits } from './testing/patient-time-limits.ts';
import { quietLogger } from './testing/quiet-logger.ts';

let own: Awaited<ReturnType<typeof createTestDatabase>>;
let database: SqlDatabase;
let definitions: SqlDatabase;
const connections = 2;
beforeAll(async () => {
  own = await createTestDatabase();
  const pool = { url: own.url, logger: quietLogger() };
  database = createSqlDatabase({ ...pool, poolSize: connections });
  definitions = createSqlDatabase({ ...pool, poolSize: 1 });
});
afterAll(async () => {
  await database.stop();
  await definitions.stop();
  await own.drop();
});

test('many slow queries open the breaker, and do not delay flag definitions', async () => {
  const { flagDataMs, flagDataQueueMs } = storeTimeLimits;
  const flags = createFlagDatabase({ requests: database.sql, definitions: definitions.sql }, connections, {
    timeLimits: { ...patientTimeLimits, flagDataMs, flagDataQueueMs },
    // Keeps the breaker open for longer than the test takes.
    restMs: 600_000,
  });
  const slow = Array.from({ length: 20 }, () => flags.requests.query('SELECT pg_sleep(1)'));
  const read = flags.definitions.query('SELECT 1 AS one');
  const outcomes = await Promise.allSettled(slow);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toEqual([]);
  expect(await read).toEqual([{ one: 1 }]);
  await Promise.allSettled([1, 2, 3].map(() => flags.requests.query('SELECT pg_sleep(1)')));
  expect(flags.isCircuitOpen()).toBe(true);
  await expect(flags.requests.query('SELECT 1 AS one')).rejects.toMatchObject({ kind: 'unavailable' });
  expect(await flags.definitions.query('SELECT 1 AS one')).toEqual([{ one: 1 }]);
});
