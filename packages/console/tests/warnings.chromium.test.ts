import { randomUUID } from 'node:crypto';
import { topicNames } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import type { Locator, Page } from 'playwright-core';
import { type RunningConsole, runAxeInBothThemes, startConsole } from './start-console.ts';

const topics = topicNames();
let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  for (const topic of [topics.live, topics.deadLetter])
    await console.query('INSERT INTO event_log_partition (topic, partition) VALUES ($1, 0)', [topic]);
});
afterAll(() => console?.stop());

interface Stored {
  type: string;
  severity?: string;
  count?: number;
  details?: object;
  ago?: string;
}

const storeWarning = ({ type, severity = 'error', count = 1, details = {}, ago = '5 min' }: Stored) =>
  console.query(
    `INSERT INTO ingestion_warning (project_id, id, type, severity, count, details, timestamp)
     VALUES ($1, '${randomUUID()}', '${type}', '${severity}', ${count}, '${JSON.stringify(details).replaceAll("'", "''")}',
             now() - interval '${ago}')`,
  );

let next = 0;
/** Stores a dead letter in the database, as the consumer does. @returns its ID */
async function storeDeadLetter({ event = 'buy', reason = 'refused_by_database', value = '' } = {}): Promise<string> {
  const { environmentId, projectApiKey } = console.tenant;
  const offset = String(next++);
  const captured = { kind: 'event', environment_id: environmentId, event, distinct_id: 'ada', now: new Date() };
  const headers = {
    ...{ dlq_reason: reason, dlq_step: 'process_batch', dlq_timestamp: new Date().toISOString() },
    ...{ dlq_topic: topics.live, dlq_partition: '0', dlq_offset: offset, dlq_log: 'a log' },
  };
  const record = value || JSON.stringify(captured);
  await console.append(topics.deadLetter, { key: `${projectApiKey}:ada`, value: record, headers });
  return `live-0-${offset}`;
}

async function recordsIn(topic: string): Promise<number> {
  const { rows } = await console.query('SELECT 1 FROM event_log_record WHERE topic = $1', [topic]);
  return rows.length;
}

const hostile = `<img src=x onerror="document.title='run'">`;
const rows = (page: Page) => page.locator('[data-row]').allTextContents();
const aside = (page: Page) => page.getByRole('complementary');
const overflow = (page: Page) => page.evaluate<number>('document.documentElement.scrollWidth - innerWidth');

async function expectAccessible(page: Page) {
  expect(await runAxeInBothThemes(page)).toEqual([]);
}

it.each([
  ['console-007, console-038, warnings', 'warnings', /ingestion_warnings\/counts/, 'No warnings in this date range'],
  ['console-007, console-038, dead letters', 'warnings?tab=letters', /dead_letters/, 'No dead letters are waiting'],
])('%s: shows different states for empty, loading, failed, refused and not found', async (_, path, route, empty) => {
  const page = await console.open(path);
  await page.locator('.good').getByRole('heading', { name: empty }).waitFor();
  await expectAccessible(page);
  const failures = [
    { status: 403, picture: 'refused' },
    { status: 400, picture: 'failed' },
    { status: 404, picture: 'gone' },
  ];
  for (const { status, picture } of failures) {
    await page.route(route, (one) =>
      one.fulfill({ status, headers: { 'x-request-id': 'r-17' }, json: { detail: 'Because of a test.' } }),
    );
    await page.goto(console.address(path));
    await page.locator(`[data-state=${picture}]`).waitFor();
    await page.unroute(route);
  }
  let respond = () => {};
  const held = new Promise<void>((resolve) => {
    respond = resolve;
  });
  await page.route(route, async (one) => {
    await held;
    await one.continue();
  });
  await page.goto(console.address(path));
  await page.getByText('Loading').first().waitFor();
  respond();
  await page.getByRole('heading', { name: empty }).waitFor();
  await page.context().close();
});

describe('the Warnings page', () => {
  beforeAll(async () => {
    const sample = { index: 3, uuid: 'u-1', event: hostile, bytes: 2_400_000, max_bytes: 1_048_576 };
    await storeWarning({ type: 'message_size_too_large', count: 3, ago: '3 days', details: { samples: [sample] } });
    await storeWarning({ type: 'message_size_too_large', count: 4, details: { samples: [sample] } });
    const details = { eventUuid: randomUUID(), event: '$identify', sourceDistinctId: 'anon', targetDistinctId: 'ada' };
    await storeWarning({ type: 'cannot_merge_already_identified', severity: 'warning', details });
    await storeWarning({ type: 'event_dead_lettered', details: { topic: topics.live, partition: 0, offset: '7' } });
  });
  afterAll(() => console.query('DELETE FROM ingestion_warning WHERE project_id = $1'));

  it("gives a warning's text most of the list's width, even while the details are open", async () => {
    const page = await console.open('warnings', { width: 1440, height: 900 });
    const text = page.getByRole('row').filter({ hasText: 'Message size too large' }).getByRole('cell').first();
    await text.waitFor();
    await aside(page).waitFor();
    const widthOf = async (place: Locator) => (await place.boundingBox())?.width ?? 0;
    expect(await widthOf(text)).toBeGreaterThan(
      (await widthOf(page.getByRole('table', { name: /^Warning types/ }))) / 2,
    );
    const began = page.getByRole('columnheader', { name: 'First seen' });
    expect(await began.isVisible()).toBe(false);
    await page.setViewportSize({ width: 1920, height: 1000 });
    await began.waitFor();
    await page.context().close();
  });

  it('console-016, console-020, console-031: groups warnings by type, and shows the reason, samples and rule', async () => {
    const page = await console.open('warnings');
    await eventually(async () =>
      expect(await rows(page)).toEqual([
        'Message size too large',
        'Cannot merge already identified',
        'Event dead lettered',
      ]),
    );
    const row = page.getByRole('row').filter({ hasText: 'Message size too large' });
    expect(await row.locator('.number').textContent()).toBe('7');
    await row.getByText('3 days ago').waitFor();
    await row.getByText('5 minutes ago').waitFor();
    await expectAccessible(page);
    await row.getByRole('button').click();
    await aside(page).getByText('2,400,000 bytes').first().waitFor();
    await aside(page).getByText('1,048,576 bytes').first().waitFor();
    await aside(page).getByText(hostile).first().waitFor();
    expect(await page.title()).not.toBe('run');
    await expectAccessible(page);
    const opened = page.waitForEvent('popup');
    await aside(page).getByRole('link', { name: 'Read the documentation' }).click();
    const rules = await opened;
    await rules.getByRole('heading', { name: 'Dropped events' }).waitFor();
    await eventually(async () => expect(await rules.evaluate('document.activeElement.id')).toBe('dropped-events'));
    await expectAccessible(rules);
    await page.context().close();
  });

  it('console-004, console-005, console-006: keeps filters and the open warning in the URL', async () => {
    const page = await console.open('warnings?severity=loud&after=soon&colour=red');
    await page.getByText(/unknown or invalid parameters: colour, after, severity/).waitFor();
    await page.goto(console.address('warnings'));
    await page.getByLabel('Severity:').selectOption('warning');
    await eventually(async () => expect(await rows(page)).toEqual(['Cannot merge already identified']));
    await page.getByRole('button', { name: 'Cannot merge already identified' }).click();
    await aside(page).getByRole('link', { name: 'anon' }).waitFor();
    const copy = await console.open(`warnings${new URL(page.url()).search}`);
    await aside(copy).getByRole('heading', { name: 'Cannot merge already identified' }).waitFor();
    await copy.context().close();
    await page.keyboard.press('Escape');
    await eventually(async () =>
      expect(await page.evaluate('document.activeElement.textContent')).toBe('Cannot merge already identified'),
    );
    await page.goBack();
    await aside(page).waitFor();
    await page.goto(console.address('warnings?after=-24h'));
    await page.getByRole('searchbox').fill('larger than');
    await eventually(async () => expect(await rows(page)).toEqual(['Message size too large']));
    expect(await page.locator('.warnings-row .number').textContent()).toBe('4');
    await page.getByRole('searchbox').fill('no such thing');
    await page.getByRole('heading', { name: 'No warnings match your filters' }).waitFor();
    await page.goto(console.address('warnings?open=error%20quota_limited'));
    await page.getByRole('heading', { name: 'No warnings of this type in this date range' }).waitFor();
    await page.context().close();
  });

  it('opens the first warning on a wide screen without taking the focus, until the user closes it', async () => {
    const size = { width: 1440, height: 900 };
    const page = await console.open('warnings', size);
    await aside(page).getByRole('heading', { name: 'Message size too large' }).waitFor();
    await aside(page).getByText('1,048,576 bytes').first().waitFor();
    expect(await page.evaluate('document.activeElement.tagName')).toBe('BODY');
    // While the details are open, the list hides only columns that the details also show.
    await page.getByRole('columnheader', { name: 'Over time' }).waitFor();
    await page.getByRole('columnheader', { name: 'Last seen' }).waitFor();
    await expectAccessible(page);
    await page.getByRole('button', { name: 'Cannot merge already identified' }).click();
    await aside(page).getByRole('heading', { name: 'Cannot merge already identified' }).waitFor();
    await page.goBack();
    await aside(page).getByRole('heading', { name: 'Message size too large' }).waitFor();
    await aside(page).getByRole('button', { name: 'Close' }).click();
    await aside(page).waitFor({ state: 'detached' });
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Message size too large');
    await page.reload();
    await page.locator('[data-row]').first().waitFor();
    expect(await aside(page).count()).toBe(0);
    await page.setViewportSize({ width: 360, height: 640 });
    await page.goto(console.address('warnings'));
    await page.locator('[data-row]').first().waitFor();
    expect(await aside(page).count()).toBe(0);
    await page.context().close();
  });

  it('links a warning to its event, person and dead letter', async () => {
    const page = await console.open('warnings?open=warning%20cannot_merge_already_identified');
    const addressOf = async (name: string | RegExp) =>
      new URL((await aside(page).getByRole('link', { name }).getAttribute('href')) ?? '', page.url());
    await aside(page).getByRole('link', { name: 'ada' }).waitFor();
    expect((await addressOf('ada')).searchParams.get('distinct_id')).toBe('ada');
    const event = await addressOf(/^[\da-f-]{36}$/);
    expect([event.pathname.endsWith('/events'), event.searchParams.get('open')?.length]).toEqual([true, 36]);
    await page.goto(console.address('warnings?open=error%20event_dead_lettered'));
    await aside(page).getByRole('link', { name: '7', exact: true }).click();
    await eventually(() => expect(new URL(page.url()).searchParams.get('letter')).toBe('live-0-7'));
    await page.locator('[data-state=gone]').waitFor();
    await page.context().close();
  });

  it('console-039, console-042: works with only the keyboard and on a phone screen', async () => {
    const page = await console.open('warnings', { width: 360, height: 640 });
    await page.locator('[data-row]').first().waitFor();
    expect(await overflow(page)).toBe(0);
    await expectAccessible(page);
    await page.locator('[data-row]').first().focus();
    await page.keyboard.press('j');
    await page.keyboard.press('j');
    await page.keyboard.press('k');
    await page.keyboard.press('Enter');
    await aside(page).getByRole('heading', { name: 'Cannot merge already identified' }).waitFor();
    expect(await overflow(page)).toBe(0);
    await expectAccessible(page);
    await page.keyboard.press('Escape');
    await page.locator('[data-row]').first().waitFor();
    await page.context().close();
  });
});

describe('the list of dead letters', () => {
  it("console-030, console-020: shows a dead letter's record and advice, and replays it only once", async () => {
    const id = await storeDeadLetter({ event: hostile });
    const page = await console.open('warnings?tab=letters');
    await page.getByRole('row').filter({ hasText: 'live · 0 · 0' }).getByRole('button').click();
    await aside(page).getByText('What to do.').waitFor();
    await aside(page).getByText('"kind": "event"').waitFor();
    expect(await page.title()).not.toBe('run');
    await expectAccessible(page);
    await aside(page).getByRole('button', { name: 'Replay' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('heading', { name: 'Replay 1 dead letter?' }).waitFor();
    await expectAccessible(page);
    await dialog.getByRole('button', { name: 'Replay 1 dead letter' }).click();
    await dialog.getByRole('heading', { name: '1 dead letter was replayed.' }).waitFor();
    await dialog.getByRole('button', { name: 'Close' }).click();
    await aside(page).getByText('This dead letter was replayed.').waitFor();
    expect(await recordsIn(topics.live)).toBe(1);
    expect(await console.api('POST', 'dead_letters/replay', { ids: [id] })).toMatchObject({ replayed: 0 });
    expect(await recordsIn(topics.live)).toBe(1);
    const { rows: activity } = await console.query("SELECT item_id FROM activity_log WHERE scope = 'DeadLetter'", []);
    expect(activity).toEqual([{ item_id: id }]);
    await page.context().close();
  });

  it('console-004, console-030: selects all matching dead letters by keyboard, and discards them', async () => {
    for (let count = 0; count < 130; count += 1) await storeDeadLetter({ reason: 'timed_out' });
    await storeDeadLetter({ event: 'other', value: 'no json' });
    const page = await console.open('warnings?tab=letters&reason=timed_out');
    await page.getByRole('checkbox', { name: 'Select the 100 dead letters shown' }).check();
    await page.getByText('100 dead letters selected').waitFor();
    await page.getByRole('button', { name: 'Select all that match the filters' }).click();
    await page.getByText('130 dead letters selected').waitFor();
    await page.locator('[data-row]').first().focus();
    await page.keyboard.press('x');
    await page.getByText('129 dead letters selected').waitFor();
    await page.keyboard.press('Shift+R');
    await page.getByRole('dialog').getByRole('heading', { name: 'Replay 129 dead letters?' }).waitFor();
    await page.keyboard.press('Escape');
    await page.getByRole('button', { name: 'Discard', exact: true }).click();
    await page.getByRole('dialog').getByRole('button', { name: 'Discard 129 dead letters' }).click();
    await page.getByRole('heading', { name: '129 dead letters were discarded.' }).waitFor();
    await page.getByRole('button', { name: 'Close' }).last().click();
    await eventually(async () => expect(await rows(page)).toHaveLength(1));
    await page.goto(console.address('warnings?tab=letters&topic=historical&state=discarded'));
    await page.getByRole('heading', { name: 'No dead letters match your filters' }).waitFor();
    await page.getByRole('button', { name: 'Show all' }).click();
    await page.getByText('no json').waitFor({ state: 'detached' });
    await expectAccessible(page);
    await page.context().close();
  });

  it('console-008: shows that the log is unavailable', async () => {
    const page = await console.open('live');
    await page.route(/dead_letters/, (route) =>
      route.fulfill({ status: 503, json: { detail: 'The event log does not respond.', code: 'log_unavailable' } }),
    );
    await page.goto(console.address('warnings?tab=letters'));
    await page.locator('[data-state=failed]').getByText('The event log does not respond.').waitFor();
    await page.context().close();
  });

  it('console-035: explains to members why they cannot see dead letters', async () => {
    await console.query('UPDATE membership SET level = 1', []);
    try {
      const page = await console.open('warnings?tab=letters');
      await page
        .locator('[data-state=refused]')
        .getByText('Dead letters contain captured data, so only administrators can see them')
        .waitFor();
      await page.context().close();
    } finally {
      await console.query('UPDATE membership SET level = 15', []);
    }
  });

  it('console-042: fits on a phone without horizontal scrolling', async () => {
    const page = await console.open('warnings?tab=letters&state=all', { width: 360, height: 640 });
    await page.locator('[data-row]').first().waitFor();
    expect(await overflow(page)).toBe(0);
    await expectAccessible(page);
    await page.context().close();
  });
});
