import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, startConsole, violationsOf } from './start-console.ts';

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
afterAll(() => console?.stop());

const trend = (event: string) => ({
  kind: 'TrendsQuery',
  dateRange: { date_from: '-7d' },
  series: [{ kind: 'EventsNode', event }],
});
const insight = (name: string, query: object = trend('ordered')) =>
  console.api<{ id: number; short_id: string }>('POST', 'insights', { name, saved: true, query });
const namesOf = (page: Page) => page.getByRole('list', { name: 'Tiles' }).getByRole('heading').allTextContents();

test('C-007: no dashboard yet, nothing that fits, one that is not there', async () => {
  const page = await console.open('dashboards');
  await page.getByRole('heading', { name: 'No dashboards yet' }).waitFor();
  expect(await violationsOf(page)).toEqual([]);
  await page.goto(console.address('dashboards?search=x&nonsense=1'));
  await page.getByRole('heading', { name: 'No dashboards match your search' }).waitFor();
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  await page.goto(console.address('dashboards?dashboard=2000000'));
  await page.locator('[data-state=gone]').waitFor();
});

test('a dashboard is made, filled, ordered by keyboard, narrowed and deleted', async () => {
  await insight('First');
  await insight('Second', { kind: 'StickinessQuery' });
  const page = await console.open('dashboards');
  await page.getByRole('button', { name: 'New dashboard' }).click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Growth');
  await page.getByRole('button', { name: 'Create dashboard' }).click();
  await page.getByRole('heading', { level: 1, name: 'Growth' }).waitFor();
  await page.getByRole('heading', { name: 'This dashboard is empty' }).waitFor();
  for (const name of ['First', 'Second']) {
    await page.getByRole('button', { name: 'Add insight' }).click();
    await page.getByRole('dialog').getByLabel('Insight').selectOption({ label: name });
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.getByRole('link', { name }).waitFor();
  }
  await page.getByRole('button', { name: 'Add text' }).click();
  await page.getByRole('textbox', { name: 'Text' }).fill('What counts.\n<b>Plainly</b>');
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByText('<b>Plainly</b>').waitFor();
  // One that cannot be answered says so in its place.
  await page.getByText('This insight could not be loaded.').waitFor();
  await page.getByText('3', { exact: true }).and(page.locator('.insight-figure strong')).waitFor();
  await eventually(async () => expect(await namesOf(page)).toEqual(['First', 'Second', 'Text']));
  await page.getByRole('button', { name: 'Move Second to the previous position' }).press('Enter');
  await page.getByText('Second is now at position 1').waitFor({ state: 'attached' });
  await eventually(async () => expect(await namesOf(page)).toEqual(['Second', 'First', 'Text']));
  const [board] = (await console.api<{ results: { id: number }[] }>('GET', 'dashboards')).results;
  const stored = () => console.api<{ tiles: { insight: { name: string } | null }[] }>('GET', `dashboards/${board?.id}`);
  await eventually(async () =>
    expect((await stored()).tiles.map((tile) => tile.insight?.name)).toEqual(['Second', 'First', undefined]),
  );
  // The time of all insights, and only for who looks.
  await page.getByLabel('Date range').selectOption('-24h');
  await page.getByText('2', { exact: true }).and(page.locator('.insight-figure strong')).waitFor();
  expect(new URL(page.url()).searchParams.get('time')).toBe('-24h');
  await page.getByRole('button', { name: 'Remove Second from the dashboard' }).click();
  await eventually(async () => expect(await namesOf(page)).toEqual(['First', 'Text']));
  await page.getByRole('button', { name: 'Rename or delete' }).click();
  await page.getByRole('button', { name: 'Delete dashboard' }).click();
  await page.getByRole('heading', { name: 'No dashboards yet' }).waitFor();
});

test('a tile is dragged to another place, and a click on its name opens the insight', async () => {
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Dragged' });
  for (const name of ['One', 'Two', 'Three']) {
    const { id: made } = await insight(name);
    await console.api('PATCH', `insights/${made}`, { dashboards: [id] });
  }
  const page = await console.open(`dashboards?dashboard=${id}`);
  await page.getByRole('link', { name: 'Three' }).waitFor();
  const head = (name: string) => page.locator('.board-head').filter({ hasText: name });
  await head('Three').dragTo(head('One'), { sourcePosition: { x: 120, y: 14 } });
  await eventually(async () => expect(await namesOf(page)).toEqual(['Three', 'One', 'Two']));
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.getByRole('link', { name: 'Two' }).click();
  await page.getByRole('heading', { level: 1, name: 'Two' }).waitFor();
});

test('a tile is made wide and narrow again, and an insight says on which dashboards it is', async () => {
  const [{ id: first }, { id: second }] = [
    await console.api<{ id: number }>('POST', 'dashboards', { name: 'Widths' }),
    await console.api<{ id: number }>('POST', 'dashboards', { name: 'Another' }),
  ];
  const { id: made, short_id: shortId } = await insight('Stretched');
  await console.api('PATCH', `insights/${made}`, { dashboards: [first] });
  const page = await console.open(`dashboards?dashboard=${first}`);
  await page.getByRole('button', { name: 'Make Stretched full width' }).click();
  await page.locator('.board-wide').filter({ hasText: 'Stretched' }).waitFor();
  await page.getByRole('button', { name: 'Make Stretched half width' }).click();
  await eventually(async () => expect(await page.locator('.board-wide').count()).toBe(0));
  await page.goto(console.address(`insights?insight=${shortId}`));
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  const dialog = page.getByRole('dialog', { name: 'Add to dashboard' });
  expect(await dialog.getByLabel('Widths').isChecked()).toBe(true);
  await dialog.getByLabel('Widths').uncheck();
  await dialog.getByLabel('Another').check();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await dialog.waitFor({ state: 'detached' });
  expect(await console.api('GET', `insights/${made}`)).toMatchObject({ dashboards: [second] });
  await page.context().close();
});

test('computed again, it says so; an error of the server is told', async () => {
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Again' });
  const { id: made } = await insight('Orders');
  await console.api('PATCH', `insights/${made}`, { dashboards: [id] });
  const page = await console.open(`dashboards?dashboard=${id}`);
  const figure = page.locator('.insight-figure strong');
  await page.getByText('3', { exact: true }).and(figure).waitFor();
  await console.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     VALUES ($1, now() - interval '1 minute', gen_random_uuid(), 'ordered', 'ada', gen_random_uuid(), '{}', now())`,
  );
  await page.reload();
  await page.getByText('3', { exact: true }).and(figure).waitFor();
  await page.getByRole('button', { name: 'Refresh' }).click();
  await page.getByText('4', { exact: true }).and(figure).waitFor();
  await page.route(/reorder_tiles|\/dashboards\/\d+$/, (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 403, json: { code: 'permission_denied', detail: 'You may not change it.' } })
      : route.fallback(),
  );
  await page.getByRole('button', { name: 'Remove Orders from the dashboard' }).click();
  await page.getByRole('alert').filter({ hasText: 'You may not change it.' }).waitFor();
  await page.getByRole('link', { name: 'Orders' }).waitFor();
});

test('filters of all insights: for who looks, beside what is kept, and kept for everybody', async () => {
  await console.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT $1, now() - moment, gen_random_uuid(), 'paid', 'ada', gen_random_uuid(), properties::jsonb, now()
       FROM (VALUES (interval '2 hours', '{"plan": "pro", "land": "at"}'), (interval '2 hours', '{"plan": "pro"}'),
                    (interval '50 hours', '{"plan": "pro"}'), (interval '2 hours', '{"plan": "free", "land": "at"}')) AS told(moment, properties)`,
  );
  const plan = { key: 'plan', type: 'event', operator: 'exact', value: ['pro'] };
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', {
    ...{ name: 'Filtered', filters: { properties: [plan], interval: 'day' } },
  });
  const { id: made } = await insight('Paid', trend('paid'));
  await console.api('PATCH', `insights/${made}`, { dashboards: [id] });
  const kept = async () => (await console.api<{ filters: object }>('GET', `dashboards/${id}`)).filters;
  const page = await console.open(`dashboards?dashboard=${id}`);
  const shows = (value: string) =>
    page.getByText(value, { exact: true }).and(page.locator('.insight-figure strong')).waitFor();
  await shows('3');
  // Another time leaves the conditions that are kept.
  await page.getByLabel('Date range').selectOption('-24h');
  await shows('2');
  await page.getByRole('button', { name: 'Filters' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Add filter' }).click();
  await dialog.getByRole('combobox', { name: 'Property', exact: true }).fill('land');
  await dialog.getByLabel('Operator').selectOption('is_set');
  await dialog.getByRole('button', { name: 'Add filter' }).click();
  expect(await violationsOf(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Apply', exact: true }).click();
  await shows('1');
  expect(await kept()).toEqual({ properties: [plan], interval: 'day' });
  await page.reload();
  await shows('1');
  await page.getByRole('button', { name: 'Remove plan is pro' }).click();
  await shows('2');
  await page.getByRole('button', { name: 'Filters' }).click();
  await dialog.getByText('Saving for everyone also saves the selected date range.').waitFor();
  await dialog.getByRole('button', { name: 'Save for everyone' }).click();
  await dialog.waitFor({ state: 'detached' });
  await shows('2');
  expect(await kept()).toMatchObject({
    ...{ date_from: '-24h', interval: 'day' },
    properties: [{ key: 'land', type: 'event', operator: 'is_set' }],
  });
  expect([...new URL(page.url()).searchParams.keys()]).toEqual(['dashboard']);
  await page.goto(console.address(`dashboards?dashboard=${id}&filters={`));
  await shows('2');
  await page.context().close();
});
