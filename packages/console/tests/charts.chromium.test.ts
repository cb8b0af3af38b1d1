import { readFile } from 'node:fs/promises';
import { seriesColors } from '@millrace/contracts/chart';
import { eventually } from '@millrace/testing';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
/** Noon in the middle of a week, so that the current day has past and future hours. */
const clock = new Date('2026-11-25T12:00:00Z');
const ada = '0a7e1d52-9c1f-4a53-8a44-000000000001';
const bob = '0a7e1d52-9c1f-4a53-8a44-000000000002';

/**
 * Ada views a page three times a day, and Bob orders once a day. Both enter the funnel on the 21st, but only Ada
 * completes it, 27 hours later.
 */
beforeAll(async () => {
  console = await startConsole({ clock });
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
  await console.storePerson('ada', { name: 'Ada Lovelace' }, { uuid: ada });
  await console.storePerson('bob', { name: 'Bob' }, { uuid: bob });
  const insert = `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)`;
  await console.query(
    `${insert} SELECT $1, '2026-11-25T09:00:00Z'::timestamptz - day * interval '1 day' - n * interval '1 minute', gen_random_uuid(),
            'viewed', 'ada', '${ada}', json_build_object('path', '/p' || (day * 3 + n) % 12), '2026-11-25T09:00:00Z'
       FROM generate_series(0, 9) AS day, generate_series(1, 3) AS n`,
  );
  await console.query(
    `${insert} SELECT $1, '2026-11-25T10:00:00Z'::timestamptz - day * interval '1 day', gen_random_uuid(), 'ordered', 'bob',
            '${bob}', '{"price": 1500.5, "plan": "free"}', '2026-11-25T10:00:00Z' FROM generate_series(0, 9) AS day`,
  );
  await console.query(
    `${insert} SELECT $1, time::timestamptz, gen_random_uuid(), event, 'ada', '${ada}', properties::jsonb, time::timestamptz
       FROM (VALUES ('2026-11-21T12:00:00Z', 'began', '{"plan": "pro"}'), ('2026-11-22T15:00:00Z', 'ended', '{"plan": "pro"}'))
         AS rows (time, event, properties)`,
  );
  await console.query(
    `${insert} VALUES ($1, '2026-11-21T12:00:00Z', gen_random_uuid(), 'began', 'bob', '${bob}', '{"plan": "free"}', '2026-11-21T12:00:00Z')`,
  );
});
afterEach(() => console.closePages());
afterAll(() => console?.stop());

const node = (event: string, more: object = {}) => ({ kind: 'EventsNode', event, ...more });
const week = { dateRange: { date_from: '-6d' }, interval: 'day' };
const trends = (more: object = {}) => ({
  ...{ kind: 'TrendsQuery', series: [node('ordered'), node('viewed')], ...week },
  ...more,
});

async function open(query: object): Promise<Page> {
  const page = await console.open(`insights?insight=new&query=${encodeURIComponent(JSON.stringify(query))}`, {
    prepare: (visitor) => visitor.clock.setFixedTime(clock),
  });
  return page;
}

const chart = (page: Page) => page.getByRole('slider', { name: /^Chart of/ });

/** Converts a position in the chart, as fractions of its width and height, to page coordinates. */
async function placeIn(pane: Locator, [x, y]: readonly [number, number]) {
  await pane.waitFor();
  const box = await pane.boundingBox();
  if (box === null) throw new Error('The chart has no box.');
  return { clientX: box.x + box.width * x, clientY: box.y + box.height * y };
}

/** Returns the horizontal center of the given day in a chart of seven days, as a fraction of the width. */
const day = (at: number) => (at + 0.5) / 7;

const rowsOf = (page: Page) =>
  page
    .locator('.chart-tooltip tr')
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));

describe('the tooltip of a chart', () => {
  it('shows the weekday, the series sorted by value, the previous period and the change in the tooltip', async () => {
    const page = await open(trends({ compareFilter: { compare: true } }));
    const { clientX, clientY } = await placeIn(chart(page), [day(3), 0.5]);
    await page.mouse.move(clientX, clientY);
    const tooltip = page.locator('.chart-tooltip');
    await tooltip.getByText('Sun, 22 Nov 2026').waitFor();
    await tooltip.getByText('vs. Sun, 15 Nov 2026').waitFor();
    expect(await rowsOf(page)).toEqual([
      ['viewed', '3', '0', '–'],
      ['ordered', '1', '0', '–'],
    ]);
    const last = await placeIn(chart(page), [day(6), 0.5]);
    await page.mouse.move(last.clientX, last.clientY);
    await tooltip.getByText('in progress').waitFor();
    expect(await rowsOf(page)).toEqual([
      ['viewed', '3', '3', '0%'],
      ['ordered', '1', '1', '0%'],
    ]);
    await page.mouse.move(5, 5);
    await tooltip.waitFor({ state: 'detached' });
    expect(await runAxe(page)).toEqual([]);
  });

  it('opens the tooltip with the keyboard, and describes its values to screen readers', async () => {
    const page = await open(trends());
    await chart(page).waitFor();
    await page.getByRole('button', { name: 'Refresh' }).focus();
    await page.keyboard.press('Tab');
    await page.locator('.chart-tooltip').getByText('Wed, 25 Nov 2026').waitFor();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('ArrowLeft');
    const said = () => chart(page).getAttribute('aria-valuetext');
    await eventually(async () => expect(await said()).toBe('Mon, 23 Nov 2026: viewed 3; ordered 1'));
    await page.keyboard.press('ArrowDown');
    await eventually(async () => expect(await said()).toBe('Mon, 23 Nov 2026: ordered 1; viewed 3'));
    await page.keyboard.press('Enter');
    await page
      .getByRole('dialog', { name: 'Persons: ordered, 2026-11-23' })
      .getByRole('link', { name: 'Bob' })
      .waitFor();
  });

  it('opens the tooltip on the first touch, and the list of persons on the second touch', async () => {
    const page = await open(trends());
    const touch = await placeIn(chart(page), [day(2), 0.05]);
    const tap = async () => {
      const event = { ...touch, pointerType: 'touch', pointerId: 7, isPrimary: true };
      for (const name of ['pointerdown', 'pointerup', 'pointerleave']) await chart(page).dispatchEvent(name, event);
      await chart(page).dispatchEvent('click', touch);
    };
    await tap();
    await page.locator('.chart-tooltip').getByText('Sat, 21 Nov 2026').waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await tap();
    await page.getByRole('dialog', { name: 'Persons: viewed, 2026-11-21' }).waitFor();
  });
});

it('opens the list of persons for the series nearest to a click on a chart', async () => {
  const page = await open(trends());
  for (const [y, event, name] of [
    [0.05, 'viewed', 'Ada Lovelace'],
    [0.8, 'ordered', 'Bob'],
  ] as const) {
    const { clientX, clientY } = await placeIn(chart(page), [day(1), y]);
    await page.mouse.click(clientX, clientY);
    const dialog = page.getByRole('dialog', { name: `Persons: ${event}, 2026-11-20` });
    await dialog.getByRole('link', { name }).waitFor();
    await page.keyboard.press('Escape');
    await dialog.waitFor({ state: 'detached' });
  }
});

it('draws the interval in progress as a dashed line, and complete intervals as solid lines', async () => {
  const page = await open(trends());
  const open_ = page.locator('.chart-open');
  await open_.first().waitFor({ state: 'attached' });
  expect(await open_.count()).toBe(2);
  await page.goto(
    console.address(
      `insights?insight=new&query=${encodeURIComponent(JSON.stringify(trends({ dateRange: { date_from: '2026-11-19', date_to: '2026-11-24' } })))}`,
    ),
  );
  await chart(page).and(page.locator('[aria-valuemax="5"]')).waitFor();
  expect(await open_.count()).toBe(0);
});

describe('the legend of a chart', () => {
  const lines = (page: Page) => page.locator('.chart-line:not(.chart-open)');
  const entry = (page: Page, name: string) =>
    page.getByRole('list', { name: 'Series in the chart' }).getByRole('button', { name, exact: true });

  it('hides, isolates and highlights a series with the mouse and the keyboard', async () => {
    const page = await open(trends());
    await entry(page, 'viewed').click();
    await eventually(async () => expect(await lines(page).count()).toBe(1));
    expect(await entry(page, 'viewed').getAttribute('aria-pressed')).toBe('false');
    await page.locator('.insight-axis').getByText('3', { exact: true }).waitFor({ state: 'detached' });
    await entry(page, 'viewed').press('Space');
    await eventually(async () => expect(await lines(page).count()).toBe(2));
    await entry(page, 'viewed').dblclick();
    await eventually(async () => expect(await entry(page, 'ordered').getAttribute('aria-pressed')).toBe('false'));
    await entry(page, 'viewed').press('Alt+Enter');
    await eventually(async () => expect(await lines(page).count()).toBe(2));
    await entry(page, 'ordered').hover();
    await eventually(async () => expect(await page.locator('.chart-line.chart-faded.series-2').count()).toBe(2));
    expect(await page.locator('.chart-line.chart-faded.series-1').count()).toBe(0);
  });
});

it('gives the first ten series separate colors in both themes, and all further series a neutral color', async () => {
  const tokens = await readFile(new URL('../src/styles/tokens.css', import.meta.url), 'utf8');
  const colors = [...tokens.matchAll(/--series-\d+: (#\w+);/g)].map(([, color]) => color);
  expect(colors).toEqual([...seriesColors.light, ...seriesColors.dark, ...seriesColors.dark]);
  const paths = { breakdownFilter: { breakdown: 'path', breakdown_type: 'event' }, series: [node('viewed')] };
  const page = await open(trends({ ...paths, trendsFilter: { display: 'ActionsBar' } }));
  const marks = page.getByRole('list', { name: 'Series in the chart' }).locator('.insight-mark');
  await marks.nth(11).waitFor();
  const drawn = await marks.evaluateAll((all) => all.map((mark) => getComputedStyle(mark).backgroundColor));
  expect([drawn.length, new Set(drawn).size, drawn[10]]).toEqual([12, 11, drawn[11]]);
  // Lines in the background color separate the segments of a stacked bar.
  const bars = page.locator('.chart-bar:not(.chart-bar-open)');
  expect(await bars.first().evaluate((bar) => getComputedStyle(bar).stroke)).toBe('rgb(255, 255, 255)');
});

describe('zooming into a chart', () => {
  const rangeOf = (page: Page) => JSON.parse(new URL(page.url()).searchParams.get('query') ?? '{}').dateRange;

  it('narrows the date range by dragging, and restores it by double-clicking', async () => {
    const page = await open(trends());
    const [from, to] = [await placeIn(chart(page), [day(1), 0.5]), await placeIn(chart(page), [day(4), 0.5])];
    await page.mouse.move(from.clientX, from.clientY);
    await page.mouse.down();
    await page.mouse.move(to.clientX, to.clientY, { steps: 4 });
    await page.mouse.up();
    await eventually(() => expect(rangeOf(page)).toEqual({ date_from: '2026-11-20', date_to: '2026-11-23' }));
    await chart(page).and(page.locator('[aria-valuemax="3"]')).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    await chart(page).dblclick();
    await eventually(() => expect(rangeOf(page)).toEqual({ date_from: '-6d' }));
    await chart(page).and(page.locator('[aria-valuemax="6"]')).waitFor();
    expect(await page.getByRole('dialog').count()).toBe(0);
    expect(await page.getByRole('button', { name: 'Reset zoom' }).count()).toBe(0);
  });
});

describe('numbers in a trends insight', () => {
  it("shows the insight's unit in the headline, table, axis and tooltip", async () => {
    const price = node('ordered', { math: 'sum', math_property: 'price' });
    const trendsFilter = { aggregationAxisFormat: 'currency', aggregationAxisPostfix: ' €' };
    const page = await open(trends({ series: [price], trendsFilter }));
    await page.locator('.insight-figure').getByText('10,503.50 €').waitFor();
    await page.getByRole('table', { name: 'Series' }).getByText('10,503.50 €').waitFor();
    await page.locator('.insight-axis').getByText('1.5K €').waitFor();
    expect(await chart(page).getAttribute('aria-valuetext')).toContain('ordered 1,500.50 €');
  });

  it('changes the unit in the dialog, and saves it in the query', async () => {
    const page = await open(trends({ series: [node('ordered', { math: 'avg', math_property: 'price' })] }));
    await page.locator('.insight-figure').getByText('1,501', { exact: true }).waitFor();
    await page.getByRole('button', { name: 'Units' }).click();
    await page.getByRole('combobox', { name: 'Unit' }).selectOption({ label: 'Duration (seconds)' });
    await page.getByLabel('Postfix').fill(' each');
    expect(await runAxe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Apply' }).click();
    await page.locator('.insight-figure').getByText('25 min 1 s each').waitFor();
    const { trendsFilter } = JSON.parse(new URL(page.url()).searchParams.get('query') ?? '{}');
    expect(trendsFilter).toEqual({ aggregationAxisFormat: 'duration', aggregationAxisPostfix: ' each' });
  });

  it('shows a note in a trends insight if the previous period has no data', async () => {
    const page = await open(
      trends({ compareFilter: { compare: true }, dateRange: { date_from: '-20d' }, series: [node('viewed')] }),
    );
    await page.locator('.insight-figure').getByText('No data in the previous period').waitFor();
  });
});

it('shows a trend as a large number with its change and a line chart', async () => {
  const page = await open(trends({ series: [node('viewed')], trendsFilter: { display: 'BoldNumber' } }));
  // The range begins at noon, after the views of its first day.
  await page.locator('.big-number').getByText('18', { exact: true }).waitFor();
  const line = page.getByRole('img', { name: 'The number over time' });
  await line.locator('.chart-open').waitFor({ state: 'attached' });
  expect(await runAxe(page)).toEqual([]);
});

it('shows no table below a large number on a dashboard, even with a comparison', async () => {
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Numbers' });
  const query = trends({
    ...{ series: [node('viewed')], dateRange: { date_from: '-3d' }, compareFilter: { compare: true } },
    trendsFilter: { display: 'BoldNumber' },
  });
  await console.api('POST', 'insights', { name: 'Views', query, dashboards: [id] });
  const page = await console.open(`dashboards?dashboard=${id}`, {
    prepare: (visitor) => visitor.clock.setFixedTime(clock),
  });
  await page.locator('.big-number').getByText('0%').waitFor();
  await page
    .getByRole('img', { name: 'The number over time' })
    .locator('.chart-line')
    .first()
    .waitFor({ state: 'attached' });
  expect(await page.getByRole('table').count()).toBe(0);
});

it("exports a chart's numbers as CSV and the chart as an image", async () => {
  const page = await open(trends());
  await chart(page).waitFor();
  const download = async (item: string) => {
    await page.getByRole('button', { name: 'Export' }).click();
    const [file] = await Promise.all([
      page.waitForEvent('download'),
      page.getByRole('menuitem', { name: item }).click(),
    ]);
    return { name: file.suggestedFilename(), content: await readFile(await file.path()) };
  };
  const csv = await download('Download CSV');
  expect(csv.name).toMatch(/\.csv$/);
  expect(csv.content.toString('utf8').split('\r\n').slice(0, 2)).toEqual([
    '\ufefftime,ordered,viewed',
    '2026-11-19,1,3',
  ]);
  const image = await download('Download image (PNG)');
  expect([image.name.slice(-4), image.content.subarray(1, 4).toString(), image.content.readUInt32BE(16)]).toEqual([
    ...['.png', 'PNG', 1920],
  ]);
});

describe('funnel results', () => {
  const funnel = (more: object = {}) => ({
    ...{ kind: 'FunnelsQuery', series: [node('began'), node('ended')], dateRange: { date_from: '-6d' } },
    ...more,
  });

  it("shows each step's conversion, drop-off and median time, and the persons who dropped off", async () => {
    const page = await open(funnel());
    await page.locator('.insight-figure').getByText('50.0%').waitFor();
    await page.getByText('1 of 2 persons').waitFor();
    await page.getByRole('columnheader', { name: 'Median time' }).waitFor();
    await page.getByRole('row', { name: /^2\. ended .*1 50\.0% 50\.0% .*1 1 d 3 h$/ }).waitFor();
    await page.getByRole('button', { name: 'Dropped off before: ended' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Bob' }).waitFor();
    expect(await page.getByRole('dialog').getByRole('link').count()).toBe(1);
  });

  it('shows the breakdown values of a funnel side by side', async () => {
    const page = await open(funnel({ breakdownFilter: { breakdown: 'plan', breakdown_type: 'event' } }));
    await page.getByRole('row', { name: /^pro .*1 .*1 100% Median 1 d 3 h 100%$/ }).waitFor();
    await page.getByRole('row', { name: /^free .*1 .*0 0% 0%$/ }).waitFor();
    expect(await page.getByRole('table').count()).toBe(1);
    expect(await page.locator('.funnel-bars .funnel-column').count()).toBe(4);
    expect(await runAxe(page)).toEqual([]);
  });

  it('shows the time to convert in a funnel as durations', async () => {
    const page = await open(funnel({ funnelsFilter: { funnelVizType: 'time_to_convert' } }));
    await page.locator('.insight-figure').getByText('1 d 3 h', { exact: true }).waitFor();
    await page.getByRole('row', { name: '1 d 3 h to 1 d 3 h 1 100%' }).waitFor();
    expect(await page.locator('.times-bars .funnel-now').count()).toBe(1);
  });

  it('opens a list of the persons who converted on a day', async () => {
    const page = await open(funnel({ funnelsFilter: { funnelVizType: 'trends' }, interval: 'day' }));
    // Persons entered the funnel only on the 21st. The other days have no rate, which differs from a rate of 0.
    await page.locator('.chart-point').waitFor({ state: 'attached' });
    const lines = await page.locator('.chart-line').evaluateAll((all) => all.map((line) => line.getAttribute('d')));
    expect(lines.filter((line) => line?.includes('L'))).toEqual([]);
    await page.getByRole('row', { name: '2026-11-20 –' }).waitFor();
    await page
      .getByRole('row', { name: /^2026-11-21/ })
      .getByText('50.0%')
      .waitFor();
    await page.locator('.insight-axis').getByText('60%').waitFor();
    await page.getByRole('button', { name: 'Persons: Conversion rate, 2026-11-21' }).click();
    await page.getByRole('dialog').getByRole('link', { name: 'Ada Lovelace' }).waitFor();
    expect(await page.getByRole('dialog').getByRole('link').count()).toBe(1);
  });
});

it('draws the mean retention of complete intervals as a curve', async () => {
  const entity = { id: 'viewed', type: 'events' };
  const page = await open({
    kind: 'RetentionQuery',
    retentionFilter: { period: 'Day', totalIntervals: 7, targetEntity: entity, returningEntity: entity },
  });
  // Ada returns every day, and today is her sixth day.
  await chart(page).and(page.locator('[aria-valuetext="Day 5: Weighted mean 100%"]')).waitFor();
  await page.locator('.insight-axis').getByText('100%').waitFor();
  expect(await runAxe(page)).toEqual([]);
});

it("draws a lifecycle's dormant users below the axis, and each status in a separate color", async () => {
  const page = await open({ kind: 'LifecycleQuery', series: [node('began')], ...week });
  const legend = page.getByRole('list', { name: 'Series in the chart' });
  for (const [status, tone] of [
    ['new', 'series-1'],
    ['returning', 'series-4'],
    ['resurrecting', 'series-3'],
    ['dormant', 'series-bad'],
  ] as const)
    await legend.getByRole('button', { name: status }).locator(`.${tone}`).waitFor();
  const zero = (await page.locator('.chart-zero').boundingBox())?.y ?? 0;
  const below = (await page.locator('.chart-bar.series-bad').first().boundingBox())?.y ?? 0;
  expect(below).toBeGreaterThanOrEqual(zero - 2);
});

it('shows the number of events at the pointer position in the event chart', async () => {
  const page = await console.open('events?after=-7d', { prepare: (visitor) => visitor.clock.setFixedTime(clock) });
  const { clientX, clientY } = await placeIn(page.locator('.counts-plot').first(), [0.5, 0.5]);
  await page.mouse.move(clientX, clientY);
  await page
    .locator('.counts-tip')
    .getByText(/Nov.*: \d+ events?$/)
    .waitFor();
  await page.mouse.move(5, 5);
  await page.locator('.counts-tip').waitFor({ state: 'detached' });
});

it('shows an increase in the color for bad changes if "A decrease is good" is selected', async () => {
  const page = await open(trends({ series: [node('ordered')], compareFilter: { compare: true } }));
  await page.locator('.insight-figure .pill-good').waitFor();
  await page.getByRole('button', { name: 'Units' }).click();
  await page.getByRole('checkbox', { name: 'A decrease is good' }).check();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.insight-figure .pill-bad').waitFor();
  await page.locator('td.bad').waitFor();
  expect(new URL(page.url()).searchParams.get('query')).toContain('"isIncreaseBad":true');
  await page.getByRole('button', { name: 'Number' }).click();
  await page.locator('.big-number .pill-bad').waitFor();
  await page.getByRole('button', { name: 'Units' }).click();
  await page.getByRole('checkbox', { name: 'A decrease is good' }).uncheck();
  await page.getByRole('button', { name: 'Apply' }).click();
  await page.locator('.big-number .pill-good').waitFor();
});

describe('annotations in charts', () => {
  const marker = (page: Page, name: string) =>
    page.getByRole('list', { name: 'Annotations' }).getByRole('button', { name, exact: true });
  const prepare = { prepare: (visitor: BrowserContext) => visitor.clock.setFixedTime(clock) };
  const note = (content: string, day: number, more: object = { scope: 'project' }) =>
    console.api('POST', 'annotations', { content, date_marker: `2026-11-${day}T10:00:00Z`, ...more });
  const insight = (name: string, dashboards: number[] = []) =>
    console.api<{ id: number; short_id: string }>('POST', 'insights', {
      ...{ name, dashboards, query: { kind: 'InsightVizNode', source: trends() } },
    });

  it('creates and deletes an annotation, and shows its marker at its date', async () => {
    const [own, other] = [await insight('Own'), await insight('Other')];
    await note('Released', 22);
    await note('Hidden', 22, { scope: 'project', hidden_in_user_interface: true });
    await note('Before the range', 10);
    await note('Elsewhere', 23, { scope: 'dashboard_item', dashboard_item: other.id });
    const page = await console.open(`insights?insight=${own.short_id}`, prepare);
    await marker(page, 'Sun, 22 Nov 2026: Released').hover();
    await page.locator('.chart-note').getByText('Released').waitFor();
    const place = await marker(page, 'Sun, 22 Nov 2026: Released').boundingBox();
    const pane = await chart(page).boundingBox();
    if (place === null || pane === null) throw new Error('The chart or the marker is not drawn.');
    expect((place.x + place.width / 2 - pane.x) / pane.width).toBeCloseTo(day(3), 2);
    expect(place.y + place.height).toBeCloseTo(pane.y + pane.height, 0);
    expect(pane.width).toBeGreaterThan(400);
    expect(await page.locator('.chart-annotation').count()).toBe(1);
    expect(await runAxeInBothThemes(page)).toEqual([]);
    await page.getByRole('button', { name: 'Annotate' }).click();
    await page.getByRole('textbox', { name: 'Text' }).fill('Campaign');
    await page.getByRole('combobox', { name: 'Show on' }).selectOption('this insight');
    expect(await runAxe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Add annotation' }).click();
    await marker(page, 'Wed, 25 Nov 2026: Campaign').waitFor();
    await marker(page, 'Sun, 22 Nov 2026: Released').press('Enter');
    const dialog = page.getByRole('dialog', { name: 'Annotations: Sun, 22 Nov 2026' });
    await dialog.getByText('all charts of the project').first().waitFor();
    await dialog.getByRole('button', { name: 'Delete: Released' }).click();
    await marker(page, 'Sun, 22 Nov 2026: Released').waitFor({ state: 'detached' });
    await page.goto(console.address(`insights?insight=${other.short_id}`));
    await marker(page, 'Mon, 23 Nov 2026: Elsewhere').waitFor();
    expect(await page.locator('.chart-annotation').count()).toBe(1);
  });

  it("shows a dashboard's annotations only in the dashboard's tiles", async () => {
    const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Annotated' });
    const { short_id: name } = await insight('On a dashboard', [id]);
    await note('New prices', 24, { scope: 'dashboard', dashboard_id: id });
    const page = await console.open(`dashboards?dashboard=${id}`, prepare);
    await marker(page, 'Tue, 24 Nov 2026: New prices').waitFor();
    await page.goto(console.address(`insights?insight=${name}`));
    await chart(page).waitFor();
    await page.waitForLoadState('networkidle');
    expect(await marker(page, 'Tue, 24 Nov 2026: New prices').count()).toBe(0);
  });
});
