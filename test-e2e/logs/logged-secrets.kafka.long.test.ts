import { awaitDrained } from '../support/log-progress.ts';
import { createPlantedMarks } from './planted-marks.ts';
import { sendToApi } from './send-to-api.ts';
import { sendToIngest } from './send-to-ingest.ts';
import { type DebugServices, startDebugServices } from './start-debug-services.ts';

/** Extends `logged-secrets.kafka.test.ts` with outages of each server in each mode, and with rejected logins. */
const marks = createPlantedMarks();
let services: DebugServices;
beforeAll(async () => {
  services = await startDebugServices(marks);
});
afterAll(() => services?.stop());

function expectNoMarks(): void {
  expect(marks.foundIn(services.logs())).toEqual([]);
}

test.each(['postgres', 'kafka', 'redis', 'mail'] as const)(
  'logs no secret while %s is unavailable',
  async (server) => {
    for (const fault of ['refuse', 'blackHole'] as const) {
      await services.proxies[server][fault]();
      await Promise.all([sendToIngest(services, marks), sendToApi(services, marks)]);
      await services.proxies[server].pass();
      await services.untilReady();
    }
    await awaitDrained(services);
    expectNoMarks();
  },
  400_000,
);

test('logs no secret when logins are rejected', async () => {
  await services.startWithWrongLogins();
  expectNoMarks();
});
