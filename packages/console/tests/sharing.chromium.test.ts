import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { findPageProblems } from './page-checks.ts';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
  for (const hoursAgo of [2, 3, 50]) {
    await console.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       VALUES ($1, now() - interval '${hoursAgo} hours', gen_random_uuid(), 'ordered', 'ada', gen_random_uuid(), '{}', now())`,
    );
  }
});
afterEach(() => console.closePages());
afterAll(() => console?.stop());

const trend = (more: object = {}) => ({
  kind: 'TrendsQuery',
  dateRange: { date_from: '-7d' },
  series: [{ kind: 'EventsNode', event: 'ordered' }],
  ...more,
});

/** Opens the page as a new visitor without cookies or an API key. */
async function stranger(width = 1280): Promise<Page> {
  const visitor = await console.newVisitor({ width });
  return visitor.newPage();
}

const linkOf = (page: Page) => page.getByRole('textbox', { name: 'Public link' }).inputValue();

it('shares a dashboard publicly and in an iframe on another site, and stops sharing', async () => {
  const board = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Growth', description: 'This week' });
  const dashboards = [board.id];
  await console.api('POST', 'insights', { name: 'Orders', query: trend(), dashboards });
  const total = trend({ trendsFilter: { display: 'BoldNumber' } });
  await console.api('POST', 'insights', { name: 'Total', query: total, dashboards });
  await console.api('PATCH', `dashboards/${board.id}`, { tiles: [{ text: { body: '# Goals' } }] });

  const page = await console.open(`dashboards?dashboard=${board.id}`);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Share' }).click();
  await page.getByRole('heading', { name: 'Share Growth' }).waitFor();
  await page.getByRole('checkbox', { name: 'Share publicly' }).click();
  await page.getByRole('button', { name: 'Copy public link' }).waitFor();
  expect(await runAxe(page)).toEqual([]);
  const link = await linkOf(page);
  expect(link).toMatch(/^http:\/\/127\.0\.0\.1:\d+\/shared\/[\w-]{43}$/);

  const visitor = await stranger();
  const requested: string[] = [];
  visitor.on('request', (request) => requested.push(new URL(request.url()).pathname));
  await visitor.goto(link);
  await visitor.getByRole('heading', { level: 1, name: 'Growth' }).waitFor();
  await visitor.getByText('This week').waitFor();
  await visitor.getByRole('heading', { level: 3, name: 'Goals' }).waitFor();
  await eventually(async () => expect(await visitor.locator('.tile-figure').allTextContents()).toEqual(['3', '3']));
  expect(await visitor.title()).toBe('Growth');
  // The public page has no navigation and no links to the underlying data. It requests only its own data.
  expect(await visitor.locator('a, nav, .link-button').count()).toBe(0);
  expect(requested.filter((path) => path.startsWith('/api/') && !path.startsWith('/api/shared/'))).toEqual([]);
  expect(await visitor.context().cookies()).toEqual([]);
  expect(await findPageProblems(visitor)).toEqual([]);
  await visitor.setViewportSize({ width: 390, height: 800 });
  expect(await visitor.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);

  const embedded = link.replace('/shared/', '/embedded/');
  const site = createServer((request, response) => {
    const address = request.url === '/embed' ? embedded : link;
    response.setHeader('content-type', 'text/html').end(`<title>Site</title><iframe src="${address}" title="x">`);
  }).listen(0, '127.0.0.1');
  await once(site, 'listening');
  const other = `http://127.0.0.1:${(site.address() as AddressInfo).port}`;
  const reader = await stranger();
  await reader.goto(`${other}/embed`);
  const frame = reader.frameLocator('iframe');
  await frame.getByRole('heading', { level: 1, name: 'Growth' }).waitFor();
  await frame.locator('.tile-figure', { hasText: '3' }).first().waitFor();
  const refusals: string[] = [];
  reader.on('console', (message) => refusals.push(message.text()));
  await reader.goto(`${other}/shared`);
  await eventually(async () => expect(refusals.join()).toContain("frame-ancestors 'none'"));
  site.close();

  await page.getByRole('checkbox', { name: 'Show title and description' }).click();
  await eventually(async () => {
    await visitor.reload();
    await visitor.getByRole('heading', { level: 2, name: 'Orders' }).waitFor();
    expect(await visitor.getByText('This week').count()).toBe(0);
  });
  await page.getByRole('button', { name: 'Generate new link' }).click();
  await eventually(async () => expect(await linkOf(page)).not.toBe(link));
  expect((await visitor.reload())?.status()).toBe(404);
  await visitor.getByRole('heading', { name: 'This link does not work' }).waitFor();
  expect(await findPageProblems(visitor)).toEqual([]);
  const next = await linkOf(page);
  expect((await visitor.goto(next))?.status()).toBe(200);
  await page.getByRole('checkbox', { name: 'Share publicly' }).click();
  await page.getByRole('button', { name: 'Copy public link' }).waitFor({ state: 'detached' });
  expect((await visitor.reload())?.status()).toBe(404);
});

it('shares an insight with a link that sets the theme, and explains why sharing is not possible', async () => {
  const made = await console.api<{ id: number; short_id: string }>('POST', 'insights', {
    name: 'Weekly orders',
    query: trend({ interval: 'week' }),
    saved: true,
  });
  await console.api('PATCH', `insights/${made.id}/sharing`, { settings: { theme: 'dark' } });
  const page = await console.open(`insights?insight=${made.short_id}`);
  await page.getByRole('button', { name: 'Share' }).click();
  await page.getByRole('checkbox', { name: 'Share publicly' }).click();
  await page.getByRole('button', { name: 'Copy public link' }).waitFor();
  const visitor = await stranger(390);
  await visitor.goto(await linkOf(page));
  await visitor.getByRole('heading', { level: 1, name: 'Weekly orders' }).waitFor();
  await visitor.locator('.tile-figure', { hasText: '3' }).waitFor();
  await visitor.getByRole('slider', { name: /ordered/ }).waitFor();
  expect(await visitor.locator('html').getAttribute('data-theme')).toBe('dark');

  await page.getByRole('checkbox', { name: 'Share publicly' }).click();
  await page.getByRole('button', { name: 'Copy public link' }).waitFor({ state: 'detached' });
  await console.query('UPDATE organization SET allow_publicly_shared_resources = false', []);
  await page.getByRole('checkbox', { name: 'Share publicly' }).click();
  await page.getByText('Public sharing is disabled for this organization.').waitFor();
  expect(await page.getByRole('checkbox', { name: 'Share publicly' }).isChecked()).toBe(false);
});
