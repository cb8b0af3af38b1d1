import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';
import { waitForRequests } from './visit-pages.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole({ settings: { QUERY_TIMEOUT_MS: '8000' } });
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
  await console.storePerson('ada', { email: 'ada@example.com', plan: 'pro' });
  await console.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     SELECT $1, '2026-11-20T10:00:00Z'::timestamptz + hours * interval '1 hour', gen_random_uuid(), name, 'ada', person.uuid,
            jsonb_build_object('price', hours, 'cart id', hours), now()
       FROM (VALUES (0, 'opened'), (1, 'opened'), (30, 'opened'), (31, 'ordered')) AS stored (hours, name),
            (SELECT uuid FROM person WHERE project_id = $1) AS person`,
  );
  await console.query(
    `INSERT INTO event_definition (project_id, name, created_at, last_seen_at)
     SELECT $1, name, now(), now() FROM unnest(ARRAY['opened', 'ordered']) AS name`,
  );
  await console.query(
    `INSERT INTO property_definition (project_id, type, group_type_index, name, property_type, created_at, last_seen_at)
     SELECT $1, type, -1, name, 'String', now(), now()
       FROM (VALUES (1, 'price'), (1, 'cart id'), (2, 'plan')) AS defined (type, name)`,
  );
});
afterAll(() => console?.stop());

const editor = (page: Page) => page.getByRole('textbox', { name: 'SQL query' });
const rowsOf = (page: Page) =>
  page
    .getByRole('grid', { name: 'Result' })
    .locator('tbody tr')
    .evaluateAll((rows) => rows.map((row) => [...row.querySelectorAll('td')].map((cell) => cell.textContent)));
const shows = (page: Page, rows: string[][]) => eventually(async () => expect(await rowsOf(page)).toEqual(rows));
const addressOf = (query: string, more: object = {}) => {
  const node = { kind: 'DataVisualizationNode', source: { kind: 'HogQLQuery', query }, ...more };
  return `sql?query=${encodeURIComponent(JSON.stringify(node))}`;
};

describe('the SQL page', () => {
  test('completes tables, columns, properties, events and functions, and works with the keyboard alone', async () => {
    const page = await console.open('sql');
    await waitForRequests(page);
    await editor(page).focus();
    const choose = async (name: string, key = 'Enter') => {
      await page.getByRole('option').filter({ hasText: name }).first().waitFor();
      // The editor ignores keys for 75 ms after its list opens, so that the list does not replace text that the user is
      // typing.
      await page.waitForTimeout(150);
      await page.keyboard.press(key);
    };
    await page.keyboard.type('SELECT even');
    await choose('eventstring');
    await page.keyboard.type(', cou');
    await choose('countaggregate', 'Tab');
    await page.keyboard.press('End');
    await page.keyboard.type(' AS times, max(properties.ca');
    await choose('cart id');
    await page.keyboard.press('End');
    await page.keyboard.type(' AS last FROM eve');
    await choose('events');
    await page.keyboard.type(" WHERE event != 'ord");
    await choose('ordered');
    await page.keyboard.press('End');
    await page.keyboard.type(' AND person.properties.pl');
    await choose('plan');
    await page.keyboard.type(" = 'pro' GROUP BY event");
    await page.keyboard.press('Escape');
    await page.keyboard.press('Control+Enter');
    await shows(page, [['opened', '3', '30']]);
    // Tab leaves the editor. The arrow keys move between the result's cells.
    await page.keyboard.press('Tab');
    expect(await page.evaluate(() => document.activeElement?.textContent)).toContain('Run query');
    const stops: string[] = [];
    while (stops.length < 12 && stops.at(-1) !== 'TABLE') {
      await page.keyboard.press('Tab');
      stops.push(await page.evaluate(() => document.activeElement?.tagName ?? ''));
    }
    expect(stops.at(-1)).toBe('TABLE');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('ArrowRight');
    await page.getByRole('region', { name: 'Value of times' }).getByText('3', { exact: true }).waitFor();
    await page.context().close();
  });

  test('marks an error at its position, describes it, and removes the mark when the user fixes it', async () => {
    const page = await console.open('sql');
    await waitForRequests(page);
    await editor(page).fill("SELECT '🙂',\n  evnt FROM events");
    await page.getByText('Line 2, column 3: Unable to resolve field: evnt').waitFor();
    expect(await page.locator('.cm-mark-error').allTextContents()).toEqual(['evnt']);
    expect(await runAxe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.getByRole('alert').getByText('The query could not run.').waitFor();
    await editor(page).fill("SELECT '🙂' AS face, event FROM events LIMIT 1");
    await eventually(async () => expect(await page.locator('.cm-mark-error').count()).toBe(0));
    await page.getByRole('button', { name: 'Run query' }).click();
    await shows(page, [['🙂', 'opened']]);
    expect(await page.getByRole('alert').count()).toBe(0);
    await page.context().close();
  });

  test('shows warnings and hints at their position and below the editor, and still runs the query', async () => {
    await console.query("UPDATE pg_class SET reltuples = 6000000 WHERE relname = 'event_all'", []);
    const page = await console.open('sql');
    await waitForRequests(page);
    await editor(page).fill('SELECT count() AS n\nFROM events\nSAMPLE 0.1');
    await page.getByText('Line 3, column 1, warning: SAMPLE has no effect').waitFor();
    await page.getByText('Line 2, column 6, hint: This query reads all events').waitFor();
    expect(await page.locator('.cm-mark-warning').allTextContents()).toEqual(['SAMPLE 0.1']);
    expect(await page.locator('.cm-mark-info').allTextContents()).toEqual(['events']);
    expect(await runAxe(page)).toEqual([]);
    await page.getByRole('button', { name: 'Run query' }).click();
    await shows(page, [['4']]);
    await console.query("UPDATE pg_class SET reltuples = 4 WHERE relname = 'event_all'", []);
    await page.context().close();
  });

  test('reopens a recent query, and deletes recent queries when the user signs out', async () => {
    const page = await console.openSignedIn('sql');
    await waitForRequests(page);
    const run = async (query: string, row: string[]) => {
      await editor(page).fill(query);
      await editor(page).press('Control+Enter');
      await shows(page, [row]);
    };
    await run('SELECT 1 AS n', ['1']);
    await run('SELECT 2 AS n', ['2']);
    await run('SELECT 1 AS n', ['1']);
    await page.goto(console.address('sql'));
    await page.getByRole('button', { name: 'Recent queries' }).click();
    const items = page.getByRole('menu', { name: 'Recent queries' }).getByRole('menuitem');
    const names = await items.locator('.mono').allTextContents();
    expect(names).toEqual(['SELECT 1 AS n', 'SELECT 2 AS n']);
    await items.filter({ hasText: 'SELECT 2' }).click();
    await eventually(async () => expect(await editor(page).textContent()).toBe('SELECT 2 AS n'));
    const kept = () => page.evaluate(() => Object.keys(localStorage).filter((key) => key.startsWith('millrace-user-')));
    expect(await kept()).toHaveLength(1);
    await page.getByRole('button', { name: /^Account/ }).click();
    await page.getByRole('menuitem', { name: 'Sign out' }).click();
    await page.getByRole('button', { name: 'Sign in' }).waitFor();
    expect(await kept()).toEqual([]);
    await page.context().close();
  });

  test('cancels a running query, and reports a timeout', async () => {
    const page = await console.open('sql');
    await waitForRequests(page);
    const numbers = '(SELECT arrayJoin(range(0, 10000)) AS n)';
    await editor(page).fill(
      `SELECT count() FROM ${numbers} AS a CROSS JOIN ${numbers} AS b CROSS JOIN ${numbers} AS c`,
    );
    const run = page.getByRole('button', { name: 'Run query' });
    await run.click();
    await page.getByRole('button', { name: 'Cancel query' }).click();
    await page.getByText('The query was canceled.').waitFor();
    await run.click();
    await page.getByRole('alert').getByText('The query could not run.').waitFor();
    await page.getByRole('alert').getByText('8 seconds').waitFor();
    await editor(page).fill('SELECT 1 AS n');
    await run.click();
    await shows(page, [['1']]);
    await page.context().close();
  });

  test('displays each type of value, splits long results into pages, and shows whether a result is truncated', async () => {
    const page = await console.openSignedIn(
      addressOf(`SELECT timestamp, toDate(timestamp) AS day, toFloat(properties.price) AS price, properties.none AS missing, properties,
                  ['a', 'b'] AS list FROM events ORDER BY timestamp LIMIT 1`),
    );
    const run = page.getByRole('button', { name: 'Run query' });
    await run.click();
    await shows(page, [
      [
        '2026-11-20 10:00:00',
        '2026-11-20',
        '0',
        'null',
        expect.stringContaining('"price"') as unknown as string,
        '["a","b"]',
      ],
    ]);
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    const price = page.getByRole('gridcell', { name: '0', exact: true });
    expect(await price.evaluate((cell) => getComputedStyle(cell).textAlign)).toBe('right');
    await page.getByRole('gridcell', { name: /"price"/ }).click();
    const value = page.getByRole('region', { name: 'Value of properties' });
    expect(await value.locator('pre').textContent()).toBe('{\n  "price": 0,\n  "cart id": 0\n}');
    await price.click();
    await page.keyboard.press('ArrowLeft');
    await page.keyboard.press('Control+c');
    await eventually(async () => expect(await page.evaluate(() => navigator.clipboard.readText())).toBe('2026-11-20'));

    await editor(page).fill('SELECT arrayJoin(range(1, 251)) AS n FROM (SELECT 1) ORDER BY n');
    await page.getByText('The query was changed. Run it to update the result.').waitFor();
    await run.click();
    await page.getByText('The result is limited to 100 rows.').waitFor();
    await editor(page).fill('SELECT arrayJoin(range(1, 251)) AS n FROM (SELECT 1) ORDER BY n LIMIT 1000');
    await run.click();
    await page.getByText('Rows 1 to 100 of 250').waitFor();
    await page.getByRole('button', { name: 'Next page' }).click();
    await page.getByText('Rows 101 to 200 of 250').waitFor();
    expect((await rowsOf(page))[0]).toEqual(['101']);
    await page.context().close();
  });

  test('draws an SQL result over time with the selected columns', async () => {
    const page = await console.open(
      addressOf(
        'SELECT toDate(timestamp) AS day, event, count() AS times, max(toFloat(properties.price)) AS highest FROM events GROUP BY day, event ORDER BY day',
      ),
    );
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.getByRole('button', { name: 'Line', exact: true }).click();
    const chart = page.getByRole('slider');
    await chart.waitFor();
    await page.getByRole('checkbox', { name: 'highest' }).uncheck();
    await page.getByLabel('Breakdown').selectOption('event');
    await eventually(async () => expect(await chart.getAttribute('aria-label')).toContain('opened, ordered'));
    const color = page.locator('.chart-legend .insight-mark').first();
    expect((await color.boundingBox())?.width).toBe(9);
    await chart.press('Home');
    expect(await chart.getAttribute('aria-valuetext')).toContain('opened 2');
    expect(await chart.getAttribute('aria-valuetext')).toContain('20 Nov 2026');
    await page.getByLabel('Breakdown').selectOption('None');
    await page.getByRole('button', { name: 'Bar', exact: true }).click();
    await eventually(async () => expect(await chart.getAttribute('aria-label')).toContain('times'));
    expect(await runAxe(page)).toEqual([]);
    await eventually(async () => expect(page.url()).toContain('ActionsBar'));
    await page.reload();
    await page.getByRole('button', { name: 'Run query' }).click();
    await page.getByRole('button', { name: 'Bar', exact: true, pressed: true }).waitFor();
    await page.context().close();
  });

  test('replaces {filters} with the chosen dates, and keeps an unsaved query while other pages are open', async () => {
    const page = await console.open('sql');
    await page.getByRole('button', { name: 'Most viewed pages' }).click();
    await page.getByLabel('Date range').waitFor();
    await editor(page).fill('SELECT count() AS events FROM events WHERE {filters}');
    await page.getByRole('button', { name: 'Run query' }).click();
    await shows(page, [['4']]);
    await page.getByLabel('Date range').selectOption('Custom range…');
    await page.getByLabel('From', { exact: true }).fill('2026-11-21');
    await page.getByLabel('To', { exact: true }).fill('2026-11-22');
    await page.getByRole('button', { name: 'Run query' }).click();
    await shows(page, [['2']]);
    await page.getByRole('link', { name: 'Persons', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Persons' }).waitFor();
    await page.getByRole('link', { name: 'SQL', exact: true }).click();
    await eventually(async () => expect(await editor(page).textContent()).toContain('WHERE {filters}'));
    await page.getByRole('button', { name: 'View as API call' }).click();
    await page.getByText('"date_from":"2026-11-21"').waitFor();
    await page.context().close();
  });

  test('saves a query as an insight, reopens it, and shows it on a dashboard', async () => {
    const query = 'SELECT event, count() AS times FROM events GROUP BY event ORDER BY event';
    const page = await console.open(addressOf(query, { display: 'ActionsBar' }));
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    const dialog = page.getByRole('dialog', { name: 'Save insight' });
    await dialog.getByLabel('Name').fill('Events by name');
    await dialog.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByRole('heading', { level: 1, name: 'Events by name' }).waitFor();
    await page.getByRole('slider', { name: /^Chart of times from opened to ordered/ }).waitFor();
    const shortId = new URL(page.url()).searchParams.get('insight') ?? '';
    expect(await console.api('GET', `insights?short_id=${shortId}`)).toMatchObject({
      results: [
        { query: { kind: 'DataVisualizationNode', display: 'ActionsBar', source: { kind: 'HogQLQuery', query } } },
      ],
    });
    await page.getByRole('button', { name: 'Table', exact: true }).click();
    await shows(page, [
      ['opened', '3'],
      ['ordered', '1'],
    ]);
    await page.getByRole('button', { name: 'Save', exact: true }).click();
    await page.getByText('Saved ·').waitFor();
    // Links to an SQL insight from lists and dashboards open the SQL page.
    await page.goto(console.address(`insights?insight=${shortId}`));
    await page.getByRole('grid', { name: 'Result' }).waitFor();
    expect(new URL(page.url()).pathname).toMatch(/\/sql$/);
    const { results } = await console.api<{ results: { id: number }[] }>('GET', `insights?short_id=${shortId}`);
    const { id: board } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Board' });
    await console.api('PATCH', `insights/${results[0]?.id}`, { dashboards: [board] });
    await page.goto(console.address(`dashboards?dashboard=${board}`));
    const tile = page.getByRole('region', { name: 'Events by name' });
    await tile.getByRole('cell', { name: 'ordered', exact: true }).waitFor();
    expect(await tile.getByRole('cell').allTextContents()).toEqual(['opened', '3', 'ordered', '1']);
    expect(await runAxe(page)).toEqual([]);
    await page.context().close();
  });

  test.each(['light', 'dark'] as const)('passes the accessibility checks in the %s theme', async (colorScheme) => {
    const page = await console.open('sql');
    await page.emulateMedia({ colorScheme });
    await waitForRequests(page);
    await editor(page).waitFor();
    expect(await runAxe(page, { isWhole: true })).toEqual([]);
    await editor(page).fill(
      "-- all\nSELECT event, count(*) AS n, 'x' AS text, 1.5 FROM events WHERE {filters} GROUP BY eve",
    );
    await editor(page).press('Control+Space');
    await page.getByRole('listbox').waitFor();
    // The arrow keys scroll the list while the focus remains in the editor. axe accepts this only for a combobox.
    const isScrolledByEditor = (violation: string) =>
      violation.startsWith('scrollable-region-focusable: <ul id="cm-ac-');
    expect((await runAxe(page)).filter((one) => !isScrolledByEditor(one))).toEqual([]);
    await page.context().close();
  });
});
