import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
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
afterAll(() => console?.stop());

const trend = (event: string) => ({
  kind: 'TrendsQuery',
  dateRange: { date_from: '-7d' },
  series: [{ kind: 'EventsNode', event }],
});
const insight = (name: string, query: object = trend('ordered')) =>
  console.api<{ id: number; short_id: string }>('POST', 'insights', { name, saved: true, query });
const namesOf = (page: Page) =>
  page.getByRole('list', { name: 'Tiles' }).getByRole('heading', { level: 2 }).allTextContents();

it('console-007: shows different messages for no dashboards, no matches and an unknown dashboard', async () => {
  const page = await console.open('dashboards');
  await page.getByRole('heading', { name: 'No dashboards yet' }).waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.goto(console.address('dashboards?search=x&nonsense=1'));
  await page.getByRole('heading', { name: 'No dashboards match your search' }).waitFor();
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  await page.goto(console.address('dashboards?dashboard=2000000'));
  await page.locator('[data-state=gone]').waitFor();
});

it('creates a dashboard, adds and reorders tiles by keyboard, filters the dashboard, and deletes it', async () => {
  await insight('First');
  await insight('Second', { kind: 'StickinessQuery' });
  const page = await console.open('dashboards');
  await page.getByRole('button', { name: 'New dashboard' }).first().click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Growth');
  await page.getByRole('button', { name: 'Create dashboard' }).click();
  await page.getByRole('heading', { level: 1, name: 'Growth' }).waitFor();
  await page.getByRole('heading', { name: 'This dashboard is empty' }).waitFor();
  // The page has two buttons with this name: the first in the middle of the empty page, and the last next to the
  // filters.
  await page.getByRole('button', { name: 'Add insight' }).last().click();
  await page.keyboard.type('first');
  await eventually(async () => expect(await page.getByRole('checkbox').count()).toBe(1));
  await page.getByRole('checkbox', { name: 'First' }).check();
  await page.getByRole('searchbox', { name: 'Search insights' }).fill('');
  await page.getByRole('checkbox', { name: 'Second' }).check();
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add 2 insights' }).click();
  for (const name of ['First', 'Second']) await page.getByRole('link', { name }).waitFor();
  expect(await page.getByRole('button', { name: /^(Move|Resize|Remove) / }).count()).toBe(0);
  await page.getByRole('button', { name: 'Edit layout' }).click();
  await page.getByRole('button', { name: 'Add text' }).click();
  await page.keyboard.type(
    '# Goals\nWhat **counts**, [see](https://example.com) [not](javascript:alert(1)).\n\n<b>Plainly</b>',
  );
  await page.getByRole('button', { name: 'Add', exact: true }).click();
  await page.getByRole('heading', { level: 3, name: 'Goals' }).waitFor();
  await page.locator('strong', { hasText: 'counts' }).waitFor();
  expect(await page.locator('.board-text a').evaluateAll((all) => all.map((one) => one.getAttribute('href')))).toEqual([
    'https://example.com',
  ]);
  await page.getByText('<b>Plainly</b>').waitFor();
  await page.getByText('This insight could not be loaded.').waitFor();
  await page.getByText('3', { exact: true }).and(page.locator('.insight-figure strong')).waitFor();
  await eventually(async () => expect(await namesOf(page)).toEqual(['First', 'Second', 'Text']));
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('button', { name: /^Move Second/ }).press('ArrowLeft');
  await page.getByText('Second is now at position 1').waitFor({ state: 'attached' });
  await eventually(async () => expect(await namesOf(page)).toEqual(['Second', 'First', 'Text']));
  const [board] = (await console.api<{ results: { id: number }[] }>('GET', 'dashboards')).results;
  const stored = () => console.api<{ tiles: { insight: { name: string } | null }[] }>('GET', `dashboards/${board?.id}`);
  await eventually(async () =>
    expect((await stored()).tiles.map((tile) => tile.insight?.name)).toEqual(['Second', 'First', undefined]),
  );
  await page.getByLabel('Date range').selectOption('-24h');
  await page.getByText('2', { exact: true }).and(page.locator('.insight-figure strong')).waitFor();
  expect(new URL(page.url()).searchParams.get('time')).toBe('-24h');
  await page.getByRole('button', { name: 'Remove Second from the dashboard' }).click();
  await eventually(async () => expect(await namesOf(page)).toEqual(['First', 'Text']));
  await page.getByText('Second was removed from the dashboard.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => expect(await namesOf(page)).toEqual(['Second', 'First', 'Text']));
  await page.getByRole('button', { name: 'Done editing' }).click();
  expect(await page.getByRole('button', { name: /^Remove Second/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete dashboard' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete dashboard' }).click();
  await page.getByRole('heading', { name: 'No dashboards yet' }).waitFor();
  await page.getByText('Growth was deleted.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await page.getByRole('button', { name: 'Growth', exact: true }).click();
  await eventually(async () => expect(await namesOf(page)).toEqual(['Second', 'First', 'Text']));
  await console.api('PATCH', `dashboards/${board?.id}`, { deleted: true });
  await page.context().close();
});

it("changes a tile's text, and a dashboard's name, description and tags", async () => {
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Nmae' });
  await console.api('PATCH', `dashboards/${id}`, { tiles: [{ text: { body: 'Before' } }] });
  const page = await console.open(`dashboards?dashboard=${id}&edit=true`);
  await page.getByRole('button', { name: 'Edit the text Before' }).click();
  await page.getByRole('textbox', { name: 'Text' }).fill('After');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.locator('.board-text').getByText('After').waitFor();
  await page.getByRole('heading', { name: 'Nmae' }).getByRole('button').click();
  await page.getByRole('textbox', { name: 'Name' }).fill('Name');
  await page.getByRole('textbox', { name: 'Description' }).fill('What we look at on Mondays');
  await page.getByLabel('Tags: Add a value').fill('weekly');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('heading', { level: 1, name: 'Name', exact: true }).waitFor();
  await page.getByText('What we look at on Mondays').waitFor();
  expect(await page.title()).toMatch(/^Name · /);
  expect(await console.api('GET', `dashboards/${id}`)).toMatchObject({ tags: ['weekly'] });
  await page.context().close();
});

it('creates a dashboard from each template', async () => {
  const page = await console.open('dashboards');
  for (const [template, tiles] of [
    ['Website traffic', 6],
    ['Product usage', 5],
    ['Online shop', 5],
    ['Flag rollout', 3],
  ] as const) {
    await page.getByRole('button', { name: 'New dashboard' }).first().click();
    await page.getByRole('radio', { name: template }).check();
    if (template === 'Flag rollout') await page.getByLabel('Key of the flag').fill('new-checkout');
    if (template === 'Online shop') await page.getByRole('combobox', { name: 'Event for an order' }).fill('ordered');
    await page.getByRole('button', { name: 'Create dashboard' }).click();
    await page.getByRole('heading', { level: 1, name: template }).waitFor();
    await eventually(async () => expect((await namesOf(page)).length).toBe(tiles));
    await eventually(async () => expect(await page.locator('[aria-busy=true]').count()).toBe(0));
    expect([template, await page.getByText('This insight could not be loaded.').count()]).toEqual([template, 0]);
    const { dashboard } = Object.fromEntries(new URL(page.url()).searchParams);
    const { tiles: stored } = await console.api<{ tiles: { layouts: { sm: { x: number; y: number } } }[] }>(
      'GET',
      `dashboards/${dashboard}`,
    );
    expect(new Set(stored.map(({ layouts: { sm } }) => `${sm.x} ${sm.y}`)).size).toBe(tiles);
    await page.getByRole('button', { name: 'All dashboards' }).click();
    await console.api('PATCH', `dashboards/${dashboard}`, { deleted: true, delete_insights: true });
  }
  // If creating one insight fails, the dashboard is deleted.
  await page.route('**/insights', (route) =>
    route.request().method() === 'POST'
      ? route.fulfill({ status: 403, json: { code: 'permission_denied', detail: 'You may not create insights.' } })
      : route.fallback(),
  );
  await page.getByRole('button', { name: 'New dashboard' }).first().click();
  await page.getByRole('radio', { name: 'Website traffic' }).check();
  await page.getByRole('button', { name: 'Create dashboard' }).click();
  await page.getByRole('alert').filter({ hasText: 'You may not create insights.' }).waitFor();
  const { results } = await console.api<{ results: { name: string }[] }>('GET', 'dashboards?search=Website');
  expect(results).toEqual([]);
  await page.context().close();
});

it('shows each tile as soon as its result has loaded', async () => {
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Slow' });
  const made: number[] = [];
  for (const name of ['Held', 'Quick']) {
    const { id: one } = await insight(name, {
      ...trend('ordered'),
      dateRange: { date_from: name === 'Held' ? '-9d' : '-8d' },
    });
    await console.api('PATCH', `insights/${one}`, { dashboards: [id] });
    made.push(one);
  }
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  const page = await console.newPage();
  await page.route(new RegExp(`/insights/${made[0]}\\?`), async (route) => {
    await held;
    await route.continue();
  });
  await page.goto(console.address(`dashboards?dashboard=${id}`));
  const tile = (name: string) => page.getByRole('listitem').filter({ has: page.getByRole('link', { name }) });
  await tile('Quick').locator('.insight-figure strong').waitFor();
  expect(await tile('Held').locator('.insight-figure').count()).toBe(0);
  release();
  await tile('Held').locator('.insight-figure strong').waitFor();
  await page.route(new RegExp(`/insights/${made[0]}\\?`), (route) =>
    route.fulfill({ status: 400, json: { code: 'invalid', detail: 'This cannot be computed.' } }),
  );
  await page.reload();
  await tile('Held').getByText('This cannot be computed.').waitFor();
  await tile('Quick').locator('.insight-figure strong').waitFor();
  await page.context().close();
});

it('moves a tile by dragging, and opens the insight when the user clicks its name', async () => {
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Dragged' });
  for (const name of ['One', 'Two', 'Three']) {
    const { id: made } = await insight(name);
    await console.api('PATCH', `insights/${made}`, { dashboards: [id] });
  }
  const page = await console.open(`dashboards?dashboard=${id}`);
  await page.getByRole('link', { name: 'Three' }).waitFor();
  await page.getByRole('button', { name: 'Edit layout' }).click();
  const handle = (name: string) => page.getByRole('button', { name: new RegExp(`^Move ${name}`) });
  await handle('Three').hover();
  await page.mouse.down();
  await handle('One').hover();
  await page.locator('[data-drop=before]').filter({ hasText: 'One' }).waitFor();
  await page.mouse.up();
  await eventually(async () => expect(await namesOf(page)).toEqual(['Three', 'One', 'Two']));
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.getByRole('link', { name: 'Two' }).click();
  await page.getByRole('heading', { level: 1, name: 'Two' }).waitFor();
});

it('resizes a tile with the keyboard and the mouse, and lists the dashboards that contain an insight', async () => {
  const [{ id: first }, { id: second }] = [
    await console.api<{ id: number }>('POST', 'dashboards', { name: 'Widths' }),
    await console.api<{ id: number }>('POST', 'dashboards', { name: 'Another' }),
  ];
  const { id: made, short_id: shortId } = await insight('Stretched');
  await console.api('PATCH', `insights/${made}`, { dashboards: [first] });
  const page = await console.open(`dashboards?dashboard=${first}`);
  await page.getByRole('button', { name: 'Edit layout' }).click();
  const handle = page.getByRole('button', { name: /^Resize Stretched/ });
  const storedSize = async () =>
    (await console.api<{ tiles: { layouts: { sm: object } }[] }>('GET', `dashboards/${first}`)).tiles[0]?.layouts.sm;
  const tile = page.getByRole('listitem').filter({ hasText: 'Stretched' });
  const { width = 0 } = (await tile.boundingBox()) ?? {};
  await handle.press('ArrowRight');
  await page.getByText('Stretched is now 7 columns wide and 5 rows tall').waitFor({ state: 'attached' });
  await eventually(async () => expect(await storedSize()).toMatchObject({ w: 7, h: 5 }));
  await handle.hover();
  await page.mouse.down();
  const { x = 0, y = 0 } = (await handle.boundingBox()) ?? {};
  await page.mouse.move(x + 12 + (width / 6) * 3, y + 12 - 74 * 2, { steps: 3 });
  await page.mouse.up();
  await eventually(async () => expect(await storedSize()).toMatchObject({ w: 10, h: 3 }));
  await page.reload();
  await eventually(async () => expect(((await tile.boundingBox())?.width ?? 0) / width).toBeGreaterThan(1.6));
  await page.getByRole('heading', { name: 'Stretched' }).waitFor();
  expect(await page.getByRole('heading', { name: 'Stretched' }).getAttribute('title')).toBe('Stretched');
  await page.goto(console.address(`insights?insight=${shortId}`));
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  const choice = (name: string) => page.getByRole('menuitemcheckbox', { name, exact: true });
  const dashboards = async () => (await console.api<{ dashboards: number[] }>('GET', `insights/${made}`)).dashboards;
  await choice('Another').waitFor();
  expect(await choice('Widths').getAttribute('aria-checked')).toBe('true');
  expect(await runAxe(page)).toEqual([]);
  await choice('Widths').click();
  await page.getByText('Stretched was removed from Widths.').waitFor();
  await eventually(async () => expect(await dashboards()).toEqual([]));
  // Keyboard users can type to find a dashboard. The focus then returns to the button.
  await page.getByRole('button', { name: 'Add to dashboard' }).press('Enter');
  await choice('Another').waitFor();
  await page.keyboard.type('ano');
  await page.keyboard.press('Enter');
  await page.getByText('Stretched was added to Another.').waitFor();
  await eventually(async () => expect(await dashboards()).toEqual([second]));
  expect(await page.evaluate('document.activeElement.textContent')).toBe('Add to dashboard');
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => expect(await dashboards()).toEqual([]));
  // On a phone, the button is far below the notice, which remains visible.
  await page.setViewportSize({ width: 390, height: 640 });
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await choice('Another').click();
  const { y: top = -1 } = (await page.getByText('Stretched was added to Another.').boundingBox()) ?? {};
  expect(top).toBeGreaterThanOrEqual(0);
  expect(top).toBeLessThan(640);
  expect(await page.evaluate('scrollY')).toBeGreaterThan(0);
  expect(await runAxe(page)).toEqual([]);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => expect(await dashboards()).toEqual([]));
  await page.route(`**/insights/${made}`, (route) =>
    route.fulfill({ status: 403, json: { code: 'permission_denied', detail: 'You may not change it.' } }),
  );
  await page.getByRole('button', { name: 'Add to dashboard' }).click();
  await choice('Another').click();
  await page.getByRole('alert').filter({ hasText: 'You may not change it.' }).waitFor();
  await page.context().close();
});

it("shows the time of a dashboard's last refresh, and server errors", async () => {
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
  await page.getByRole('button', { name: 'Edit layout' }).click();
  await page.getByRole('button', { name: 'Remove Orders from the dashboard' }).click();
  await page.getByRole('alert').filter({ hasText: 'You may not change it.' }).waitFor();
  await page.getByRole('link', { name: 'Orders' }).waitFor();
});

it("filters a dashboard's insights for the current user, and saves the filters for all users", async () => {
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
  // Choosing another date range preserves the saved filters.
  await page.getByLabel('Date range').selectOption('-24h');
  await shows('2');
  await page.getByRole('button', { name: 'Filters' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'Add filter' }).click();
  await dialog.getByRole('combobox', { name: 'Property', exact: true }).fill('land');
  await dialog.getByLabel('Operator').selectOption('is_set');
  await dialog.getByRole('button', { name: 'Add filter' }).click();
  expect(await runAxe(page)).toEqual([]);
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

it('sorts dashboards in the list, marks them as favorites, and tags and deletes them', async () => {
  for (const name of ['Zebra', 'Yak', 'Xerus']) await console.api('POST', 'dashboards', { name, tags: ['zoo'] });
  const page = await console.open('dashboards?search=');
  const names = async () =>
    (
      await page
        .getByRole('row')
        .getByRole('button', { name: /^(Zebra|Yak|Xerus)$/ })
        .allTextContents()
    ).join(' ');
  await eventually(async () => expect(await names()).toBe('Xerus Yak Zebra'));
  await page.getByRole('button', { name: 'Favorite: Zebra' }).click();
  await eventually(async () => expect(await names()).toBe('Zebra Xerus Yak'));
  await page.getByRole('columnheader').getByRole('button', { name: 'Name' }).click();
  await eventually(async () => expect(await names()).toBe('Xerus Yak Zebra'));
  await page.getByRole('columnheader').getByRole('button', { name: 'Name' }).click();
  await eventually(async () => expect(await names()).toBe('Zebra Yak Xerus'));
  expect(new URL(page.url()).searchParams.get('order')).toBe('-name');
  await page.getByRole('button', { name: 'Favorites' }).click();
  await eventually(async () => expect(await names()).toBe('Zebra'));
  await page.getByRole('button', { name: 'Favorites' }).click();
  await eventually(async () => expect(await names()).toBe('Zebra Yak Xerus'));
  for (const name of ['Zebra', 'Yak']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.getByText('2 items selected').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Add tag' }).click();
  await page.keyboard.type('wild');
  await page.keyboard.press('Enter');
  await page.getByText('Added the tag wild to 2 items.').waitFor();
  const tags = async () =>
    (await console.api<{ results: { tags: string[] }[] }>('GET', 'dashboards?tags=["wild"]')).results.map(
      (one) => one.tags,
    );
  expect(await tags()).toEqual([
    ['zoo', 'wild'],
    ['zoo', 'wild'],
  ]);
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => expect(await tags()).toEqual([]));
  for (const name of ['Zebra', 'Yak']) await page.getByRole('checkbox', { name: `Select ${name}` }).check();
  await page.getByRole('button', { name: 'Delete selected' }).click();
  await eventually(async () => expect(await names()).toBe('Xerus'));
  await page.getByText('Deleted 2 items.').waitFor();
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => expect(await names()).toBe('Zebra Yak Xerus'));
  await page.context().close();
});
