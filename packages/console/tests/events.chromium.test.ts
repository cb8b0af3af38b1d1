import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

interface StoredEvent {
  uuid?: string;
  event?: string;
  distinctId?: string;
  /** Age of the event, as a PostgreSQL interval. */
  ago?: string;
  properties?: object;
}

const quoted = (text: string) => `'${text.replaceAll("'", "''")}'`;

async function store({
  uuid = randomUUID(),
  event = 'seen',
  distinctId = 'ada',
  ago = '1 min',
  properties = {},
}: StoredEvent) {
  const time = `date_trunc('milliseconds', now() - interval '${ago}')`;
  await console.query(
    `WITH known AS (INSERT INTO event_identity (project_id, uuid, timestamp) VALUES ($1, '${uuid}', ${time}))
     INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     VALUES ($1, ${time}, '${uuid}', ${quoted(event)}, ${quoted(distinctId)}, '${randomUUID()}',
             ${quoted(JSON.stringify(properties))}, now())`,
  );
  return uuid;
}

const nested = (depth: number): object => (depth === 0 ? { end: true } : { next: nested(depth - 1) });
const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const chips = (page: Page) => page.locator('.chip').allTextContents();
const detail = (page: Page) => page.getByRole('region', { name: 'This event' });
const queryOf = (page: Page) => new URL(page.url()).searchParams;
const namesOf = (page: Page) => page.locator('a[data-row]').allTextContents();

async function expectAccessible(page: Page) {
  expect(await runAxeInBothThemes(page)).toEqual([]);
}

it('console-007, console-008, console-038: shows different states for empty, loading, failed, refused, missing, timeout', async () => {
  const page = await console.open('events');
  await page.getByRole('heading', { name: 'No events yet' }).waitFor();
  await expectAccessible(page);

  await page.goto(console.address(`events?open=${randomUUID()}`));
  await page.getByRole('heading', { name: 'Event not found' }).waitFor();

  const list = /\/api\/.*\/events\?/;
  const failures = [
    { status: 403, picture: 'refused', code: 'permission_denied' },
    { status: 400, picture: 'failed', code: 'invalid' },
    { status: 503, picture: 'slow', code: 'query_timeout' },
  ];
  for (const { status, picture, code } of failures) {
    await page.route(list, (route) =>
      route.fulfill({ status, headers: { 'x-request-id': 'r-17' }, json: { code, detail: 'Because of a test.' } }),
    );
    await page.goto(console.address('events?event=order&search=or&after=-30d'));
    await page.locator(`[data-state=${picture}]`).waitFor();
    if (picture === 'failed') await page.getByText('r-17').waitFor();
    await page.unroute(list);
  }
  await page.getByText('it had to check many events for names that contain or').waitFor();
  await page.getByRole('button', { name: 'Last 7 days' }).click();
  await page.getByRole('heading', { name: 'No events in this date range match your filters' }).waitFor();
  expect(queryOf(page).get('after')).toBe('-7d');

  let respond = () => {};
  const held = new Promise<void>((resolve) => {
    respond = resolve;
  });
  await page.route(list, async (route) => {
    await held;
    await route.continue();
  });
  await page.reload();
  await page.getByText('Loading').first().waitFor();
  respond();
  await page.getByRole('heading', { name: 'No events in this date range match your filters' }).waitFor();
  await page.context().close();
});

it('console-007: shows how far a search got before it timed out, and continues the search', async () => {
  const page = await console.open('events');
  await page.route(/\/api\/.*\/events\?/, async (route) => {
    const url = new URL(route.request().url());
    if (url.searchParams.has('cursor')) return route.fulfill({ json: { next: null, results: [] } });
    url.searchParams.set('cursor', 'further');
    await route.fulfill({ json: { next: url.href, results: [], searched_until: '2026-11-20T08:15:00Z' } });
  });
  await page.goto(console.address('events?event=order&after=-90d&zone=utc'));
  await page.getByText('It has checked all events since 20 Nov 2026, 08:15.').waitFor();
  expect(await page.getByRole('heading', { name: 'No events in this date range' }).count()).toBe(0);
  await expectAccessible(page);
  await page.getByRole('button', { name: 'Continue search' }).click();
  await page.getByText('It has checked all events').waitFor({ state: 'hidden' });
  expect(queryOf(page).get('cursor')).toBe('further');
  await page.context().close();
});

describe('the Events page with data', () => {
  const hostile = `<img src=x onerror="document.title='run'">`;
  const distinctId = `o'hara\u202e "x"`;
  let hostileId: string;
  beforeAll(async () => {
    await console.query(
      `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
      [],
    );
    await console.storePerson('grace', { email: 'grace@example.com' });
    await console.query(
      `WITH made AS (
         INSERT INTO event_identity (project_id, uuid, timestamp)
         SELECT $1, gen_random_uuid(), date_trunc('milliseconds', now()) - number * interval '1 s'
           FROM generate_series(1, 240) AS number RETURNING uuid, timestamp)
       INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       SELECT $1, timestamp, uuid, 'many', 'grace', gen_random_uuid(), '{"path": "/shelf", "$lib": "web"}', now() FROM made`,
    );
    hostileId = await store({
      event: hostile,
      distinctId,
      ago: '2 hours',
      properties: {
        ...{ link: 'javascript:alert(1)', url: 'https://example.com/?a=1', turned: 'a\u202eb', nothing: null },
        ...{ quoted: `it's "fine"\nand ü`, deep: nested(90), long: 'x'.repeat(1_000_000), formula: '=1+1' },
        ...{ $lib: 'web', $sent_at: '2020-01-01T00:00:00.000Z' },
      },
    });
    await store({ event: 'long ago', ago: '20 days' });
  });

  it('console-004, console-005, console-022: paginates without repeating or skipping events that arrive meanwhile', async () => {
    const page = await console.open('events?event=many&after=-1h');
    await row(page, 'many').first().waitFor();
    const idsOf = () =>
      page.locator('a[data-row]').evaluateAll((links) => links.map((link) => link.getAttribute('data-row')));
    const [first] = [await idsOf()];
    await store({ event: 'many', distinctId: 'grace', ago: '0 s' });
    await page.getByRole('button', { name: 'Next' }).click();
    await eventually(async () => {
      const ids = await idsOf();
      expect([ids.length, ids[0] === first[0]]).toEqual([100, false]);
    });
    const second = await idsOf();
    const [address] = [page.url()];
    await page.getByRole('region', { name: 'Events' }).focus();
    await page.keyboard.press('n');
    await eventually(async () => expect(await idsOf()).toHaveLength(40));
    const all = [...first, ...second, ...(await idsOf())];
    expect(new Set(all).size).toBe(240);
    expect(all).toHaveLength(240);
    await page.getByText('No more events in this date range.').waitFor();
    await page.keyboard.press('p');
    await eventually(async () => expect(await idsOf()).toEqual(second));
    await page.goBack();
    await page.goBack();
    await eventually(async () => expect(await idsOf()).toEqual(second));
    expect(page.url()).toBe(address);

    const other = await console.newPage();
    await other.goto(address);
    await row(other, 'many').first().waitFor();
    expect(
      await other.locator('a[data-row]').evaluateAll((links) => links.map((link) => link.getAttribute('data-row'))),
    ).toEqual(second);
    await other.context().close();
    await page.context().close();
  });

  it('console-012, console-013, console-018, console-020: shows, searches and expands properties as plain text', async () => {
    const page = await console.open(`events?open=${hostileId}`);
    await detail(page).getByRole('heading', { name: hostile }).waitFor();
    expect(await page.title()).not.toBe('run');
    await expectAccessible(page);
    await detail(page).getByText('javascript:alert(1)').waitFor();
    await detail(page).getByRole('button', { name: String.raw`turned: a\u202eb` }).waitFor();
    await detail(page).getByRole('button', { name: 'nothing: null' }).waitFor();
    expect(await detail(page).getByText('Sent at', { exact: true }).isVisible()).toBe(false);
    await detail(page).getByText('The client’s clock was').waitFor();

    const searched = detail(page).getByRole('searchbox');
    await searched.fill('$SENT');
    await detail(page).getByText('Sent at', { exact: true }).waitFor();
    expect(await detail(page).getByText('javascript:').count()).toBe(0);
    await searched.fill('');

    await detail(page).getByRole('button', { name: 'Show all 1,000,000 characters' }).click();
    const shown = await detail(page)
      .locator('.long-text')
      .evaluate((element) => element.textContent?.length);
    expect(shown).toBe(1_000_000);
    await detail(page).locator('div:has(> dt:text-is("deep"))').getByRole('button', { name: 'Show all' }).click();
    expect(await detail(page).locator('.long-text').first().textContent()).toContain(`${'  '.repeat(91)}"end": true`);

    const valueCalled = (name: string) =>
      detail(page).locator(`div:has(> dt:text-is("${name}"))`).getByRole('button').first();
    await valueCalled('link').click();
    expect(await page.getByRole('menuitem').allTextContents()).not.toContain('Open link');
    await page.keyboard.press('Escape');
    await valueCalled('url').click();
    const address = page.getByRole('menuitem', { name: 'Open link' });
    expect(await address.evaluate((link) => [link.getAttribute('href'), link.getAttribute('rel')])).toEqual([
      'https://example.com/?a=1',
      'noopener noreferrer',
    ]);
    await page.getByRole('menuitem', { name: 'Show only events with this value' }).click();
    await eventually(async () => expect(await namesOf(page)).toEqual([hostile]));
    expect(await chips(page)).toEqual(['url is https://example.com/?a=1']);
    await valueCalled('formula').click();
    await page.getByRole('menuitem', { name: 'Hide events with this value' }).click();
    await page.getByRole('heading', { name: 'No events in this date range match your filters' }).waitFor();
    await page.getByRole('button', { name: 'Remove formula =1+1' }).click();
    await eventually(async () => expect(await namesOf(page)).toEqual([hostile]));
    await valueCalled('formula').click();
    await page.getByRole('menuitem', { name: 'Add as column' }).click();
    await page.getByRole('columnheader', { name: 'formula' }).waitFor();

    const download = page.waitForEvent('download');
    await page.getByRole('button', { name: 'CSV' }).click();
    const csv = await readFile(await (await download).path(), 'utf8');
    // console-021: no cell in the file begins like a spreadsheet formula.
    expect(csv.split('\r\n')).toHaveLength(3);
    expect(csv).toContain(`"'=1+1"`);
    expect(csv.match(/(^|,)"[=+\-@\t]/gm)).toBeNull();
    await page.context().close();
  });

  it('summarizes a web event by its custom properties and page, without the project key and distinct ID', async () => {
    const properties = {
      ...{ token: 'phc_of_the_project', distinct_id: 'web-visitor', total: 42, coupon: null, code: '7', plan: 'pro' },
      ...{ $current_url: 'https://shop.example.com/checkout', $browser: 'Firefox', $geoip_country_name: 'France' },
      ...{ $lib: 'web', $session_id: 'session-1', $initial_referring_domain: 'search.example.com' },
    };
    const uuid = await store({ event: 'web checkout', distinctId: 'web-visitor', properties });
    const page = await console.open(
      `events?event=web%20checkout&open=${uuid}&columns=${encodeURIComponent('["$current_url"]')}`,
    );
    const summary = 'code 7 · plan pro · total 42 · https://shop.example.com/checkout · Firefox · France';
    await eventually(async () =>
      expect(await row(page, 'web checkout').locator('.events-summary').textContent()).toBe(summary),
    );
    await page.getByRole('columnheader', { name: 'Current URL' }).waitFor();
    const shown = () =>
      detail(page)
        .getByRole('tabpanel')
        .locator('.facts')
        .first()
        .locator('dt')
        .evaluateAll((names) => names.map((name) => [name.textContent, name.getAttribute('title')]));
    await eventually(async () =>
      expect(await shown()).toEqual([
        ...['code', 'plan', 'total', 'coupon'].map((name) => [name, name]),
        ['Current URL', '$current_url'],
        ['Browser', '$browser'],
        ['Country', '$geoip_country_name'],
        ['Library', '$lib'],
      ]),
    );
    const value = (name: string) => detail(page).getByRole('button', { name: `${name}: ` });
    expect(await value('plan').textContent()).toBe('plan: pro');
    expect(await value('code').textContent()).toBe('code: "7"');
    expect(await detail(page).getByText('phc_of_the_project').isVisible()).toBe(false);
    await detail(page).getByText('4 more properties set by the SDK').click();
    await detail(page).getByText('phc_of_the_project').waitFor();
    await detail(page).getByText('Initial referring domain', { exact: true }).waitFor();
    await detail(page).getByRole('searchbox').fill('current url');
    await eventually(async () => expect(await shown()).toEqual([['Current URL', '$current_url']]));
    await value('Current URL').click();
    await page.getByRole('menuitem', { name: 'Show only events with this value' }).click();
    await eventually(async () =>
      expect(await chips(page)).toEqual(['event  web checkout', 'Current URL is https://shop.example.com/checkout']),
    );
    await page.context().close();
  });

  it('filters events by a substring of the name while the user types, and by the complete name on Enter', async () => {
    await store({ event: 'order placed', ago: '3 min' });
    await store({ event: 'order shipped', ago: '2 min' });
    await console.query(
      `INSERT INTO event_definition (project_id, name) VALUES ($1, 'order placed'), ($1, 'order shipped') ON CONFLICT DO NOTHING`,
    );
    const page = await console.open('events?after=-1h');
    await row(page, 'many').first().waitFor();
    const search = page.getByRole('combobox', { name: 'Event name or UUID' });
    await search.pressSequentially('ORDER');
    await eventually(async () => expect(await namesOf(page)).toEqual(['order shipped', 'order placed']));
    await page.getByText('2 events').waitFor();
    expect(queryOf(page).get('search')).toBe('ORDER');
    await page.reload();
    await eventually(async () => expect(await namesOf(page)).toEqual(['order shipped', 'order placed']));
    expect(await search.inputValue()).toBe('ORDER');
    await search.fill('order placed');
    await page.locator('datalist option[value="order placed"]').waitFor({ state: 'attached' });
    await search.press('Enter');
    await eventually(async () => expect(await namesOf(page)).toEqual(['order placed']));
    expect([await chips(page), await search.inputValue()]).toEqual([['event  order placed'], '']);
    await search.fill('refund');
    await page.getByRole('heading', { name: 'No events in this date range match your filters' }).waitFor();
    await page.getByRole('button', { name: 'Clear filters' }).click();
    await row(page, 'many').first().waitFor();
    expect(await search.inputValue()).toBe('');
    const uuid = await store({ event: 'order returned' });
    await search.fill(uuid.toUpperCase());
    await search.press('Enter');
    await detail(page).getByRole('heading', { name: 'order returned' }).waitFor();
    await page.context().close();
  });

  it('handles keyboard shortcuts everywhere except in text fields', async () => {
    const page = await console.open('events?event=many&after=-1h');
    await row(page, 'many').first().waitFor();
    await page.keyboard.press('n');
    await eventually(() => expect(queryOf(page).get('cursor')).not.toBeNull());
    await page.keyboard.press('p');
    await eventually(() => expect(queryOf(page).get('cursor')).toBeNull());
    await page.keyboard.press('/');
    const search = page.getByRole('combobox', { name: 'Event name or UUID' });
    await eventually(async () => expect(await search.evaluate((field) => field === document.activeElement)).toBe(true));
    await page.keyboard.type('man');
    await eventually(() => expect(queryOf(page).get('search')).toBe('man'));
    expect(queryOf(page).get('cursor')).toBeNull();
    await search.blur();
    await row(page, 'many').first().waitFor();
    await page.keyboard.press('j');
    await eventually(async () => expect(await page.evaluate('document.activeElement.dataset.row')).toBeDefined());
    await page.getByRole('button', { name: 'Columns' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.waitFor();
    await page.keyboard.type('plan');
    expect(await dialog.getByLabel('Property').inputValue()).toBe('plan');
    await dialog.getByRole('button', { name: 'Close' }).focus();
    await page.keyboard.press('n');
    expect(queryOf(page).get('cursor')).toBeNull();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Single-key shortcuts: on' }).click();
    await page.reload();
    await row(page, 'many').first().waitFor();
    await page.keyboard.press('n');
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Single-key shortcuts: off' }).click();
    expect(queryOf(page).get('cursor')).toBeNull();
    await page.keyboard.press('n');
    await eventually(() => expect(queryOf(page).get('cursor')).not.toBeNull());
    await page.context().close();
  });

  it('ends the event list at the current time, counts future events, and shows them on request', async () => {
    await store({ event: 'from tomorrow', ago: '-16 hours' });
    const page = await console.open('events?after=-1h');
    await row(page, 'many').first().waitFor();
    await page.getByText('1 event has a timestamp in the future.').waitFor();
    expect(await namesOf(page)).not.toContain('from tomorrow');
    await page.getByRole('button', { name: 'Show', exact: true }).click();
    await eventually(async () => expect(await namesOf(page)).toEqual(['from tomorrow']));
    expect(await page.getByText('in the future').count()).toBe(0);
    await console.query(`DELETE FROM event WHERE project_id = $1 AND event = 'from tomorrow'`);
    await page.context().close();
  });

  it('shows that a refresh is running, and reports an error if the server is unavailable', async () => {
    const page = await console.open('events?event=many&after=-1h');
    await row(page, 'many').first().waitFor();
    const health = { ...(await console.api<object>('GET', 'health')), visible_after_seconds: 0.2, alarm: null };
    await page.route(/\/health$/, (route) => route.fulfill({ json: health }));
    await page.reload();
    await page.getByText('Ingestion delay: 0.2 s').waitFor();
    await row(page, 'many').first().waitFor();
    const shown = (await namesOf(page)).length;
    await page.route(/\/api\//, (route) => route.abort());
    await page.getByRole('button', { name: 'Refresh' }).click();
    await page.getByRole('button', { name: 'Refreshing…' }).waitFor();
    await page.getByText('Events could not be loaded. The data shown may be out of date or incomplete.').waitFor();
    await page.getByText('The counts could not be loaded.').waitFor();
    await page.getByRole('img', { name: /events by minute$/ }).waitFor();
    expect(await namesOf(page)).toHaveLength(shown);
    await page.getByText('Retrying every ten seconds.').waitFor();
    expect(await page.getByText('Ingestion delay').count()).toBe(0);
    await expectAccessible(page);
    await page.unroute(/\/api\//);
    await page.getByRole('button', { name: 'Try again' }).click();
    await page.getByText('Events could not be loaded.').waitFor({ state: 'detached' });
    await page.context().close();
  });

  it('console-014, console-015, console-017: shows raw JSON, copies a shell command, and opens the person', async () => {
    const page = await console.open(`events?open=${hostileId}`);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const copied = () => page.evaluate<string>('navigator.clipboard.readText()');
    await detail(page).getByRole('heading', { name: hostile }).waitFor();
    const reloaded = page.waitForResponse((response) => response.url().endsWith(`/events/${hostileId}`));
    await page.reload();
    const body = await (await reloaded).text();
    await detail(page).getByRole('button', { name: 'Copy JSON' }).click();
    await detail(page).getByText('Copied').waitFor();
    expect(await copied()).toBe(body);
    await detail(page).getByRole('tab', { name: 'Raw' }).click();
    const raw = (await detail(page).locator('.long-text').textContent()) ?? '';
    expect(JSON.parse(raw)).toEqual(JSON.parse(body));

    const small = await store({
      event: `it's "new"\n`,
      properties: { quote: `a'b"c\n$HOME \`id\` ü`, big: 1e21 },
      distinctId,
    });
    await page.goto(console.address(`events?open=${small}`));
    await detail(page).getByRole('button', { name: 'Copy as curl' }).click();
    await detail(page).getByText('Copied').waitFor();
    const { stdout } = await promisify(execFile)('sh', ['-c', `curl() { printf '%s\\0' "$@"; }\n${await copied()}`]);
    const given = stdout.split('\0');
    expect(given.find((one) => one.startsWith('http'))).toMatch(/\/i\/v0\/e\/$/);
    const sent = JSON.parse(given[given.indexOf('--data-binary') + 1] ?? '');
    expect(sent).toEqual({
      api_key: expect.stringMatching(/^phc_/),
      event: `it's "new"\n`,
      distinct_id: distinctId,
      properties: { quote: `a'b"c\n$HOME \`id\` ü`, big: 1e21 },
    });
    expect(stdout).not.toContain('phx_');

    await page.goto(console.address('events?event=many&after=-1h'));
    await row(page, 'many').first().click();
    await detail(page).getByText('grace@example.com').first().waitFor();
    await detail(page).getByText('Open person').click();
    await page.getByText('grace@example.com').first().waitFor();
    await page.context().close();
  });

  it('console-006, console-023, console-024: reports an invalid URL, freezes relative ranges, and names the time zone', async () => {
    const page = await console.open('events?after=yesterday&properties=%7B&shade=red&open=1');
    await row(page, 'many').first().waitFor();
    await page
      .getByText('unknown or invalid parameters')
      .getByText(/shade.*after.*properties.*open/)
      .or(page.getByText(/shade, after, properties, open/))
      .waitFor();
    await page.getByRole('button', { name: /^Date range: Last 24 hours / }).click();
    await page.getByRole('menuitem', { name: 'Last hour' }).click();
    await eventually(() => expect(queryOf(page).get('after')).toBe('-1h'));
    await page.getByRole('button', { name: /^Date range: / }).click();
    await page.getByRole('menuitem', { name: 'Convert to fixed dates' }).click();
    await eventually(() => expect(queryOf(page).get('after')).toMatch(/^20.*Z$/));
    expect(Date.parse(queryOf(page).get('before') ?? '') - Date.parse(queryOf(page).get('after') ?? '')).toBe(
      3_600_000,
    );
    await page.getByRole('button', { name: /^Date range: / }).click();
    await page.getByRole('menuitem', { name: /^UTC/ }).click();
    await page.getByRole('button', { name: /^Date range: .* UTC$/ }).waitFor();
    expect(queryOf(page).get('zone')).toBe('utc');

    // Use a 25-hour day, on which clocks are set back, in a time zone that differs from the machine's.
    await page.goto(console.address('events?after=2026-10-24T22:00:00Z&before=2026-10-25T23:00:00Z'));
    await page.getByRole('img', { name: /events by hour$/ }).waitFor();
    await page.getByRole('heading', { name: 'No events in this date range' }).waitFor();
    await page.context().close();
  });

  it('narrows the range to a bar in the chart, and links from an empty range to the latest event', async () => {
    const page = await console.open('events?event=many&after=-1h');
    await page.getByText('241 events').waitFor();
    await page.getByText('Counts as a table').click();
    await page
      .getByRole('button', { name: /^Show only/ })
      .first()
      .press('Enter');
    await eventually(() => expect(queryOf(page).get('before')).toMatch(/^20/));
    await eventually(async () => expect((await namesOf(page)).length).toBeGreaterThan(0));
    await page.goto(console.address('events?event=long%20ago'));
    await page.getByRole('button', { name: 'Show the most recent event' }).click();
    await row(page, 'long ago').waitFor();
    expect(queryOf(page).get('after')).toBe('-30d');
    const hint = page.getByText('This filter may have to read many events.');
    expect(await hint.count()).toBe(0);
    await page.goto(console.address('events?search=long&after=-30d'));
    await row(page, 'long ago').waitFor();
    await hint.waitFor();

    await page.getByRole('button', { name: 'Add filter' }).click();
    const dialog = page.getByRole('dialog', { name: 'Add filter' });
    await expectAccessible(page);
    await dialog.getByLabel('Filter by').selectOption('distinct_id');
    await dialog.getByLabel('Value').fill('ada');
    await page.keyboard.press('Enter');
    await eventually(async () => expect(await chips(page)).toEqual(['distinct ID  ada']));
    expect(await hint.count()).toBe(0);
    await page.goBack();
    await eventually(async () => expect(await chips(page)).toHaveLength(0));
    await page.context().close();
  });

  it('console-039, console-042: the Events page works with only the keyboard and fits on a phone screen', async () => {
    const page = await console.open('events?after=-24h', { width: 360, height: 640 });
    await row(page, 'many').first().waitFor();
    const overflow = () => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');
    expect(await overflow()).toBe(0);
    await expectAccessible(page);
    await page.getByRole('region', { name: 'Events' }).focus();
    const [first = '', second = ''] = await page
      .locator('a[data-row]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('data-row') ?? ''));
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await eventually(() => expect(queryOf(page).get('open')).toBe(first));
    await detail(page).getByRole('heading').first().waitFor();
    expect(await overflow()).toBe(0);
    await expectAccessible(page);
    await eventually(async () => expect(await page.evaluate('document.activeElement.tagName')).toBe('H2'));
    await page.keyboard.press('j');
    await eventually(() => expect(queryOf(page).get('open')).toBe(second));
    await page.keyboard.press('r');
    await eventually(() => expect(queryOf(page).get('tab')).toBe('raw'));
    await page.keyboard.press('Escape');
    await eventually(async () => expect(await page.evaluate('document.activeElement.dataset.row')).toBe(second));
    expect(queryOf(page).get('open')).toBeNull();
    await page.context().close();
  });
});
