import { randomUUID } from 'node:crypto';
import { type DestinationField, exportDestinations } from '@millrace/contracts';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { destinationSettings, destinationTypes } from '../src/pages/settings/exports/destinations.ts';
import { type ExportSchedule, findLastInterval } from '../src/pages/settings/exports/schedule.ts';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  await console.query(`UPDATE environment SET timezone = 'Europe/Berlin' WHERE id = $1`);
});
afterAll(() => console?.stop());

const secret = 'never-to-be-seen-again';
const postgres = {
  type: 'Postgres',
  config: { host: 'warehouse.example.com', database: 'analytics', user: secret, password: secret },
};
const make = async (body: object = {}) =>
  (
    await console.api<{ id: string }>('POST', 'batch_exports', {
      ...{ name: 'Warehouse', destination: postgres, interval: 'hour' },
      ...body,
    })
  ).id;
interface StoredRun {
  status?: string;
  error?: string;
  rows?: number;
  bytes?: number;
}
/** Stores a run that a user started a minute ago, for the interval from 09:00 to 10:00 in Berlin. */
const storeRun = async (exportId: string, { status = 'Completed', error, rows, bytes }: StoredRun = {}) => {
  const id = randomUUID();
  await console.query(
    `INSERT INTO batch_export_run (id, batch_export_id, data_interval_start, data_interval_end, status, records_completed,
                                   bytes_exported, latest_error, created_at, finished_at)
     VALUES ($1, $2, '2026-11-10T08:00Z', '2026-11-10T09:00Z', $3, $4, $5, $6, now() - interval '1 minute',
             CASE WHEN $3 IN ('Completed', 'Failed') THEN now() END)`,
    [id, exportId, status, rows ?? null, bytes ?? null, error ?? null],
  );
  return id;
};
const block = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const field = (page: Page, name: string) => page.getByLabel(name, { exact: true });
const dialogOf = (page: Page) => page.getByRole('dialog');

async function checkPage(page: Page): Promise<void> {
  expect(await runAxeInBothThemes(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
}

it.each(destinationTypes)('has a form field for every setting of %s, and marks required and secret fields', (type) => {
  const asked = destinationSettings[type].map(({ name, kind, isRequired }) => [
    ...[name, isRequired ?? false, kind === 'secret', typeof kind === 'object' ? kind : null],
  ]);
  const fields: Record<string, DestinationField> = exportDestinations[type];
  const known = Object.entries(fields)
    .filter(([name]) => name !== 'file_format')
    .map(([name, field]) => [
      ...[name, name !== 'prefix' && (field.isRequired ?? false), field.isSecret ?? false, field.choices ?? null],
    ]);
  expect(new Map(asked.map((line) => [line[0], line]))).toEqual(new Map(known.map((line) => [line[0], line])));
});

it('console-007, console-038: creates an export, shows an error next to its field, and never shows secrets', async () => {
  const page = await console.open('settings/exports');
  await page.getByRole('heading', { name: 'No exports yet' }).waitFor();
  await page.getByText('You need a bucket, its region, and an access key').waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: /^PostgreSQL/ }).click();
  expect(await page.getByRole('radio', { name: 'PostgreSQL' }).isChecked()).toBe(true);
  await page.goBack();
  await page.getByRole('button', { name: 'New export' }).click();
  expect(new URL(page.url()).searchParams.get('open')).toBe('new');
  await page.getByLabel('Name').fill('Shop data warehouse');
  await page.getByLabel(/^Interval/).selectOption('every day');
  await page.getByRole('radio', { name: 'PostgreSQL' }).check();
  await field(page, 'Host').fill('warehouse.example.com');
  await field(page, 'Port').fill('70000');
  await field(page, 'User').fill('millrace');
  await field(page, 'Password').fill(secret);
  await field(page, 'Database').fill('analytics');
  await page.getByText('More settings').click();
  await page.getByLabel('Exclude these events').fill('$pageleave\n\nheartbeat\n');
  await checkPage(page);
  await page.getByRole('button', { name: 'Create export' }).click();
  const port = field(page, 'Port');
  await eventually(async () => expect(await port.getAttribute('aria-invalid')).toBe('true'));
  await page.getByText("'port' must be between 1 and 65535.").waitFor();
  expect(await field(page, 'Password').inputValue()).toBe(secret);
  await port.fill('5433');
  await page.getByRole('button', { name: 'Create export' }).click();
  await page
    .getByText('Events to PostgreSQL: table events in database analytics on warehouse.example.com, every day.')
    .waitFor();
  await page.getByText('waiting for first run').waitFor();
  await page.getByText('All settings').click();
  await page.getByText('$pageleave, heartbeat').waitFor();
  expect(await page.content()).not.toContain(secret);
  await checkPage(page);
  await page.context().close();
});

it("saves an export's filters, time zone and offsets, and shows API errors next to their fields", async () => {
  await console.query(
    'INSERT INTO event_definition (project_id, name, last_seen_at) VALUES ($1, $2, now()), ($1, $3, now())',
    [console.tenant.environmentId, 'order', 'refund'],
  );
  const page = await console.open('settings/exports?open=new');
  await page.getByLabel('Name').fill('Orders');
  await page.getByRole('radio', { name: 'PostgreSQL' }).check();
  await field(page, 'Host').fill('warehouse.example.com');
  await field(page, 'User').fill('millrace');
  await field(page, 'Password').fill(secret);
  await field(page, 'Database').fill('analytics');
  const create = page.getByRole('button', { name: 'Create export' });
  const filters = page.getByRole('group', { name: 'Filters', exact: true });
  const values = filters.getByLabel('Values: Add a value');

  await filters.getByRole('button', { name: 'Add filter' }).click();
  await filters.getByLabel('Property type').selectOption('Event name');
  await values.fill('ord');
  await filters.locator('option[value=order]').waitFor({ state: 'attached' });
  await values.fill('order');
  await filters.getByText('Finish adding the filter, or cancel it, before you save.').waitFor();
  expect(await create.isDisabled()).toBe(true);
  await checkPage(page);
  await filters.getByRole('button', { name: 'Add filter' }).click();
  await filters.getByRole('button', { name: 'Event name is order', exact: true }).waitFor();
  await filters.getByRole('button', { name: 'Add filter' }).click();
  await filters.getByLabel('Property', { exact: true }).fill('plan');
  await filters.getByLabel('Operator').selectOption('matches regex');
  await filters.getByLabel('Value', { exact: true }).fill('(');
  await page.keyboard.press('Enter');
  await filters.getByRole('button', { name: 'plan matches regex (', exact: true }).waitFor();

  await page.getByLabel(/^Interval/).selectOption('every week');
  await page.getByLabel('Week starts on').selectOption('Sunday');
  await page.getByLabel('Starts at').selectOption('06:00');
  expect(await field(page, 'Time zone').inputValue()).toBe('Europe/Berlin');
  await field(page, 'Time zone').fill('Atlantis/Poseidonis');
  await create.click();
  await eventually(async () => expect(await field(page, 'Time zone').getAttribute('aria-invalid')).toBe('true'));
  await page.getByText('is not a known time zone').waitFor();
  await field(page, 'Time zone').fill('America/New_York');
  await create.click();
  await filters.getByRole('alert').getByText('filters.1.value').waitFor();
  await checkPage(page);
  await filters.getByRole('button', { name: 'plan matches regex (', exact: true }).click();
  await filters.getByLabel('Value', { exact: true }).fill('^pro');
  await filters.getByRole('button', { name: 'Change filter' }).click();
  await create.click();

  await page.getByText('Exports only events that match all of these filters:').waitFor();
  await page.getByRole('listitem').getByText('Event name is order', { exact: true }).waitFor();
  await page.getByText('All settings').click();
  await page.getByText('Sunday, 06:00 America/New_York').waitFor();
  await checkPage(page);
  const id = new URL(page.url()).searchParams.get('open');
  const stored = () => console.api('GET', `batch_exports/${id}`);
  expect(await stored()).toMatchObject({
    filters: [
      { type: 'event_metadata', key: 'event', operator: 'exact', value: ['order'] },
      { type: 'event', key: 'plan', operator: 'regex', value: '^pro' },
    ],
    ...{ interval: 'week', timezone: 'America/New_York', offset_day: 0, offset_hour: 6 },
  });

  await page.getByRole('button', { name: 'Edit' }).click();
  await filters.getByRole('button', { name: 'Remove Event name is order' }).click();
  await page.getByLabel(/^Interval/).selectOption('every day');
  await page.getByLabel('Starts at').selectOption('00:00');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('listitem').getByText('plan matches regex ^pro', { exact: true }).waitFor();
  expect(await stored()).toMatchObject({
    filters: [{ type: 'event', key: 'plan', operator: 'regex', value: '^pro' }],
    ...{ interval: 'day', timezone: 'America/New_York', offset_day: null, offset_hour: 0 },
  });

  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('radio', { name: 'Persons' }).check();
  expect(await filters.count()).toBe(0);
  await page.getByLabel(/^Interval/).selectOption('every hour');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Persons to PostgreSQL').waitFor();
  expect(await stored()).toMatchObject({
    ...{ model: 'persons', filters: null, interval: 'hour' },
    ...{ timezone: 'America/New_York', offset_day: null, offset_hour: null },
  });
  await page.context().close();
});

it.each<{ schedule: Partial<ExportSchedule>; now: string; last: [string, string] }>([
  { schedule: { interval: 'hour' }, now: '2026-11-21T05:59Z', last: ['2026-11-21T04:00Z', '2026-11-21T05:00Z'] },
  { schedule: { interval: 'day' }, now: '2026-11-21T03:00Z', last: ['2026-11-20T00:00Z', '2026-11-21T00:00Z'] },
  {
    schedule: { interval: 'day', timezone: 'America/New_York' },
    ...{ now: '2026-11-02T12:00Z', last: ['2026-11-01T04:00Z', '2026-11-02T05:00Z'] },
  },
  {
    schedule: { interval: 'day', offset_hour: 6 },
    ...{ now: '2026-11-21T05:59Z', last: ['2026-11-19T06:00Z', '2026-11-20T06:00Z'] },
  },
  { schedule: { interval: 'week' }, now: '2026-11-21T03:00Z', last: ['2026-11-09T00:00Z', '2026-11-16T00:00Z'] },
  {
    schedule: { interval: 'week', offset_day: 0, offset_hour: 6 },
    ...{ now: '2026-11-22T06:00Z', last: ['2026-11-15T06:00Z', '2026-11-22T06:00Z'] },
  },
])('finds the last completed interval: $schedule at $now', ({ schedule, now, last }) => {
  const all: ExportSchedule = { interval: 'day', timezone: 'UTC', offset_day: null, offset_hour: null, ...schedule };
  const { start, end } = findLastInterval(all, new Date(now));
  expect([start, end].map((time) => time.replace(':00.000Z', 'Z'))).toEqual(last);
});

it("console-033: keeps an edited export's secrets, and requires them again if the server changes", async () => {
  const id = await make({ name: 'Kept', destination: { ...postgres, config: { ...postgres.config, schema: 'own' } } });
  const page = await console.open(`settings/exports?open=${id}`);
  const stored = async () =>
    (await console.query('SELECT destination_config, destination_secrets, name FROM batch_export WHERE id = $1', [
      id,
    ])) as { rows: { destination_config: object; destination_secrets: object; name: string }[] };
  const before = (await stored()).rows[0];
  await page.getByRole('button', { name: 'Edit' }).click();
  expect(await field(page, 'Password').inputValue()).toBe('');
  expect(await field(page, 'Schema').inputValue()).toBe('own');
  await field(page, 'Schema').fill('');
  await field(page, 'Table').fill('shop_events');
  await field(page, 'Host').fill('elsewhere.example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect(await field(page, 'Host').getAttribute('aria-invalid')).toBe('true'));
  await page.getByText('Otherwise the stored secrets would be sent to a different server.').waitFor();
  await field(page, 'Host').fill('warehouse.example.com');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('table shop_events in database analytics').waitFor();
  const after = (await stored()).rows[0];
  expect(after?.destination_config).toEqual({
    ...{ host: 'warehouse.example.com', database: 'analytics', table_name: 'shop_events' },
  });
  expect(after?.destination_secrets).toEqual(before?.destination_secrets);
  await page.getByRole('button', { name: 'Delete' }).click();
  await dialogOf(page).getByText('Data that was already exported stays at the destination.').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await dialogOf(page).getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('button', { name: 'Kept' }).waitFor({ state: 'detached' });
  await page.goto(console.address(`settings/exports?open=${id}`));
  await page.locator('[data-state=gone]').waitFor();
  await page.context().close();
});

it("console-037: shows a failed run's error with advice, and retries the run", async () => {
  const id = await make({ name: 'Failing' });
  await storeRun(id, { status: 'Failed', error: 'The destination database failed: 28P01 (wrong user or password).' });
  await storeRun(id, { rows: 12_345, bytes: 4_560_000 });
  await storeRun(id, { rows: 0, bytes: 0 });
  await storeRun(id, { status: 'Failed', error: 'The object storage failed: SomethingNew (418).' });
  const open = await storeRun(id, { status: 'FailedRetryable', error: 'The object storage failed: ENOTFOUND.' });
  const page = await console.open(`settings/exports?open=${id}`);
  const row = (words: string) => block(page, 'Runs').getByRole('row').filter({ hasText: words });
  await row('rejected the user or the password').getByText('28P01 (wrong user or password)').waitFor();
  await row('The destination returned the error below.').getByText('SomethingNew (418)').waitFor();
  await row('12,345').getByText('4.6 MB').waitFor();
  await row('12,345').getByText('10 Nov 2026, 09:00–10:00').waitFor();
  await row('nothing to export').waitFor();
  await checkPage(page);
  await row('28P01').getByRole('button', { name: 'Retry: 10 Nov' }).click();
  await page.getByText('The interval will be exported again as a backfill').waitFor();
  await block(page, 'Backfills').getByRole('row').filter({ hasText: '10 Nov 2026, 09:00–10:00' }).waitFor();
  await row('host name could not be found').getByRole('button', { name: 'Cancel' }).click();
  await dialogOf(page).getByRole('button', { name: 'Cancel run' }).click();
  await row('cancelled').waitFor();
  expect((await console.api<{ status: string }>('GET', `batch_exports/${id}/runs/${open}`)).status).toBe('Cancelled');
  await page.getByRole('button', { name: 'Last 7 days' }).click();
  await page.getByRole('menuitem', { name: 'Last 24 hours' }).click();
  expect(new URL(page.url()).searchParams.get('after')).toBe('-24h');
  await page.reload();
  await row('12,345').waitFor();
  await page.context().close();
});

it("console-037, console-024: previews a backfill's runs and time range in the project time zone", async () => {
  const id = await make({ name: 'Past', interval: 'day' });
  const page = await console.open(`settings/exports?open=${id}`);
  await page.getByRole('button', { name: 'Start backfill' }).click();
  await dialogOf(page).getByLabel('From').fill('2026-10-24T00:00');
  await dialogOf(page).getByLabel('To').fill('2026-10-27T12:00');
  await dialogOf(page).getByText('4 runs, one for each day').waitFor();
  await dialogOf(page)
    .getByText(
      'The first run covers 24 Oct 2026, 00:00 – 25 Oct 2026, 00:00, and the last run covers 27 Oct 2026, 00:00–12:00.',
    )
    .waitFor();
  await checkPage(page);
  await dialogOf(page).getByLabel('From').fill('2026-10-28T00:00');
  await dialogOf(page).getByText("'start_at' happens after 'end_at'").waitFor();
  expect(await dialogOf(page).getByRole('button', { name: 'Start' }).isDisabled()).toBe(true);
  await dialogOf(page).getByLabel('From').fill('2026-10-25T00:00');
  await dialogOf(page).getByRole('button', { name: 'Start 3 runs' }).click();
  await dialogOf(page).getByText('3 runs started').waitFor();
  await dialogOf(page).getByRole('button', { name: 'Close' }).click();
  const row = block(page, 'Backfills').getByRole('row').filter({ hasText: '25 Oct 2026, 00:00 – 27 Oct 2026, 12:00' });
  await row.getByText('running').waitFor();
  const { results } = await console.api<{ results: object[] }>('GET', `batch_exports/${id}/backfills`);
  expect(results).toMatchObject([{ start_at: '2026-10-24T22:00:00Z', end_at: '2026-10-27T11:00:00Z' }]);
  await row.getByRole('button', { name: 'Cancel the backfill' }).click();
  await dialogOf(page).getByRole('button', { name: 'Cancel backfill' }).click();
  await row.getByText('cancelled').waitFor();
  await page.getByRole('button', { name: 'Test run' }).click();
  await dialogOf(page).getByText('Runs the export once for the last full day').waitFor();
  await dialogOf(page).getByText('1 run', { exact: true }).waitFor();
  await dialogOf(page).getByRole('button', { name: 'Start 1 run' }).click();
  await dialogOf(page).getByText('Run started.').waitFor();
  await page.context().close();
});

it('shows since when an export is paused, and offers to backfill the missed intervals on resume', async () => {
  const id = await make({ name: 'Resting' });
  const page = await console.open(`settings/exports?open=${id}`);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Nothing is exported until you resume the export.').waitFor();
  await checkPage(page);
  // A pause that is shorter than an interval does not miss any interval.
  await console.query(
    `UPDATE batch_export SET next_interval_start = next_interval_start - interval '3 days' WHERE id = $1`,
    [id],
  );
  await page.getByRole('button', { name: 'Resume' }).click();
  expect(await dialogOf(page).getByLabel('Also export the data missed since').isChecked()).toBe(true);
  expect(await runAxe(page)).toEqual([]);
  await dialogOf(page).getByRole('button', { name: 'Resume' }).click();
  await page.getByRole('button', { name: 'Pause' }).waitFor();
  const { count } = await console.api<{ count: number }>('GET', `batch_exports/${id}/backfills`);
  expect(count).toBe(1);
  await page.context().close();
});

it.each([
  ['member', 1],
  ['administrator', 8],
  ['owner', 15],
] as const)('console-035: allows a %s to create, change, pause, test and delete exports', async (_name, level) => {
  const id = await make({ name: `Of level ${level}` });
  await storeRun(id, { status: 'Failed', error: 'The object storage failed: NoSuchBucket (404).' });
  await console.query('UPDATE membership SET level = $1', [level]);
  const page = await console.open('settings/exports');
  await page.getByRole('button', { name: `Of level ${level}` }).waitFor();
  const may = async (names: string[]) => {
    const are = names.map((name) => page.getByRole('button', { name, exact: true }).first().isEnabled());
    expect(await Promise.all(are)).toEqual(names.map(() => true));
  };
  await may(['New export', 'View as API call']);
  await page.getByRole('button', { name: `Of level ${level}` }).click();
  await page.getByRole('button', { name: 'Retry' }).waitFor();
  await may(['Pause', 'Edit', 'Delete', 'Test run', 'Start backfill', 'Retry: 10 Nov 2026, 09:00–10:00']);
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('Nothing is exported until you resume the export.').waitFor();
  await console.query('UPDATE membership SET level = 15', []);
  await page.context().close();
});

it('console-004 to console-007, console-020, console-039: keeps the open export in the URL, and works by keyboard', async () => {
  const name = '<img src=x onerror=alert(1)>\u202e';
  const id = await make({ name });
  const page = await console.open('settings/exports?nonsense=1');
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  const link = page.getByRole('button', { name: '<img src=x' });
  await link.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: '<img src=x' }).waitFor();
  expect(new URL(page.url()).searchParams.get('open')).toBe(id);
  expect(await page.locator('img').count()).toBe(0);
  await page.keyboard.press('Enter');
  await link.waitFor();
  await eventually(async () => expect(await page.evaluate('document.activeElement.textContent')).toBe(name));
  await page.goBack();
  await page.getByRole('heading', { name: '<img src=x' }).waitFor();
  await page.getByRole('button', { name: 'As API call' }).first().click();
  await dialogOf(page).getByText(`/batch_exports/${id}'`).waitFor();
  await page.keyboard.press('Escape');
  for (const [status, state, shown] of [
    [403, 'refused', 'Because of a test.'],
    [500, 'failed', 'Exports could not be loaded'],
  ] as const) {
    await page.route(/\/batch_exports\?/, (route) => route.fulfill({ status, json: { detail: 'Because of a test.' } }));
    await page.goto(console.address('settings/exports'));
    await page.locator(`[data-state=${state}]`).getByText(shown).waitFor();
    await page.unroute(/\/batch_exports\?/);
  }
  await page.context().close();
});
