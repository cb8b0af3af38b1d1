import { eventually } from '@millrace/testing';
import { awaitDrained } from '../support/log-progress.ts';
import { createPlantedMarks } from './planted-marks.ts';
import { sendToApi } from './send-to-api.ts';
import { sendToIngest } from './send-to-ingest.ts';
import { type DebugServices, startDebugServices } from './start-debug-services.ts';

/**
 * Whoever may read logs must not learn keys, passwords, addresses or what is in events.
 * Everything that says anything runs as a process at level debug, is given marked values on every way in, good requests
 * and bad ones, with all servers there and, in the long tests, with each of them broken; then all that was said is searched for the marks.
 */
const marks = createPlantedMarks();
let services: DebugServices;
beforeAll(async () => {
  services = await startDebugServices(marks);
});
afterAll(() => services?.stop());

function expectNoMarks(): void {
  expect(marks.foundIn(services.said())).toEqual([]);
}

test('nothing that was sent is said while all is well', async () => {
  await sendToIngest(services, marks);
  await sendToApi(services, marks);
  await awaitDrained(services);
  await services.deadLettersReach(3);
  expectNoMarks();
});

test('nothing is said while the database refuses what it is given, and quotes it', async () => {
  await services.database.query(quotingTriggers);
  try {
    await sendToApi(services, marks);
    await sendToIngest(services, marks);
    await eventually(
      () => services.said().includes('could not process a batch; retrying until an operator fixes the cause'),
      {
        what: 'The consumer hearing the refusal',
      },
    );
    await eventually(() => services.said().includes('batch failed; it will be delivered again'), {
      what: 'The log hearing of it',
    });
  } finally {
    await services.database.query(quotingTriggersGone);
  }
  await awaitDrained(services);
  expect(services.said()).toContain('"status":500');
  expectNoMarks();
});

test('nothing is said of reports and exports that fail', async () => {
  await services.proxies.mail.refuse();
  await services.makeReportsAndExportsDue();
  for (const said of ['delivering a report failed', 'batch export run failed', 'could not send an email']) {
    await eventually(() => services.said().includes(said), { what: `"${said}"` });
  }
  await services.proxies.mail.pass();
  expectNoMarks();
});

/** A column's own refusal quotes the value (22P02 and its like), and so does that of any other author of triggers. */
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
