import {
  type BuiltDirectory,
  createFaultProxy,
  eventually,
  type FaultProxy,
  type KafkaFaultProxy,
  startKafkaFaultProxy,
  testServers,
} from '@millrace/testing';
import { builtConsole } from '@millrace/testing/built-console';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Browser, Page } from 'playwright-core';
import { post } from '../support/post.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';

/**
 * Tests pages while a server is unavailable. Page sections that need the server must report the failure, all other
 * sections must keep working, and no page may be blank.
 */
let built: BuiltDirectory;
let kafka: KafkaFaultProxy;
let postgres: FaultProxy;
let redis: FaultProxy;
let services: RunningServices;
let browser: Browser;
let page: Page;

async function proxyOf(address: string, port: number): Promise<[proxy: FaultProxy, address: string]> {
  const url = new URL(address);
  const proxy = await createFaultProxy({ targetHost: url.hostname, targetPort: Number(url.port || port) });
  url.hostname = proxy.host;
  url.port = String(proxy.port);
  return [proxy, url.toString()];
}

beforeAll(async () => {
  const { databaseUrl, redisUrl, kafkaBrokers } = testServers();
  built = await builtConsole();
  kafka = await startKafkaFaultProxy(kafkaBrokers);
  const [ofRedis, redisAddress] = await proxyOf(redisUrl, 6379);
  const [ofPostgres] = await proxyOf(databaseUrl, 5432);
  [redis, postgres] = [ofRedis, ofPostgres];
  services = await startServices({
    eventLog: 'kafka',
    brokers: kafka.brokers,
    databaseUrlForServices: (address) => {
      const url = new URL(address);
      url.hostname = postgres.host;
      url.port = String(postgres.port);
      return url.toString();
    },
    settings: { CONSOLE_DIRECTORY: built.directory, PUBLISH_PROCESSED: 'on', REDIS_URL: redisAddress },
  });
  browser = await launchChromium();
  const extraHTTPHeaders = { authorization: `Bearer ${services.tenant.personalApiKey}` };
  page = await (await browser.newContext({ extraHTTPHeaders })).newPage();
  const body = { api_key: services.tenant.projectApiKey, event: 'seen', distinct_id: 'ada', properties: {} };
  await page.goto(address('events'));
  await eventually(async () => {
    await post(`${services.ingestUrl}/capture/`, body);
    await page.reload();
    await rows().first().waitFor({ timeout: 2000 });
  });
}, 300_000);
afterAll(async () => {
  await browser?.close();
  for (const one of [kafka, postgres, redis]) await one?.pass();
  await services?.stop();
  for (const one of [kafka, postgres, redis]) await one?.stop();
  await built?.remove();
});

const address = (path: string) => `${services.apiUrl}/console/projects/${services.tenant.projectId}/${path}`;
const rows = () => page.locator('a[data-row]');
const go = (name: string) => page.getByRole('link', { name, exact: true }).click();
const line = () => page.locator('.health-line');

test('console-007 all pages work without Redis', async () => {
  await redis.refuse();
  await page.goto(address('events'));
  await rows().first().waitFor();
  await go('Feature flags');
  await page.getByRole('heading', { name: 'Feature flags', level: 1 }).waitFor();
  await page.locator('[data-state=empty]').waitFor();
  expect(await page.locator('[data-state=failed]').count()).toBe(0);
  await redis.pass();
});

test('console-007: without Kafka, stored events are available, and Live reports the problem', async () => {
  await page.goto(address('live'));
  await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor();
  await kafka.refuse();
  await line().first().waitFor();
  await go('Events');
  await rows().first().waitFor();
  await page.reload();
  await rows().first().waitFor();
  await eventually(async () => expect(await page.getByText(/^Ingestion delay/).count()).toBe(0));
  await kafka.pass();
});

test('console-007 console-008 without PostgreSQL, loaded data remains visible, and every page recovers automatically', async () => {
  await page.goto(address('events'));
  await rows().first().waitFor();
  await postgres.refuse();
  await line().filter({ hasText: 'The data on this page may be out of date' }).waitFor();
  expect(await rows().count()).toBeGreaterThan(0);
  for (const name of ['Persons', 'Feature flags', 'Settings', 'Live']) {
    await go(name);
    await page.locator('main [data-state=failed], main .health-line').first().waitFor();
    expect(await page.getByRole('heading', { name: /Sign in/ }).count()).toBe(0);
  }
  await page.goto(address('events'));
  await page.locator('[data-state=failed]').first().waitFor();
  await postgres.pass();
  await eventually(async () => {
    const again = page.getByRole('button', { name: 'Try again' });
    if ((await again.count()) > 0) await again.first().click();
    expect(await rows().count()).toBeGreaterThan(0);
  });
  await eventually(async () => expect(await line().count()).toBe(0));
});

test('console-007 console-045 without the API, loaded data remains visible, and a new page reports the failure', async () => {
  await page.goto(address('events'));
  await rows().first().waitFor();
  await page.route('**/*', (route) => route.abort());
  await line().filter({ hasText: 'The server is not responding' }).waitFor();
  expect(await rows().count()).toBeGreaterThan(0);
  await go('Persons');
  await page.locator('[data-state=failed]').filter({ hasText: 'The server is not responding' }).waitFor();
  await page.unroute('**/*');
  await page.getByRole('button', { name: 'Try again' }).click();
  await page
    .getByRole('heading', { name: 'The console was updated' })
    .or(page.getByRole('heading', { level: 1 }))
    .first()
    .waitFor();
});
