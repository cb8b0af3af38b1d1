import { bundleLibrary } from '@millrace/browser/bundle-library';
import { eventually, storySize, testSeed } from '@millrace/testing';
import { compareVisits } from '@millrace/testing/browser-visits/judge-visits';
import { visitShop } from '@millrace/testing/browser-visits/visit-shop';
import { type RunningServices, startServices } from '../support/start-services.ts';

/** The long test run loads more pages. */
const pages = storySize(40, 200);
const seed = testSeed();
let services: RunningServices;

beforeAll(async () => {
  services = await startServices({ eventLog: 'kafka', managementApi: false });
});
afterAll(() => services?.stop());

test(`stores every captured event once or reports it as dropped, over ${pages} page loads (seed ${seed})`, async () => {
  const { code } = await bundleLibrary('index.js');
  const visits = await visitShop({
    ...{ librarySource: code, pages, visitors: 4, seed },
    gatewayPort: Number(new URL(services.ingestUrl).port),
    projectApiKey: services.tenant.projectApiKey,
  });
  await eventually(async () => {
    expect(await compareVisits(visits, services.database)).toMatchObject({ losses: [], doubled: 0 });
  });
  expect(visits.captured.size).toBeGreaterThan(pages * 2);
  // A slow machine interrupts some visits, and a crash can also end other tabs in the same process.
  expect(visits.interrupted).toBeLessThan(pages / 4);
  for (const count of Object.values(visits.requests)) expect(count).toBeGreaterThan(0);
}, 300_000);
