import { randomUUID } from 'node:crypto';
import { consumerGroup, publisherGroup, topicNames } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxeInBothThemes, startConsole } from './start-console.ts';

const topics = topicNames();
let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  for (const topic of [topics.live, topics.overflow, topics.historical, topics.deadLetter])
    await console.query('INSERT INTO event_log_partition (topic, partition) VALUES ($1, 0)', [topic]);
});
afterAll(() => console?.stop());

const tile = (page: Page, label: string) => page.locator('.tile').filter({ hasText: label });
const overflow = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

async function expectAccessible(page: Page) {
  expect(await runAxeInBothThemes(page)).toEqual([]);
}

const respondWith = (page: Page, route: RegExp, status: number) =>
  page.route(route, (one) =>
    one.fulfill({ status, headers: { 'x-request-id': 'r-17' }, json: { detail: 'Because of a test.' } }),
  );

// This test must run before the API first reads the log, because the API never reports an event as older than its
// previous read.
it('console-032: shows a line with a link to the Health page on every page while events are delayed', async () => {
  for (const key of ['a', 'b']) await console.append(topics.live, { key, value: '{}', headers: {} });
  for (const group of [consumerGroup('live'), publisherGroup('live')])
    await console.query(
      `INSERT INTO consumer_offset ("group", topic, partition, log, next_offset, last_record_fingerprint)
       SELECT $1, topic, partition, 'postgres/' || log_id, 1, $3 FROM event_log_partition WHERE topic = $2`,
      [group, topics.live, `0/${Date.now() - 20 * 60_000}`],
    );
  const page = await console.newPage();
  for (const path of ['live', 'events', 'persons', 'flags', 'warnings', 'settings']) {
    await page.goto(console.address(path));
    await page.locator('.health-line').filter({ hasText: 'Events are delayed.' }).waitFor();
  }
  await expectAccessible(page);
  await page.locator('.health-line').getByRole('link', { name: 'See what is delayed' }).click();
  await tile(page, 'Ingestion delay').getByText('20 min').waitFor();
  await page.getByRole('row').filter({ hasText: 'live' }).getByText('20 min').waitFor();
  expect(await page.locator('.health-line').getByRole('link').count()).toBe(0);
  await expectAccessible(page);
  await console.query('UPDATE consumer_offset SET next_offset = 2', []);
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.locator('.health-line').waitFor({ state: 'detached' });
  await eventually(async () => expect(await page.locator('.tile-figure.warn').count()).toBe(0));
  await page.context().close();
});

it('console-038, console-042: shows the backlog, throughput and services, also on a phone screen', async () => {
  const page = await console.open('health');
  await tile(page, 'Ingestion delay').getByText('0.0 s').waitFor();
  await tile(page, 'Dead letters').getByText('all events could be processed').waitFor();
  await page.getByRole('row').filter({ hasText: 'overflow' }).getByText('never').waitFor();
  await page
    .getByRole('listitem')
    .filter({ hasText: 'Management API' })
    .getByText(/connection/)
    .waitFor();
  await page.getByText(/This page is served by API version \d/).waitFor();
  await page.getByRole('img', { name: '0 events in this date range' }).waitFor();
  await expectAccessible(page);
  expect(
    await page.evaluate('document.querySelector("main").scrollHeight - document.querySelector("main").clientHeight'),
  ).toBe(0);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await overflow(page)).toBe(0);
  await expectAccessible(page);
  await page.context().close();
});

it('console-004, console-006, console-023: keeps the time range in the URL, and reports an invalid range', async () => {
  await console.query(
    `INSERT INTO ingestion_warning (project_id, id, type, severity, count, timestamp)
     VALUES ($1, '${randomUUID()}', 'missing_distinct_id', 'error', 7, now() - interval '5 hours')`,
  );
  const page = await console.open('health?after=soon');
  await page.getByText('unknown or invalid parameter: after').waitFor();
  await page.getByRole('img', { name: '0 dropped in this date range' }).waitFor();
  await page.getByRole('button', { name: /^Date range: Last hour/ }).click();
  await page.getByRole('menuitem', { name: 'Last 24 hours' }).click();
  await page.getByRole('img', { name: '7 dropped in this date range' }).waitFor();
  expect(new URL(page.url()).search).toBe('?after=-24h');
  const link = await page.getByRole('link', { name: 'View warnings' }).getAttribute('href');
  expect(link).toContain('/warnings?after=-24h');
  await page.context().close();
});

it.each([
  [403, 'refused'],
  [404, 'gone'],
  [400, 'failed'],
])(
  'console-007, console-008: shows a %i response as "%s", and keeps the other sections of the Health page',
  async (status, picture) => {
    const page = await console.newPage();
    await respondWith(page, /events\/counts/, status);
    await page.goto(console.address('health'));
    await page.getByRole('region', { name: 'Events' }).locator(`[data-state=${picture}]`).waitFor();
    await tile(page, 'Ingestion delay').getByText('0.0 s').waitFor();
    await page.getByRole('img', { name: /dropped in this date range/ }).waitFor();
    await page.context().close();
  },
);

it('grays out only the Health tile whose source is unavailable, and shows the reason', async () => {
  const page = await console.open('live');
  let respond = () => {};
  const held = new Promise<void>((resolve) => {
    respond = resolve;
  });
  await page.route(/\/api\/.*\/health$/, async (route) => {
    await held;
    const response = await route.fetch();
    const health = (await response.json()) as Record<string, object>;
    const sources = { ...health.sources, log: 'The event log does not respond.' };
    const clickhouse = { events_age_seconds: 9, persons_age_seconds: 7200 };
    await route.fulfill({
      json: { ...health, topics: null, visible_after_seconds: null, sql_role: false, clickhouse, sources },
    });
  });
  await page.goto(console.address('health'));
  await tile(page, 'Ingestion delay').getByText('loading …').waitFor();
  await page.getByRole('region', { name: 'Topics' }).getByText('Loading').waitFor();
  respond();
  const away = page.locator('.tile-away');
  await away.getByText('The event log does not respond.').waitFor();
  expect(await away.count()).toBe(1);
  await page.getByRole('region', { name: 'Topics' }).locator('[data-state=away]').waitFor();
  await tile(page, 'Stored in the last minute').getByText('0', { exact: true }).waitFor();
  await page.getByText(/events of the last 9\.0 s yet\. Changes of persons in the last 2 h/).waitFor();
  await page.getByText(/^SQL queries run with the database role of the API\./).waitFor();
  await expectAccessible(page);
  await page.context().close();
});
