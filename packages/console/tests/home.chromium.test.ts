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
});
afterAll(() => console?.stop());

const day = 24 * 60;
async function store(event: string, person: string, minutesAgo: number, properties: object = {}): Promise<void> {
  await console.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT $1, now() - $2::int * interval '1 minute', gen_random_uuid(), $3::text, $4::text, md5($4::text)::uuid, $5::jsonb, now()`,
    [console.tenant.environmentId, minutesAgo, event, person, properties],
  );
}

const view = (person: string, minutesAgo: number, session: string, path: string, more: object = {}) =>
  store('$pageview', person, minutesAgo, { $session_id: session, $pathname: path, ...more });

const figure = (page: Page, name: string) =>
  page.getByRole('region', { name: 'Overview' }).locator('.tile', { hasText: name }).locator('.tile-figure');
const rowsOf = async (page: Page, table: string) => {
  const rows = await page.getByRole('table', { name: table }).locator('tbody tr').allInnerTexts();
  // In each row, the text for screen readers precedes the visible text.
  return rows.map((row) => row.replace(/^Filter by [^:]*:\s*/, '').replaceAll(/\s*\t\s*/g, ' · '));
};

/** These tests depend on each other, because each test adds events to the same project. */
it('opens the Live page instead of the start page in a project without events', async () => {
  const page = await console.open('');
  await page.waitForURL('**/live');
  await page.getByText('Waiting for the first event').waitFor();
  await page.context().close();
});

it('shows a dashboard in a project without page views, and the setup steps until they are done', async () => {
  await store('ordered', 'ada', 1);
  const page = await console.open('');
  await page.waitForURL('**/home');
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await page.getByRole('heading', { name: 'No dashboards yet' }).waitFor();
  await page.getByText('1 visitor online').waitFor();
  const steps = page.getByRole('region', { name: 'Get started' });
  await steps.getByText('1 of 5 done').waitFor();
  expect(await runAxe(page)).toEqual([]);

  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Orders of the shop' });
  await console.api('POST', 'insights', {
    ...{ name: 'Orders', saved: true, dashboards: [id] },
    query: { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'ordered' }] },
  });
  await page.goto(console.address('home'));
  await page.getByRole('heading', { level: 1, name: 'Orders of the shop' }).waitFor();
  await page.getByRole('link', { name: 'Orders', exact: true }).waitFor();
  await steps.getByText('2 of 5 done').waitFor();
  await page.getByLabel('Date range').selectOption({ label: 'Last 30 days' });
  await eventually(async () => expect(new URL(page.url()).searchParams.get('time')).toContain('-30d'));

  await store('$identify', 'ada', 1);
  await console.api('POST', 'feature_flags', {
    key: 'new-checkout',
    filters: { groups: [{ properties: [], rollout_percentage: 100 }] },
  });
  await page.goto(console.address('home'));
  await steps.getByText('4 of 5 done').waitFor();
  await steps.getByRole('link', { name: 'Invite a teammate' }).waitFor();
  await steps.getByRole('button', { name: 'Dismiss' }).click();
  await steps.waitFor({ state: 'detached' });
  await page.reload();
  await page.getByRole('heading', { level: 1, name: 'Orders of the shop' }).waitFor();
  await page.getByText('1 visitor online').waitFor();
  expect(await steps.count()).toBe(0);
  await page.context().close();
});

it('shows website traffic, and filters all figures when the user clicks a row', async () => {
  const search = { $referring_domain: 'search.test', $browser: 'Firefox', $geoip_country_code: 'DE' };
  await view('ada', 3 * day, 'a1', '/', { ...search, utm_source: 'news' });
  await view('ada', 3 * day - 2, 'a1', '/pricing', search);
  await view('bob', 2 * day, 'b1', '/', {
    $referring_domain: '$direct',
    $browser: 'Safari',
    $geoip_country_code: 'FR',
  });
  await view('cid', 2, 'c1', '/docs', {
    $referring_domain: 'search.test',
    $browser: 'Safari',
    $geoip_country_code: 'FR',
  });
  await view('ada', 11 * day, 'a0', '/');
  const page = await console.open('');
  await page.waitForURL('**/home');
  await page.getByRole('heading', { level: 1, name: 'Home' }).waitFor();
  await page.getByText('2 visitors online').waitFor();
  await eventually(async () => expect(await figure(page, 'Visitors').textContent()).toBe('3'));
  expect(await figure(page, 'Page views').textContent()).toBe('4');
  expect(await figure(page, 'Sessions').textContent()).toBe('3');
  expect(await figure(page, 'Session duration').textContent()).toBe('40 s');
  expect(await figure(page, 'Bounce rate').textContent()).toBe('66.7%');
  await page.getByText('from 1', { exact: false }).first().waitFor();
  await page.getByRole('img', { name: 'Visitors over time' }).waitFor();
  await eventually(async () =>
    expect(await rowsOf(page, 'Top pages')).toEqual([
      '/ · 2 · 2 · 50.0%',
      '/docs · 1 · 1 · 100%',
      '/pricing · 1 · 1 · –',
    ]),
  );
  expect(await rowsOf(page, 'Countries')).toEqual(['France · 2 · 2', 'Germany · 1 · 2']);
  expect(await rowsOf(page, 'Referrers')).toEqual(['search.test · 2 · 3 · 50.0%', 'Direct · 1 · 1 · 100%']);
  await page.getByRole('button', { name: 'Browsers' }).click();
  await eventually(async () => expect(await rowsOf(page, 'Browsers')).toEqual(['Safari · 2 · 2', 'Firefox · 1 · 2']));
  await page.getByRole('button', { name: 'UTM source' }).click();
  await page.getByRole('button', { name: 'Filter by UTM source: (none)' }).waitFor();

  await page.getByRole('button', { name: 'Filter by UTM source: news' }).press('Enter');
  await eventually(async () => expect(await figure(page, 'Visitors').textContent()).toBe('1'));
  await eventually(async () => expect(await rowsOf(page, 'Countries')).toEqual(['Germany · 1 · 2']));
  expect(new URL(page.url()).searchParams.get('filters')).toBe('["InitialUTMSource:news"]');
  await page.getByRole('button', { name: 'Entry pages' }).click();
  await page.getByRole('button', { name: 'Filter by Entry page: /', exact: true }).click();
  const copied = page.url();
  await page.getByRole('button', { name: 'Remove UTM source news' }).click();
  await eventually(async () => expect(await figure(page, 'Visitors').textContent()).toBe('2'));

  await page.goto(copied);
  await eventually(async () => expect(await figure(page, 'Visitors').textContent()).toBe('1'));
  await page.getByRole('table', { name: 'Entry pages' }).waitFor();
  await page.goBack();
  await page.getByLabel('Compare with').selectOption('none');
  await eventually(async () => expect(await page.getByText(/^from /).count()).toBe(0));
  await console.query(
    `UPDATE environment SET test_account_filters = '[{"key": "$browser", "value": "Firefox", "operator": "is_not", "type": "event"}]' WHERE id = $1`,
  );
  await page.getByLabel('Exclude internal and test users').check();
  await eventually(async () => expect(await rowsOf(page, 'Countries')).toEqual(['France · 1 · 1']));
  expect(new URL(page.url()).searchParams.get('internal')).toBe('excluded');
  await page.getByLabel('Exclude internal and test users').uncheck();
  await page.getByLabel('Date range').selectOption('dStart');
  await eventually(async () => expect(new URL(page.url()).searchParams.get('time')).toBe('dStart'));
  await page.context().close();
});

it('shows that no visitors match the filters, and names unknown URL parameters', async () => {
  const filters = encodeURIComponent('["Browser:Lynx","Nonsense:1"]');
  const page = await console.open(`home?filters=${filters}&time=-30d`);
  await page.getByRole('heading', { name: 'No visitors match your filters' }).waitFor();
  await page.getByText(/invalid parameters?: filters/).waitFor();
  await page.getByRole('button', { name: 'Clear filters' }).click();
  await eventually(async () => expect(await figure(page, 'Visitors').textContent()).toBe('3'));
  await page.context().close();
});

it('passes the checks for every page on the start page with data', async () => {
  const page = await console.open('home');
  await eventually(async () => expect(await rowsOf(page, 'Countries')).toHaveLength(2));
  expect(await findPageProblems(page)).toEqual([]);
  await page.context().close();
});

it("shows why the start page's numbers cannot be loaded", async () => {
  const page = await console.open('flags');
  await page.route('**/api/projects/*/query', (route) =>
    route.fulfill({ status: 400, json: { type: 'validation_error', code: 'query_timeout', detail: 'Too slow.' } }),
  );
  await page.getByRole('link', { name: 'Home' }).click();
  await page.getByText('Too slow.').first().waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.context().close();
});
