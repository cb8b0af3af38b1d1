import { eventually } from '@millrace/testing';
import { waitUntilDrained } from '../support/log-progress.ts';
import { createPlantedMarks } from './planted-marks.ts';
import { sendToApi } from './send-to-api.ts';
import { sendToIngest } from './send-to-ingest.ts';
import { type DebugServices, startDebugServices } from './start-debug-services.ts';

/**
 * Extends `logged-secrets.kafka.test.ts` with failed statements, each kind of outage of each server, and rejected
 * logins.
 */
const marks = createPlantedMarks();
let services: DebugServices;
beforeAll(async () => {
  services = await startDebugServices(marks);
});
afterAll(() => services?.stop());

function expectNoMarks(): void {
  expect(marks.foundIn(services.logs())).toEqual([]);
}

test('logs contain no sent data, even when database errors quote rejected values', async () => {
  await services.database.query(quotingTriggers);
  try {
    await sendToApi(services, marks);
    await sendToIngest(services, marks);
    await eventually(
      () => services.logs().includes('could not process a batch; retrying until an operator fixes the cause'),
      {
        what: 'The consumer hearing the refusal',
      },
    );
    await eventually(() => services.logs().includes('batch failed; it will be delivered again'), {
      what: 'The log hearing of it',
    });
  } finally {
    await services.database.query(quotingTriggersGone);
  }
  await waitUntilDrained(services);
  expect(services.logs()).toContain('"status":500');
  expectNoMarks();
});

test.each(['postgres', 'kafka', 'redis', 'mail'] as const)(
  'logs no secret while %s is unavailable',
  async (server) => {
    for (const fault of ['refuse', 'blackHole'] as const) {
      await services.proxies[server][fault]();
      await Promise.all([sendToIngest(services, marks), sendToApi(services, marks)]);
      await services.proxies[server].pass();
      await services.untilReady();
    }
    await waitUntilDrained(services);
    expectNoMarks();
  },
  400_000,
);

test('logs no secret when logins are rejected', async () => {
  await services.startWithWrongLogins();
  expectNoMarks();
});

/**
 * PostgreSQL errors about failed conversions (such as 22P02) quote the value. Errors of a user-defined trigger may also
 * quote values.
 */
const quotingTriggers = `
  CREATE FUNCTION refuse_and_quote() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    RAISE EXCEPTION 'not this: %', row_to_json(NEW);
  END $$;
  CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON person FOR EACH ROW EXECUTE FUNCTION refuse_and_quote();
  CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON organization_invite FOR EACH ROW EXECUTE FUNCTION refuse_and_quote();
  CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON batch_export FOR EACH ROW EXECUTE FUNCTION refuse_and_quote();
  CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON "user" FOR EACH ROW EXECUTE FUNCTION refuse_and_quote();
  CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON organization FOR EACH ROW EXECUTE FUNCTION refuse_and_quote();
  CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON subscription FOR EACH ROW EXECUTE FUNCTION refuse_and_quote();
  CREATE TRIGGER quoting BEFORE INSERT OR UPDATE ON personal_api_key FOR EACH ROW EXECUTE FUNCTION refuse_and_quote();`;
const quotingTriggersGone = 'DROP FUNCTION IF EXISTS refuse_and_quote() CASCADE';
