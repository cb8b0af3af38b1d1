import { eventually } from '@millrace/testing';
import { waitUntilDrained } from '../support/log-progress.ts';
import { createPlantedMarks } from './planted-marks.ts';
import { sendToApi } from './send-to-api.ts';
import { sendToIngest } from './send-to-ingest.ts';
import { type DebugServices, startDebugServices } from './start-debug-services.ts';

/**
 * Logs must not contain keys, passwords, email addresses or event data. All services run with log level debug, and
 * receive marked values in valid and invalid requests. The logs must not contain any marked value. In the long tests,
 * servers and statements also fail.
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

test('logs contain no sent data while all servers are available', async () => {
  await sendToIngest(services, marks);
  await sendToApi(services, marks);
  await waitUntilDrained(services);
  await services.deadLettersReach(3);
  expectNoMarks();
});

test('logs no secret when reports and exports fail', async () => {
  await services.proxies.mail.refuse();
  await services.makeReportsAndExportsDue();
  for (const message of ['delivering a report failed', 'batch export run failed', 'could not send an email']) {
    await eventually(() => services.logs().includes(message), { what: `"${message}"` });
  }
  await services.proxies.mail.pass();
  expectNoMarks();
});
