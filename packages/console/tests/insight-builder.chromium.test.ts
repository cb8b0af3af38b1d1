import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';

/** Tests editing, saving and discarding insights. `insights.chromium.test.ts` tests their results. */
let console: RunningConsole;
const hostile = `<img src=x onerror="alert('1')">`;
const ada = '0a7e1d52-9c1f-4a53-8a44-000000000001';
const bob = '0a7e1d52-9c1f-4a53-8a44-000000000002';
beforeAll(async () => {
  console = await startConsole();
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
  await console.storePerson('ada', { name: 'Ada Lovelace' }, { uuid: ada });
  await console.storePerson('bob', {}, { uuid: bob });
  await console.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT $1, now() - hours * interval '1 hour', gen_random_uuid(), name, 'x', person::uuid, jsonb_build_object('price', price), now()
       FROM (VALUES (50, 'opened', '${ada}', 2), (49, 'opened', '${bob}', 3), (26, 'ordered', '${ada}', 40), (2, 'ordered', '${ada}', 2))
            AS stored (hours, name, person, price)`,
  );
  await console.query(
    `INSERT INTO event_definition (project_id, name, created_at, last_seen_at)
     SELECT $1, name, now(), now() FROM unnest(ARRAY['opened', 'ordered']) AS name`,
  );
});
afterAll(() => console?.stop());

const figure = (page: Page) => page.locator('.insight-figure strong');
const shows = (page: Page, value: string) => page.getByText(value, { exact: true }).and(figure(page)).waitFor();
const node = (event: string) => ({ kind: 'EventsNode', event });
const addressOf = (query: object) =>
  console.address(`insights?insight=new&query=${encodeURIComponent(JSON.stringify(query))}`);
async function pick(page: Page, label: string, name: string): Promise<void> {
  const field = page.getByRole('combobox', { name: label, exact: true });
  await field.fill(name);
  await field.press('Enter');
}
const save = (name: string, source: object) =>
  console.api<{ id: number; short_id: string }>('POST', 'insights', {
    ...{ name, saved: true, query: { kind: 'InsightVizNode', source } },
  });
const trend = (event: string, more: object = {}) => ({
  ...{ kind: 'TrendsQuery', series: [node(event)], dateRange: { date_from: '-7d' } },
  ...more,
});

it.each([
  [{ date_from: '-14d' }, 'Last 14 days'],
  [{ date_from: '-1d' }, 'Last 1 day'],
  [{ date_from: '-48h' }, 'Last 48 hours'],
  [{ date_from: 'dStart' }, 'Today'],
  [{ date_from: 'wStart' }, 'This week'],
  [{ date_from: 'qStart' }, 'Since start of this quarter'],
  [{ date_from: '-1mStart', date_to: '-1mEnd' }, 'Last month'],
  [{ date_from: '-14d', date_to: '-7d' }, '14 days ago to 7 days ago'],
  [{ date_from: '2026-11-01T08:00:00' }, 'Since 2026-11-01 08:00:00'],
  [{ date_from: '2026-11-01', date_to: '2026-11-15' }, 'Custom range…'],
])('shows the stored date range %j as "%s"', async (dateRange, name) => {
  const { id, short_id: shortId } = await save('Range', trend('opened', { dateRange }));
  const page = await console.open(`insights?insight=${shortId}`);
  const range = page.getByLabel('Date range', { exact: true }).and(page.locator('select'));
  await range.waitFor();
  expect(await range.locator('option:checked').textContent()).toBe(name);
  await page.getByText('Saved ·').waitFor();
  if (name === 'Custom range…') {
    expect(await page.getByLabel('From', { exact: true }).inputValue()).toBe('2026-11-01');
    await page.getByLabel('To', { exact: true }).fill('2026-11-20');
    await page.getByText('Unsaved changes').waitFor();
    const { dateRange: edited } = JSON.parse(new URL(page.url()).searchParams.get('query') ?? '{}');
    expect(edited).toEqual({ date_from: '2026-11-01', date_to: '2026-11-20' });
  }
  await console.api('PATCH', `insights/${id}`, { deleted: true });
  await page.context().close();
});

it("changes a saved insight's name, description and tags", async () => {
  const { id, short_id: shortId } = await save('Nmae', trend('opened'));
  const page = await console.open(`insights?insight=${shortId}`);
  await page.getByRole('heading', { name: 'Nmae' }).getByRole('button').click();
  const dialog = page.getByRole('dialog', { name: 'Edit insight' });
  await dialog.getByLabel('Name').fill('Name');
  await dialog.getByLabel('Description').fill(`About openings ${hostile}`);
  await dialog.getByLabel('Tags: Add a value').fill('core');
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Name', exact: true }).waitFor();
  await page.getByText(`About openings ${hostile}`).waitFor();
  expect(await page.title()).toMatch(/^Name · /);
  expect(await console.api('GET', `insights/${id}`)).toMatchObject({ name: 'Name', tags: ['core'] });
  await console.api('PATCH', `insights/${id}`, { deleted: true });
  await page.context().close();
});

it('keeps unsaved edits to an insight while other pages are open, until the user discards them', async () => {
  const { id, short_id: shortId } = await save('Edited', trend('opened'));
  const page = await console.open(`insights?insight=${shortId}`);
  await pick(page, 'Event A', 'ordered');
  await page.getByText('Unsaved changes').waitFor();
  await page.getByRole('link', { name: 'Persons', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Persons' }).waitFor();
  await page.getByRole('link', { name: 'Insights', exact: true }).click();
  await page.getByRole('row', { name: /Edited.*Unsaved changes/ }).waitFor();
  await page.getByRole('button', { name: 'Edited', exact: true }).click();
  await page.getByText('Unsaved changes').waitFor();
  const event = page.getByRole('combobox', { name: 'Event A', exact: true });
  expect(await event.inputValue()).toBe('ordered');
  await page.getByRole('button', { name: 'Discard changes' }).click();
  await page.getByText('Saved ·').waitFor();
  expect(await event.inputValue()).toBe('opened');
  await console.api('PATCH', `insights/${id}`, { deleted: true });
  await page.context().close();
});

it('restores a deleted insight to its dashboards', async () => {
  const { id, short_id: shortId } = await save('Deleted by mistake', trend('opened'));
  const { id: board } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Board' });
  await console.api('PATCH', `insights/${id}`, { dashboards: [board] });
  const page = await console.open(`insights?insight=${shortId}`);
  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete insight' }).click();
  await page.getByText('Deleted by mistake was deleted.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Deleted by mistake', exact: true }).waitFor();
  expect(await console.api('GET', `insights/${id}`)).toMatchObject({ deleted: false, dashboards: [board] });
  await console.api('PATCH', `insights/${id}`, { deleted: true });
  await page.context().close();
});

it('keeps the previous result while the query lacks a required property', async () => {
  const page = await console.newPage();
  const queries: string[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/query')) queries.push(request.postData() ?? '');
  });
  await page.goto(addressOf(trend('ordered')));
  await shows(page, '2');
  await page.getByLabel('Aggregation for event A').selectOption({ label: 'Sum of' });
  await page.getByText('Choose a property. Until then').waitFor();
  await page.getByLabel('Breakdown', { exact: true }).selectOption('person');
  const property = page.getByRole('combobox', { name: 'Property to aggregate for event A' });
  expect(await property.getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Breakdown', { exact: true }).selectOption('none');
  await shows(page, '2');
  await pick(page, 'Property to aggregate for event A', 'price');
  await shows(page, '42');
  await page.getByRole('button', { name: 'Add event' }).click();
  await page.getByRole('textbox', { name: 'Formula' }).fill('A + C');
  await page.getByRole('group', { name: 'Events' }).getByRole('alert').waitFor();
  await figure(page).waitFor();
  expect(queries.filter((query) => query.includes('"math_property":""'))).toEqual([]);
  await page.context().close();
});

it('finds events by a substring of their name, and shows their counts and latest times', async () => {
  const page = await console.newPage();
  await page.goto(addressOf(trend('opened')));
  await shows(page, '2');
  const event = page.getByRole('combobox', { name: 'Event A', exact: true });
  // While the field contains the selected name, the list shows all events.
  await event.click();
  await page.getByRole('option', { name: /^ordered 2 in 30 days/ }).waitFor();
  await page.getByRole('option', { name: 'All events' }).waitFor();
  // While a list is open, React Aria hides all other elements from screen readers, so ignore the axe rules about them.
  const ofRest = /^(aria-hidden-focus|page-has-heading-one|region): /;
  expect((await runAxe(page)).filter((one) => !ofRest.test(one))).toEqual([]);
  await event.fill('rde');
  await page.getByRole('option', { name: /^rde not seen yet/ }).waitFor();
  await eventually(async () => expect(await page.getByRole('option', { name: /^opened/ }).count()).toBe(0));
  expect(new URL(page.url()).searchParams.get('query')).toContain('"opened"');
  await page.getByRole('option', { name: /^ordered/ }).click();
  await eventually(async () => expect(await event.inputValue()).toBe('ordered'));
  expect(new URL(page.url()).searchParams.get('query')).toContain('"ordered"');
  await event.fill('rde');
  await page.getByRole('option', { name: /^rde/ }).waitFor();
  await event.press('Escape');
  await page.context().close();
});

it('does not reopen the list of persons when the user presses Back', async () => {
  const page = await console.open('insights');
  await page.getByRole('button', { name: 'New insight' }).first().click();
  await pick(page, 'Event A', 'opened');
  await page.getByRole('button', { name: 'Number' }).click();
  await shows(page, '2');
  await page.getByRole('button', { name: 'Persons: opened' }).click();
  await page.getByRole('dialog').getByRole('link').first().waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.goBack();
  await page.getByRole('heading', { level: 1, name: 'Insights' }).waitFor();
  expect(await page.getByRole('dialog').count()).toBe(0);
  await page.context().close();
});

it('sorts insights in the list, marks them as favorites, deletes them, and restores them to their dashboards', async () => {
  const made: number[] = [];
  for (const name of ['Zebra', 'Yak', 'Xerus']) made.push((await save(name, trend('opened'))).id);
  const { id: board } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Animals' });
  await console.api('PATCH', `insights/${made[0]}`, { dashboards: [board] });
  const page = await console.open('insights');
  const names = async () =>
    (
      await page
        .getByRole('row')
        .getByRole('button', { name: /^(Zebra|Yak|Xerus)$/ })
        .allTextContents()
    ).join(' ');
  await page.getByRole('columnheader').getByRole('button', { name: 'Name' }).click();
  await eventually(async () => expect(await names()).toBe('Xerus Yak Zebra'));
  expect(await page.getByRole('columnheader', { name: 'Name' }).getAttribute('aria-sort')).toBe('ascending');
  await page.getByRole('button', { name: 'Favorite: Yak' }).click();
  await eventually(async () =>
    expect(await page.getByRole('button', { name: 'Favorite: Yak' }).getAttribute('aria-pressed')).toBe('true'),
  );
  await page.getByRole('button', { name: 'Favorites' }).click();
  await eventually(async () => expect(await names()).toBe('Yak'));
  await page.goBack();
  await eventually(async () => expect(await names()).toBe('Xerus Yak Zebra'));
  for (const name of ['Zebra', 'Yak']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.getByRole('button', { name: 'Delete selected' }).click();
  await eventually(async () => expect(await names()).toBe('Xerus'));
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => expect(await names()).toBe('Xerus Yak Zebra'));
  expect(await console.api('GET', `insights/${made[0]}`)).toMatchObject({ dashboards: [board] });
  await page.context().close();
});

it('links to the settings for internal and test users', async () => {
  const environment = `/api/environments/${console.tenant.environmentId}`;
  await console.api('PATCH', environment, { test_account_filters: [] });
  const page = await console.newPage();
  await page.goto(addressOf(trend('opened')));
  await page.getByText('Millrace does not know your internal users yet.').waitFor();
  await page.getByRole('link', { name: 'Set up filters for them' }).click();
  await page.waitForURL(/settings\/data$/);
  const internal = { key: 'name', type: 'person', operator: 'is_not_set', value: 'is_not_set' };
  await console.api('PATCH', environment, { test_account_filters: [internal] });
  await page.goto(addressOf(trend('opened')));
  await page.getByLabel('Exclude internal and test users').check();
  await shows(page, '1');
  await page.getByRole('link', { name: 'Edit the filters for internal users' }).waitFor();
  await page.context().close();
});

it('finds a property for a filter, and shows readable names of SDK properties', async () => {
  await console.query(
    `INSERT INTO property_definition (project_id, type, name, last_seen_at)
     SELECT $1, 1, name, now() FROM unnest(ARRAY['price', '$current_url', 'plan']) AS name`,
  );
  const page = await console.newPage();
  await page.goto(addressOf(trend('ordered')));
  await shows(page, '2');
  await page.getByRole('button', { name: 'Add filter' }).click();
  await page.getByRole('option', { name: /^Current URL \$current_url/ }).waitFor();
  await page.keyboard.type('pri');
  await eventually(async () => expect(await page.getByRole('option').count()).toBe(1));
  await page.keyboard.press('ArrowDown');
  await page.keyboard.press('Enter');
  const property = page.getByRole('combobox', { name: 'Property', exact: true });
  await eventually(async () => expect(await property.inputValue()).toBe('price'));
  await page.getByRole('combobox', { name: 'Values: Add a value' }).fill('40');
  await page.getByRole('button', { name: 'Add filter' }).click();
  await shows(page, '1');
  await page.getByRole('button', { name: 'price is 40', exact: true }).waitFor();
  await page.context().close();
});
