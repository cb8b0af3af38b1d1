import { readFile } from 'node:fs/promises';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';

let console: RunningConsole;
const hostile = `<img src=x onerror="alert('1')">`;
beforeAll(async () => {
  console = await startConsole();
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
});
afterEach(() => console.closePages());
afterAll(() => console?.stop());

const ada = '0a7e1d52-9c1f-4a53-8a44-000000000001';
const bob = '0a7e1d52-9c1f-4a53-8a44-000000000002';

async function storeEvents(): Promise<void> {
  await console.storePerson('ada', { name: 'Ada Lovelace' }, { uuid: ada });
  await console.storePerson('bob', {}, { uuid: bob });
  for (const [event, who, person, hoursAgo, properties] of [
    ['opened', 'ada', ada, 50, { price: 2, plan: hostile }],
    ['opened', 'bob', bob, 49, { price: 3, plan: 'free' }],
    ['ordered', 'ada', ada, 26, { price: 40, plan: hostile }],
    ['ordered', 'ada', ada, 2, { price: 2, plan: hostile }],
  ] as const) {
    await console.query(
      `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
       VALUES ($1, now() - interval '${hoursAgo} hours', gen_random_uuid(), '${event}', '${who}', '${person}',
               '${JSON.stringify(properties).replaceAll("'", "''")}', now())`,
    );
  }
  for (const name of ['opened', 'ordered'])
    await console.query(
      `INSERT INTO event_definition (project_id, name, created_at, last_seen_at) VALUES ($1, '${name}', now(), now()) ON CONFLICT DO NOTHING`,
    );
}

const figure = (page: Page) => page.locator('.insight-figure strong');
const addressOf = (query: object) =>
  console.address(`insights?insight=new&query=${encodeURIComponent(JSON.stringify(query))}`);
const node = (event: string) => ({ kind: 'EventsNode', event });
const shows = (page: Page, value: string) => page.getByText(value, { exact: true }).and(figure(page)).waitFor();
async function pick(page: Page, label: string, name: string): Promise<void> {
  const field = page.getByRole('combobox', { name: label, exact: true });
  await field.fill(name);
  await field.press('Enter');
}

it('console-007: shows different messages for no insights, no matches, an unknown insight and unknown URL parameters', async () => {
  const page = await console.open('insights');
  await page.getByRole('heading', { name: 'No insights yet' }).waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.goto(console.address('insights?search=x&nonsense=1'));
  await page.getByRole('heading', { name: 'No insights match your search' }).waitFor();
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  await page.goto(console.address('insights?insight=nobody12'));
  await page.locator('[data-state=gone]').waitFor();
  await page.goto(console.address('insights?insight=new&query={'));
  await page.getByText('The query in the URL is invalid').waitFor();
  await page.getByRole('heading', { name: 'No matching events in this date range' }).or(figure(page)).first().waitFor();
});

it('builds, runs, saves, finds, changes and deletes an insight', async () => {
  await storeEvents();
  const page = await console.open('insights');
  await page.getByRole('button', { name: 'New insight' }).first().click();
  await pick(page, 'Event A', 'ordered');
  await page.getByText('2', { exact: true }).and(figure(page)).waitFor();
  await page.getByLabel('Aggregation for event A').selectOption({ label: 'Sum of' });
  await page.getByText('Choose a property. Until then').waitFor();
  await pick(page, 'Property to aggregate for event A', 'price');
  await page.getByText('42', { exact: true }).and(figure(page)).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  expect(await page.getByLabel('Name').inputValue()).toBe('ordered (sum of price), last 30 days');
  await page.keyboard.type('Money');
  await page.getByRole('dialog').getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Money' }).waitFor();
  expect(new URL(page.url()).searchParams.get('insight')).toMatch(/^[A-Za-z0-9]{8}$/);
  const [stored] = (await console.api<{ results: { query: unknown; saved: boolean }[] }>('GET', 'insights')).results;
  expect(stored).toMatchObject({
    saved: true,
    query: { kind: 'InsightVizNode', source: { series: [{ event: 'ordered', math: 'sum', math_property: 'price' }] } },
  });
  // Edits are stored in the URL, but are not saved automatically.
  await page.getByLabel('Breakdown', { exact: true }).selectOption('event');
  await pick(page, 'Breakdown property', 'plan');
  await page.getByRole('cell', { name: hostile }).waitFor();
  await page.getByText('Unsaved changes').waitFor();
  await page.reload();
  await page.getByRole('cell', { name: hostile }).waitFor();
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByText('Saved ·').waitFor();
  await page.getByRole('button', { name: 'All insights' }).click();
  await page.getByRole('cell', { name: 'Trends' }).waitFor();
  await page.getByRole('button', { name: 'Money', exact: true }).click();
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete insight' }).click();
  await page.getByRole('heading', { name: 'No insights yet' }).waitFor();
});

const week = { dateRange: { date_from: '-7d' } };
it.each<[number, string, object]>([
  [1, 'ordered, last 7 days', { kind: 'TrendsQuery', series: [node('ordered')], ...week }],
  [
    2,
    'A / B of ordered (unique users) and All events by Browser, this month',
    {
      ...{
        kind: 'TrendsQuery',
        series: [
          { ...node('ordered'), math: 'dau' },
          { kind: 'EventsNode', event: null },
        ],
      },
      ...{ trendsFilter: { formula: 'A / B' }, breakdownFilter: { breakdown: '$browser', breakdown_type: 'event' } },
      dateRange: { date_from: 'mStart' },
    },
  ],
  [3, 'a, b, and 2 more, last 7 days', { kind: 'TrendsQuery', series: ['a', 'b', 'c', 'd'].map(node), ...week }],
  [
    4,
    'Funnel opened → ordered, last 7 days',
    { kind: 'FunnelsQuery', series: ['opened', 'ordered'].map(node), ...week },
  ],
  [5, 'Lifecycle of opened, last 7 days', { kind: 'LifecycleQuery', series: [node('opened')], ...week }],
  [
    6,
    'Retention from opened to ordered',
    {
      kind: 'RetentionQuery',
      retentionFilter: {
        ...{ period: 'Day', totalIntervals: 8 },
        ...{ targetEntity: { id: 'opened', type: 'events' }, returningEntity: { id: 'ordered', type: 'events' } },
      },
    },
  ],
])('case %i: suggests the name %s for a new insight, and saves the insight under that name', async (_, name, query) => {
  const page = await console.newPage();
  await page.goto(addressOf(query));
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
});

it('counts a person with events on two days only once in the total', async () => {
  const query = {
    kind: 'TrendsQuery',
    series: [{ kind: 'EventsNode', event: 'ordered', math: 'dau' }],
    dateRange: { date_from: '-1d' },
  };
  const page = await console.open(`insights?insight=new&query=${encodeURIComponent(JSON.stringify(query))}`);
  // The range has two or three days with events, each with at most one person.
  await page.locator('.insight-figure').filter({ hasText: 'on average' }).waitFor();
  expect(Number(await figure(page).textContent())).toBeLessThanOrEqual(1);
});

it("opens a number's list of persons by keyboard, and links to each person", async () => {
  const page = await console.newPage();
  await page.goto(
    addressOf({ kind: 'TrendsQuery', series: [{ ...node('opened'), math: 'dau' }], dateRange: { date_from: '-7d' } }),
  );
  await page.getByRole('button', { name: 'Table' }).press('Enter');
  const numbers = page.getByRole('button', { name: /^Persons: opened/ });
  await numbers.first().waitFor();
  for (const number of await numbers.all()) {
    if ((await number.textContent()) === '0') continue;
    await number.press('Enter');
    break;
  }
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('link').first().waitFor();
  expect(await dialog.getByRole('link').allTextContents()).toEqual(expect.arrayContaining(['Ada Lovelace']));
  await dialog
    .getByRole('status')
    .getByText(/^\d persons?$/)
    .waitFor();
  const download = page.waitForEvent('download');
  await dialog.getByRole('button', { name: 'Export CSV' }).click();
  const file = await (await download).path();
  expect(await readFile(file, 'utf8')).toMatch(/^\ufeffid,name,email,distinct_id,properties\r\n.*,Ada Lovelace,/s);
  await dialog.getByRole('button', { name: 'Save as cohort' }).click();
  await page.getByLabel('Name').fill('Openers');
  await page.getByRole('button', { name: 'Create cohort' }).click();
  await page.getByText(/^The cohort Openers was created with \d persons?\.$/).waitFor();
  const { results } = await console.api<{ results: { name: string; is_static: boolean }[] }>('GET', 'cohorts');
  expect(results).toMatchObject([{ name: 'Openers', is_static: true }]);
  await page.getByRole('button', { name: 'Close' }).last().click();
  await dialog.getByRole('link', { name: 'Ada Lovelace' }).click();
  await page.getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
});

it("shows a funnel's steps, its drop-off, and the persons in each step", async () => {
  const page = await console.newPage();
  await page.goto(
    addressOf({ kind: 'FunnelsQuery', series: [node('opened'), node('ordered')], dateRange: { date_from: '-7d' } }),
  );
  await page.getByRole('row', { name: /2\. ordered .*1 50\.0% 50\.0% .*1 1 d/ }).waitFor();
  await page.getByRole('button', { name: 'Persons: ordered, 1' }).click();
  await page.getByRole('dialog', { name: 'Persons: ordered', exact: true }).waitFor();
  await page.getByRole('dialog').getByRole('link').first().waitFor();
  expect(await page.getByRole('dialog').getByRole('link').allTextContents()).toEqual(['Ada Lovelace']);
});

it('shows retention and lifecycle results for the same events', async () => {
  const page = await console.newPage();
  await page.goto(
    addressOf({ kind: 'TrendsQuery', series: [node('opened'), node('ordered')], dateRange: { date_from: '-7d' } }),
  );
  await page.getByRole('button', { name: 'Retention' }).click();
  await page.getByRole('columnheader', { name: 'Day 1' }).waitFor();
  expect(await page.getByRole('combobox', { name: 'Return event' }).inputValue()).toBe('ordered');
  await page.getByRole('button', { name: 'Lifecycle' }).click();
  await page.getByRole('cell', { name: 'new' }).waitFor();
  await page.getByRole('cell', { name: 'dormant' }).waitFor();
});

it('includes the event in each series name if several events have a breakdown', async () => {
  const page = await console.newPage();
  await page.goto(
    addressOf({
      ...{ kind: 'TrendsQuery', series: [node('opened'), node('ordered')], dateRange: { date_from: '-7d' } },
      breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' },
    }),
  );
  for (const name of [`opened - ${hostile}`, 'opened - free', `ordered - ${hostile}`])
    await page.getByRole('cell', { name, exact: true }).first().waitFor();
});

it('leaves future retention intervals empty, marks the current interval, and shows the weighted mean', async () => {
  const page = await console.newPage();
  await page.goto(
    addressOf({
      kind: 'RetentionQuery',
      dateRange: { date_from: '-7d' },
      retentionFilter: {
        ...{ period: 'Day', totalIntervals: 8, retentionType: 'retention_first_time' },
        ...{ targetEntity: { id: 'opened', type: 'events' }, returningEntity: { id: 'ordered', type: 'events' } },
      },
    }),
  );
  await page.getByRole('cell', { name: 'Weighted mean' }).waitFor();
  expect(await page.getByRole('group', { name: 'Date range' }).count()).toBe(0);
  const rows = await page
    .locator('.insight-heat tbody tr')
    .evaluateAll((all) => all.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent ?? '')));
  const dates = rows.slice(1);
  const filled = dates.filter(([, size]) => Number.parseInt(String(size), 10) > 0);
  expect(filled.length).toBeGreaterThan(0);
  for (const row of filled) {
    const untilToday = dates.length - 1 - dates.indexOf(row);
    expect(row.slice(2).map((cell) => (cell === '' ? 'empty' : cell.endsWith('*') ? 'open' : 'over'))).toEqual(
      Array.from({ length: row.length - 2 }, (_, at) =>
        at + 1 < untilToday ? 'over' : at + 1 === untilToday ? 'open' : 'empty',
      ),
    );
  }
  expect(rows[0]?.slice(2)).toContain('50.0%');
  expect(await runAxe(page)).toEqual([]);
});

it('shows the average of unique users in the table, and each axis label below its point', async () => {
  const page = await console.newPage();
  const unique = { ...node('opened'), math: 'dau' };
  await page.goto(addressOf({ kind: 'TrendsQuery', series: [unique], dateRange: { date_from: '-7d' } }));
  await page.getByText('0.25', { exact: true }).and(figure(page)).waitFor();
  const table = page.getByRole('table', { name: 'Series' });
  await table.getByRole('columnheader', { name: 'Average' }).waitFor();
  expect(await table.locator('td.number').first().textContent()).toBe('0.25');
  const off = await page.locator('.insight-chart').evaluate((chart) => {
    const { left, width } = chart.querySelector('svg')?.getBoundingClientRect() ?? { left: 0, width: 1 };
    return [...chart.querySelectorAll('.axis-labels span')].map((label) => {
      const box = label.getBoundingClientRect();
      const point = (((box.left + box.width / 2 - left) / width) * 8 - 0.5) % 1;
      return Math.min(Math.abs(point), Math.abs(1 - point));
    });
  });
  expect(off.length).toBeGreaterThan(2);
  expect(Math.max(...off)).toBeLessThan(0.05);
});

it('shows the previous period, and the query as a terminal command', async () => {
  const page = await console.newPage();
  await page.goto(
    addressOf({ kind: 'TrendsQuery', series: [node('ordered')], dateRange: { date_from: '-24h' }, interval: 'hour' }),
  );
  await page.getByLabel('Compare to previous period').check();
  await page.getByRole('columnheader', { name: 'Change' }).waitFor();
  await page.getByRole('button', { name: 'As API call' }).click();
  expect(await page.locator('pre').textContent()).toMatch(
    /-X POST '.*\/query'[\s\S]*"compareFilter":\{"compare":true\}/,
  );
});

it('adds, changes and removes a filter, and runs the query only with complete filters', async () => {
  const page = await console.newPage();
  await page.goto(addressOf({ kind: 'TrendsQuery', series: [node('opened')], dateRange: { date_from: '-7d' } }));
  await shows(page, '2');
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByRole('combobox', { name: 'Property', exact: true }).fill('plan');
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByRole('alert').filter({ hasText: 'Choose a property and a value.' }).waitFor();
  await page.getByRole('combobox', { name: 'Values: Add a value' }).fill('free');
  await page.getByRole('button', { name: 'Add filter' }).click();
  await shows(page, '1');
  await page.getByRole('button', { name: 'plan is free', exact: true }).click();
  await page.getByLabel('Operator').selectOption('is_not_set');
  await page.getByRole('button', { name: 'Change filter' }).click();
  await shows(page, '0');
  await page.getByRole('button', { name: 'Remove plan is not set' }).click();
  await shows(page, '2');
});

it('filters an insight by cohorts and groups, and filters a single event of the insight', async () => {
  const { id: cohort } = await console.api<{ id: number }>('POST', 'cohorts', {
    ...{ name: 'Named', is_static: false },
    filters: { properties: { type: 'AND', values: [{ type: 'person', key: 'name', operator: 'is_set' }] } },
  });
  await console.query(
    `INSERT INTO group_type_mapping (project_id, group_type, group_type_index, created_at) VALUES ($1, 'company', 0, now())`,
  );
  await console.query(
    `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, created_at) VALUES ($1, 0, 'acme', '{"size": 12}', now())`,
  );
  await console.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     VALUES ($1, now() - interval '3 hours', gen_random_uuid(), 'ordered', 'bob', '${bob}', '{"$group_0": "acme"}', now())`,
  );
  const page = await console.newPage();
  const range = { dateRange: { date_from: '-7d' } };
  await page.goto(addressOf({ kind: 'TrendsQuery', series: [node('opened'), node('ordered')], ...range }));
  await shows(page, '5');
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByLabel('Property type').selectOption('cohort');
  await page.getByLabel('Cohort').selectOption({ label: 'Named' });
  await page.getByRole('button', { name: 'Add filter' }).click();
  await shows(page, '3');
  await page.getByRole('button', { name: 'in cohort Named', exact: true }).waitFor();
  await page.getByRole('button', { name: 'Remove in cohort Named' }).click();
  await shows(page, '5');
  await page.getByRole('button', { name: 'Filter event B' }).click();
  await page.getByLabel('Property type').selectOption({ label: 'company' });
  await page.getByRole('combobox', { name: 'Property', exact: true }).fill('size');
  await page.getByLabel('Operator').selectOption('gt');
  await page.getByRole('textbox', { name: 'Value' }).fill('10');
  await page.getByRole('button', { name: 'Add filter' }).first().click();
  await shows(page, '3');
  await page.getByRole('button', { name: 'company · size > 10', exact: true }).waitFor();
  const { series, properties } = JSON.parse(new URL(page.url()).searchParams.get('query') ?? '{}');
  expect([properties, series[0].properties, series[1].properties]).toEqual([
    undefined,
    undefined,
    [{ type: 'group', group_type_index: 0, key: 'size', operator: 'gt', value: '10' }],
  ]);
  await page.getByLabel('Aggregation for event B').selectOption({ label: 'Unique groups (company)' });
  await page.getByLabel('Breakdown', { exact: true }).selectOption({ label: 'Group property (company)' });
  await pick(page, 'Breakdown property', 'size');
  await page
    .getByRole('cell', { name: 'ordered - 12' })
    .or(page.getByRole('cell', { name: '12', exact: true }))
    .first()
    .waitFor();
  await console.api('PATCH', `cohorts/${cohort}`, { deleted: true });
});

it('shows a single number, cumulative values, and funnel views', async () => {
  const page = await console.newPage();
  const range = { dateRange: { date_from: '-7d' } };
  await page.goto(addressOf({ kind: 'TrendsQuery', series: [{ ...node('opened'), math: 'dau' }], ...range }));
  await page.locator('.insight-figure').filter({ hasText: 'on average' }).waitFor();
  await page.getByRole('button', { name: 'Number' }).click();
  await shows(page, '2');
  await page.getByRole('button', { name: 'Persons: opened' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('link').nth(1).waitFor();
  expect((await dialog.getByRole('link').allTextContents()).sort()).toEqual(['Ada Lovelace', 'bob']);
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'Cumulative' }).click();
  // Each person is counted only on their first day.
  await shows(page, '2');
  expect(await page.locator('.insight-figure').textContent()).not.toContain('on average');
  await page.getByRole('button', { name: 'Number' }).click();
  await page.getByRole('button', { name: 'Table' }).click();
  await page.getByRole('columnheader', { name: 'Date' }).waitFor();

  await page.goto(addressOf({ kind: 'FunnelsQuery', series: [node('opened'), node('ordered')], ...range }));
  await page.getByRole('button', { name: 'Time to convert' }).click();
  await page.getByRole('columnheader', { name: 'Time to convert' }).waitFor();
  await page.getByRole('button', { name: 'Historical trends' }).click();
  await page.locator('.insight-chart').first().waitFor();
  await page.getByRole('button', { name: 'Steps' }).click();
  await page.getByRole('row', { name: /^1\. opened/ }).waitFor();
});

it("shows each insight's cached result in the list without computing results", async () => {
  const insight = (name: string, source: object) =>
    console.api<{ id: number }>('POST', 'insights', { name, query: { kind: 'InsightVizNode', source } });
  const range = { dateRange: { date_from: '-7d' } };
  const trend = await insight('Glance trend', { kind: 'TrendsQuery', series: [node('opened')], ...range });
  const funnel = await insight('Glance funnel', {
    ...{ kind: 'FunnelsQuery', series: [node('opened'), node('ordered')] },
    ...range,
  });
  await insight('Glance new', { kind: 'TrendsQuery', series: [node('ordered')], ...range });
  const computed = await Promise.all(
    [trend, funnel].map(({ id }) =>
      console.api<{ result: { count: number }[] }>('GET', `insights/${id}?refresh=blocking`),
    ),
  );
  const [total, entered, converted] = computed.flatMap(({ result }) => result.map(({ count }) => count));
  const page = await console.open('insights?search=Glance');
  const row = (name: string) => page.getByRole('row').filter({ hasText: name });
  await row('Glance trend').locator('.glance').getByText(String(total), { exact: true }).waitFor();
  await row('Glance trend').locator('.spark').waitFor();
  const share = ((converted ?? 0) / (entered ?? 1)) * 100;
  await row('Glance funnel')
    .locator('.glance')
    .getByText(`${share.toFixed(share === 100 ? 0 : 1)}%`)
    .waitFor();
  expect(await row('Glance new').locator('.glance').textContent()).toBe('');
  expect(await runAxe(page)).toEqual([]);
});

it('shows the rows of a query that cannot be edited in the form', async () => {
  const { short_id: id } = await console.api<{ short_id: string }>('POST', 'insights', {
    name: 'Rows',
    query: { kind: 'DataTableNode', source: { kind: 'EventsQuery', select: ['event', 'distinct_id'], after: '-7d' } },
  });
  const page = await console.open(`insights?insight=${id}`);
  await page.getByText('This type of insight cannot be edited here').waitFor();
  await page.getByRole('columnheader', { name: 'distinct_id' }).waitFor();
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
});

it('lists each insight once in pages of fifty, even with large queries', async () => {
  await console.query(
    `INSERT INTO insight (project_id, short_id, name, query, last_modified_at)
     SELECT $1, 'large' || lpad(n::text, 3, '0'), 'Large ' || n, json_build_object('kind', 'PathsQuery', 'x', repeat('x', 120000)), now()
       FROM generate_series(1, 60) AS n`,
  );
  const page = await console.open('insights?search=Large');
  const rows = page.getByRole('button', { name: /^Large \d+$/ });
  const more = page.getByRole('button', { name: 'Show more insights' });
  await rows.first().waitFor();
  const first = await rows.count();
  expect(first).toBe(50);
  for (let before = first; await more.isVisible(); before = await rows.count()) {
    await more.click();
    await eventually(async () => expect((await rows.count()) > before || !(await more.isVisible())).toBe(true));
  }
  const names = await rows.allTextContents();
  expect([names.length, new Set(names).size]).toEqual([60, 60]);
});
