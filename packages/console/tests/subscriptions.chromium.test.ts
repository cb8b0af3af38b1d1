import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  await console.query(`UPDATE environment SET timezone = 'Europe/Berlin', name = 'Corner shop' WHERE id = $1`);
});
afterAll(() => console?.stop());

const hook = 'https://hooks.example.com/services/never-for-members';
const make = async (body: object = {}) =>
  (
    await console.api<{ id: number }>('POST', 'subscriptions', {
      ...{ title: 'Sign-ups', target_type: 'email', target_value: 'ada@example.com, grace@example.com' },
      ...{ frequency: 'weekly', byweekday: ['monday'], start_date: '2026-11-02T08:00:00Z' },
      ...body,
    })
  ).id;
interface StoredDelivery {
  status: string;
  error?: string;
  target?: string;
  occasion?: string;
}
const storeDelivery = (id: number, { status, error, target, occasion }: StoredDelivery) =>
  console.query(
    `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target, status, attempts, error, finished_at)
     VALUES ($1, $2, $3, $4, $5, $6, 2, $7, CASE WHEN $6 <> 'pending' THEN now() END)`,
    [
      ...[randomUUID(), id, occasion ?? 'scheduled', '2026-11-23T08:00Z', target ?? `${randomUUID()}@example.com`],
      ...[status, error ?? null],
    ],
  );
const block = (page: Page, name: string) => page.getByRole('region', { name, exact: true });

async function checkPage(page: Page): Promise<void> {
  expect(await runAxeInBothThemes(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
}

it("console-007, console-038: lists recipient types, and describes a new subscription's schedule in words", async () => {
  const page = await console.open('settings/subscriptions');
  await page.getByRole('heading', { name: 'No subscriptions yet' }).waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: /^Slack/ }).click();
  expect(await page.getByRole('radio', { name: 'Slack' }).isChecked()).toBe(true);
  await page.getByRole('radio', { name: 'Email' }).check();
  await page.getByText('Email is not set up on this server.').waitFor();
  await page.goBack();
  await page.getByRole('button', { name: 'New subscription' }).click();
  await page.getByLabel('Title').fill('Sign-ups this week');
  await page.getByLabel('Email addresses', { exact: true }).fill('ada@example.com, not an address');
  await page.getByLabel('First scheduled report', { exact: true }).fill('2026-12-01T09:00');
  await page.getByText('every Monday at 09:00 Europe/Berlin').waitFor();
  await page.getByLabel('Every', { exact: true }).fill('2');
  await page.getByText('every second Monday at 09:00 Europe/Berlin').waitFor();
  await page.getByLabel('Wednesday').check();
  await page.getByText('every second week on Monday and Wednesday at 09:00').waitFor();
  await page.getByLabel('Unit').selectOption('months');
  await page.getByText('every second month on the 1st at 09:00').waitFor();
  await page.getByRole('combobox', { name: /^On/ }).selectOption('the last');
  await page.getByRole('combobox', { name: /^Day/ }).selectOption('Friday');
  await page.getByText('every second month on the last Friday at 09:00').waitFor();
  await checkPage(page);
  await page.getByRole('button', { name: 'Create subscription' }).click();
  const addresses = page.getByLabel('Email addresses', { exact: true });
  await eventually(async () => expect(await addresses.getAttribute('aria-invalid')).toBe('true'));
  await page.getByText('Enter a valid email address.').waitFor();
  expect(await page.getByLabel('Title').inputValue()).toBe('Sign-ups this week');
  await addresses.fill('ada@example.com, grace@example.com');
  await page.getByRole('button', { name: 'Create subscription' }).click();
  await page.getByText('Every second month on the last Friday at 09:00 Europe/Berlin, by email.').waitFor();
  const { results } = await console.api<{ results: object[] }>('GET', 'subscriptions');
  expect(results).toMatchObject([
    {
      ...{ title: 'Sign-ups this week', target_value: 'ada@example.com, grace@example.com', frequency: 'monthly' },
      ...{ interval: 2, byweekday: ['friday'], bysetpos: -1, start_date: '2026-12-01T08:00:00Z' },
    },
  ]);
  await block(page, 'Deliveries').getByRole('row').filter({ hasText: 'grace@example.com' }).waitFor();
  await checkPage(page);
  await page.context().close();
});

it('insight-290: previews the report of an insight subscription, and shows the sent report', async () => {
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'order' }] };
  const { id: insight } = await console.api<{ id: number }>('POST', 'insights', { name: 'Orders', query });
  const page = await console.open(`settings/subscriptions?open=new&insight=${insight}`);
  const about = page.getByLabel('Insight or dashboard');
  await eventually(async () => expect(await about.inputValue()).toBe(`insight ${insight}`));
  await page.getByLabel('Title').fill('Orders <of the week>');
  await page.getByRole('button', { name: 'Preview email' }).click();
  const dialog = page.getByRole('dialog', { name: 'Preview email' });
  await dialog.getByText('Orders <of the week>').waitFor();
  const mail = dialog.frameLocator('iframe');
  await mail.getByRole('heading', { name: 'Orders <of the week>' }).waitFor();
  const picture = mail.getByRole('img', { name: /^Orders, / });
  expect(await picture.evaluate((image) => (image as HTMLImageElement).naturalWidth)).toBe(1280);
  expect(await mail.getByRole('cell', { name: 'order', exact: true }).count()).toBe(1);
  await checkPage(page);
  await page.keyboard.press('Escape');
  await page.getByLabel('Email addresses', { exact: true }).fill('ada@example.com');
  await page.getByRole('button', { name: 'Preview email' }).click();
  await dialog.getByRole('button', { name: 'Create subscription' }).click();
  await block(page, 'Deliveries').getByRole('row').filter({ hasText: 'ada@example.com' }).waitFor();
  const { results } = await console.api<{ results: { id: number; insight: number }[] }>('GET', 'subscriptions');
  const made = results.find((one) => one.insight === insight);
  await console.query(
    `INSERT INTO subscription_report (id, subscription_id, due_at, attempt_at, content)
     SELECT gen_random_uuid(), subscription_id, due_at, now(), $2 FROM subscription_delivery WHERE subscription_id = $1`,
    [made?.id, JSON.stringify({ ...sentContent, insights: [{ ...sentContent.insights[0], id: insight }] })],
  );
  await page.getByRole('button', { name: 'Show the report to ada@example.com' }).click();
  const sent = page.getByRole('dialog', { name: 'Report' }).frameLocator('iframe');
  await sent.getByRole('cell', { name: '4,711', exact: true }).waitFor();
  await page.context().close();
});

it("suggests the user's email address, and keeps the preview's buttons in place while it loads", async () => {
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'order' }] };
  const { id } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Board' });
  const { id: insight } = await console.api<{ id: number }>('POST', 'insights', { name: 'Orders', query });
  await console.api('PATCH', `insights/${insight}`, { dashboards: [id] });
  const me = await console.api<{ email: string }>('GET', '/api/users/@me');
  const page = await console.openSignedIn(`dashboards?dashboard=${id}`);
  await page.getByRole('link', { name: 'Subscribe' }).click();
  const addresses = page.getByLabel('Email addresses', { exact: true });
  await eventually(async () => expect(await addresses.inputValue()).toBe(me.email));
  await page.getByRole('radio', { name: /^Webhook/ }).check();
  expect(await page.getByLabel('URL', { exact: true }).inputValue()).toBe('');
  await page.getByRole('radio', { name: 'Email' }).check();
  let release = () => {};
  const held = new Promise<void>((resolve) => {
    release = resolve;
  });
  await page.route(/subscriptions\/preview/, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Preview email' }).click();
  const dialog = page.getByRole('dialog', { name: 'Preview email' });
  await dialog.getByRole('button', { name: 'Close' }).hover();
  await page.mouse.down();
  release();
  await dialog.frameLocator('iframe').getByRole('heading', { name: 'Board' }).waitFor();
  await page.mouse.up();
  await dialog.waitFor({ state: 'detached' });
  await addresses.fill('');
  await page.getByRole('button', { name: 'Preview email' }).click();
  await dialog.getByRole('button', { name: 'Create subscription' }).click();
  await eventually(async () => expect(await addresses.evaluate((field) => field.matches(':focus'))).toBe(true));
  await page.context().close();
});

it("shows next to the field that a report's insight or dashboard was deleted", async () => {
  const page = await console.open('settings/subscriptions?open=new&dashboard=999999');
  await page.getByRole('button', { name: 'Preview email' }).click();
  await page.getByRole('dialog').getByText('object does not exist').waitFor();
  await page.keyboard.press('Escape');
  await page.getByLabel('Email addresses', { exact: true }).fill('ada@example.com');
  await page.getByRole('button', { name: 'Create subscription' }).click();
  await eventually(async () =>
    expect(await page.getByLabel('Insight or dashboard').getAttribute('aria-invalid')).toBe('true'),
  );
  await page.context().close();
});

const sentContent = {
  ...{ kind: 'insight', name: 'Orders', description: '', due_at: '2026-11-23T08:00:00Z', timezone: 'UTC', total: 1 },
  insights: [
    {
      ...{ short_id: 'abc', name: 'Orders', description: '', query_kind: 'TrendsQuery', error: null, chart: null },
      ...{ date_from: '2026-11-16T00:00:00Z', date_to: '2026-11-22T23:59:59Z' },
      figures: [{ label: 'order', value: 4711, format: { kind: 'number' }, of: 'total', before: null }],
      ...{ table: { columns: [], rows: [] }, left_out: { rows: 0, figures: 0 } },
    },
  ],
};

it.each<[object, string]>([
  [{ frequency: 'daily', byweekday: null }, 'every day at 09:00'],
  [{ frequency: 'daily', byweekday: null, interval: 3 }, 'every third day at 09:00'],
  [{ frequency: 'daily', interval: 3 }, 'every third day, only on Monday at 09:00'],
  [{ frequency: 'daily', byweekday: ['monday', 'friday'] }, 'every Monday and Friday at 09:00'],
  [{ frequency: 'weekly', byweekday: null }, 'every Monday at 09:00'],
  [{ frequency: 'weekly', interval: 2 }, 'every second Monday at 09:00'],
  [{ frequency: 'weekly', interval: 6 }, 'every 6th week on Monday at 09:00'],
  [{ frequency: 'weekly', byweekday: ['monday', 'sunday'] }, 'every Monday and Sunday at 09:00'],
  [{ frequency: 'monthly', byweekday: null }, 'every month on the 2nd at 09:00'],
  [{ frequency: 'monthly', bysetpos: 1 }, 'every month on the first Monday at 09:00'],
  [{ frequency: 'monthly', bysetpos: -2 }, 'every month on the second to last Monday at 09:00'],
  [{ frequency: 'monthly' }, 'every month on every Monday at 09:00'],
  [{ frequency: 'yearly', byweekday: null }, 'every year on 2 November at 09:00'],
  [{ frequency: 'daily', byweekday: null, count: 5 }, 'every day at 09:00 Europe/Berlin, 5 times in total'],
  [{ frequency: 'daily', until_date: '2026-12-24T23:30:00Z' }, 'Europe/Berlin, until 25 Dec 2026'],
])('console-024: describes the schedule %j as "%s"', async (rule, words) => {
  const id = await make(rule);
  const page = await console.open('settings/subscriptions');
  const before = await console.api<object>('GET', `subscriptions/${id}`);
  await page.getByRole('row').filter({ hasText: words }).first().waitFor();
  await page.goto(console.address(`settings/subscriptions?open=${id}&edit=true`));
  // Saving without edits does not change the schedule.
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  expect(await console.api('GET', `subscriptions/${id}`)).toEqual(before);
  await console.query('DELETE FROM subscription WHERE id = $1', [id]);
  await page.context().close();
});

it('lists deliveries with their status and recipient, and gives advice about failures', async () => {
  const id = await make({ title: 'Sent' });
  await console.query('DELETE FROM subscription_delivery WHERE subscription_id = $1', [id]);
  const page = await console.open(`settings/subscriptions?open=${id}`);
  await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor();
  await storeDelivery(id, { status: 'delivered', target: 'ada@example.com' });
  await storeDelivery(id, { status: 'failed', error: 'The mail server rejected the email (550).' });
  await storeDelivery(id, { status: 'pending', error: 'Could not reach the mail server (ETIMEDOUT).' });
  await storeDelivery(id, {
    status: 'failed',
    error: 'The webhook URL responded with 404.',
    occasion: 'target_changed',
  });
  await page.reload();
  const row = (words: string) => block(page, 'Deliveries').getByRole('row').filter({ hasText: words });
  await row('ada@example.com').getByText('sent', { exact: true }).waitFor();
  await row('ada@example.com').getByText('23 Nov 2026, 09:00').waitFor();
  await row('permanently rejected this address').getByText('rejected the email (550)').waitFor();
  await row('did not respond').getByText('retrying', { exact: true }).waitFor();
  await row('The URL no longer exists').getByText('new recipient').waitFor();
  await checkPage(page);
  await page.context().close();
});

it('sends a first report to new recipients, and restores a deleted subscription', async () => {
  const id = await make({ title: 'Growth' });
  const page = await console.open(`settings/subscriptions?open=${id}&edit=true`);
  await page.getByLabel('Email addresses', { exact: true }).fill('ada@example.com, new@example.com');
  await page.getByLabel('Friday').check();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Every Monday and Friday at 09:00').waitFor();
  await block(page, 'Deliveries').getByRole('row').filter({ hasText: 'new@example.com' }).waitFor();
  await page.getByRole('button', { name: 'Delete' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('not even those that are already waiting').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('This subscription is deleted, and no reports are sent.').waitFor();
  await page.getByRole('button', { name: 'All subscriptions' }).click();
  await page.getByRole('button', { name: 'Deleted subscriptions' }).click();
  expect(new URL(page.url()).searchParams.get('deleted')).toBe('true');
  await page.getByRole('button', { name: 'Growth' }).click();
  await page.getByRole('button', { name: 'Restore' }).click();
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  expect(await console.api('GET', `subscriptions/${id}`)).toMatchObject({ deleted: false });
  await page.context().close();
});

it.each([
  ['member', 1, 'https://hooks.example.com/********'],
  ['administrator', 8, hook],
  ['owner', 15, hook],
] as const)(
  'console-033, console-035: allows a %s to edit subscriptions, and shows full URLs only to administrators',
  async (_name, level, shown) => {
    const title = `Hook of level ${level}`;
    const id = await make({ title, target_type: 'webhook', target_value: hook });
    await console.query('UPDATE membership SET level = $1', [level]);
    const page = await console.open('settings/subscriptions');
    await page.getByRole('row').filter({ hasText: title }).getByText(shown, { exact: true }).waitFor();
    expect(await page.getByRole('button', { name: 'New subscription' }).isEnabled()).toBe(true);
    await page.getByRole('button', { name: title }).click();
    await page.getByRole('listitem').getByText(shown, { exact: true }).waitFor();
    expect(await page.getByText('Only administrators can see the full URL.').count()).toBe(level === 1 ? 1 : 0);
    expect(await page.getByRole('button', { name: 'Delete' }).isEnabled()).toBe(true);
    await page.getByRole('button', { name: 'Edit' }).click();
    await page.getByLabel('Title').fill(`${title}, renamed`);
    expect(await page.getByLabel('URL', { exact: true }).inputValue()).toBe(shown);
    await page.getByRole('button', { name: 'Save' }).click();
    await page.getByRole('heading', { name: `${title}, renamed` }).waitFor();
    await console.query('UPDATE membership SET level = 15', []);
    expect(await console.api('GET', `subscriptions/${id}`)).toMatchObject({ target_value: hook });
    await page.context().close();
  },
);

it('console-004 to console-007, console-020, console-039: keeps the open subscription in the URL, works by keyboard', async () => {
  const title = '<img src=x onerror=alert(1)>';
  const id = await make({ title });
  const page = await console.open('settings/subscriptions?nonsense=1');
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  const link = page.getByRole('button', { name: '<img src=x' });
  await link.focus();
  await page.keyboard.press('Enter');
  await page.getByRole('heading', { name: '<img src=x' }).waitFor();
  expect(new URL(page.url()).searchParams.get('open')).toBe(String(id));
  expect(await page.locator('img').count()).toBe(0);
  await page.keyboard.press('Enter');
  await link.waitFor();
  await eventually(async () => expect(await page.evaluate('document.activeElement.textContent')).toBe(title));
  await page.goBack();
  await page.getByRole('button', { name: 'As API call' }).first().click();
  await page.getByRole('dialog').getByText(`/subscriptions/${id}'`).waitFor();
  await page.goto(console.address('settings/subscriptions?open=987654'));
  await page.locator('[data-state=gone]').waitFor();
  for (const [status, state, shown] of [
    [403, 'refused', 'Because of a test.'],
    [402, 'failed', 'Because of a test.'],
  ] as const) {
    await page.route(/\/subscriptions\?/, (route) => route.fulfill({ status, json: { detail: 'Because of a test.' } }));
    await page.goto(console.address('settings/subscriptions'));
    await page.locator(`[data-state=${state}]`).getByText(shown).waitFor();
    await page.unroute(/\/subscriptions\?/);
  }
  await page.context().close();
});
