import type { Page } from 'playwright-core';
import { type RunningConsole, runAxeInBothThemes, startConsole } from './start-console.ts';

/**
 * Tests a subscription's options: which dashboard insights it sends, pausing, test reports, and the end of the month.
 */
let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  await console.query(`UPDATE environment SET timezone = 'Europe/Berlin' WHERE id = $1`);
});
afterAll(() => console?.stop());

async function checkPage(page: Page): Promise<void> {
  expect(await runAxeInBothThemes(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
}

it('offers dashboards for a subscription, and sends only the selected insights', async () => {
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'order' }] };
  const { id: dashboard } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Shop figures' });
  const names = ['Orders', 'Refunds', 'Visits', 'Carts', 'Searches', 'Sign-ups', 'Returns'];
  const insights: number[] = [];
  for (const name of names) {
    const body = { name, query, dashboards: [dashboard] };
    insights.push((await console.api<{ id: number }>('POST', 'insights', body)).id);
  }
  const page = await console.open('settings/subscriptions?open=new');
  const about = page.getByLabel('Insight or dashboard');
  await about.locator('option', { hasText: 'Shop figures' }).waitFor({ state: 'attached' });
  await about.selectOption('Shop figures');
  await page.getByLabel('Title').fill('Figures');
  await page.getByLabel('Email addresses', { exact: true }).fill('ada@example.com');
  await page.getByLabel('Also send a report now').uncheck();
  const chosen = page.getByRole('group', { name: 'Insights in the report' });
  for (const name of names) await chosen.getByLabel(name, { exact: true }).check();
  const create = page.getByRole('button', { name: 'Create subscription' });
  await create.click();
  await chosen.getByRole('alert').getByText('6').waitFor();
  await checkPage(page);
  for (const name of names.slice(2)) await chosen.getByLabel(name, { exact: true }).uncheck();
  await page.getByRole('button', { name: 'Preview email' }).click();
  const mail = page.getByRole('dialog').frameLocator('iframe');
  await mail.getByRole('img', { name: /^Refunds/ }).waitFor();
  expect(await mail.getByRole('img').count()).toBe(2);
  await page.keyboard.press('Escape');
  await create.click();
  await page.getByText('Insights in the report: Orders, Refunds').waitFor();
  await page.getByRole('heading', { name: 'No deliveries yet' }).waitFor();
  await checkPage(page);
  const id = Number(new URL(page.url()).searchParams.get('open'));
  expect(await console.api('GET', `subscriptions/${id}`)).toMatchObject({
    ...{ dashboard, insight: null, dashboard_export_insights: insights.slice(0, 2), enabled: true },
  });

  // Users can deselect an insight that was removed from the dashboard.
  await console.api('PATCH', `insights/${insights[0]}`, { dashboards: [] });
  await page.reload();
  await page.getByRole('button', { name: 'Edit' }).click();
  await chosen.getByLabel(`Insight ${insights[0]}`).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('Insights in the report: Refunds').waitFor();
  expect(await console.api('GET', `subscriptions/${id}`)).toMatchObject({
    dashboard_export_insights: insights.slice(1, 2),
  });
  await page.getByRole('button', { name: 'Edit' }).click();
  await about.selectOption('Project only (title and link)');
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('button', { name: 'Edit' }).waitFor();
  expect(await console.api('GET', `subscriptions/${id}`)).toMatchObject({
    ...{ dashboard: null, dashboard_export_insights: [] },
  });
  await page.context().close();
});

it('shows in the subscription form why dashboards cannot be loaded', async () => {
  const page = await console.open('settings/subscriptions');
  await page.route(/\/dashboards\?/, (route) => route.fulfill({ status: 403, json: { detail: 'Because of a test.' } }));
  await page.getByRole('button', { name: 'New subscription' }).click();
  await page.getByRole('alert').getByText('The list could not be loaded. Because of a test.').waitFor();
  await page.context().close();
});

it('pauses and resumes a subscription, and sends a test report', async () => {
  const { id } = await console.api<{ id: number }>('POST', 'subscriptions', {
    ...{ title: 'Pausable', target_type: 'email', target_value: 'ada@example.com, grace@example.com' },
    ...{ frequency: 'weekly', byweekday: ['monday'], start_date: '2026-11-02T08:00:00Z' },
  });
  await console.query('DELETE FROM subscription_delivery WHERE subscription_id = $1', [id]);
  const enabled = async () => (await console.api<{ enabled: boolean }>('GET', `subscriptions/${id}`)).enabled;
  const page = await console.open(`settings/subscriptions?open=${id}`);
  await page.getByRole('button', { name: 'Send a test report now' }).click();
  await page.getByText('A test report is on its way to every recipient.').waitFor();
  const sent = page.getByRole('region', { name: 'Deliveries' }).getByRole('row');
  await sent.filter({ hasText: 'grace@example.com' }).getByText('test report').waitFor();
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByText('No reports are sent until you resume this subscription.').waitFor();
  expect(await enabled()).toBe(false);
  await checkPage(page);
  await page.getByRole('button', { name: 'Edit' }).click();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByText('No reports are sent until you resume this subscription.').waitFor();
  await page.getByRole('button', { name: 'All subscriptions' }).click();
  await page.getByRole('row').filter({ hasText: 'Pausable' }).getByText('paused').waitFor();
  await page.getByRole('button', { name: 'Pausable' }).click();
  await page.getByRole('button', { name: 'Resume' }).click();
  await page.getByText('The next report is due').waitFor();
  expect(await enabled()).toBe(true);
  await page.route(/\/subscriptions\/\d+$/, (route) =>
    route.fulfill({ status: 403, json: { detail: 'Because of a test.' } }),
  );
  await page.getByRole('button', { name: 'Pause' }).click();
  await page.getByRole('alert').getByText('Because of a test.').waitFor();
  await page.context().close();
});

it('offers the last day of the month if some months do not have the chosen day', async () => {
  const page = await console.open('settings/subscriptions?open=new');
  await page.getByLabel('Title').fill('End of the month');
  await page.getByLabel('Email addresses', { exact: true }).fill('ada@example.com');
  const first = page.getByLabel('First scheduled report', { exact: true });
  await first.fill('2026-12-28T09:00');
  await page.getByLabel('Unit').selectOption('months');
  const skipped = page.getByText('Months without day 31 are skipped.');
  expect(await skipped.count()).toBe(0);
  await first.fill('2026-12-31T09:00');
  await skipped.waitFor();
  await checkPage(page);
  await page.getByRole('combobox', { name: /^On/ }).selectOption('the last day of the month');
  await skipped.waitFor({ state: 'detached' });
  await page.getByText('every month on the last day at 09:00 Europe/Berlin').waitFor();
  expect(await page.getByRole('combobox', { name: /^Day/ }).count()).toBe(0);
  await page.getByRole('button', { name: 'Create subscription' }).click();
  await page.getByRole('button', { name: 'Edit' }).click();
  const position = page.getByRole('combobox', { name: /^On/ });
  expect(await position.locator('option:checked').textContent()).toBe('the last day of the month');
  const id = new URL(page.url()).searchParams.get('open');
  expect(await console.api('GET', `subscriptions/${id}`)).toMatchObject({
    ...{ frequency: 'monthly', bysetpos: -1, start_date: '2026-12-31T08:00:00Z' },
    byweekday: ['monday', 'tuesday', 'wednesday', 'thursday', 'friday', 'saturday', 'sunday'],
  });
  await page.getByLabel('Unit').selectOption('years');
  expect(await position.locator('option', { hasText: 'the last day of the month' }).count()).toBe(0);
  await page.context().close();
});

it('links a subscription to its dashboard by name, and warns that email is not set up', async () => {
  const { id: dashboard } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Daily figures' });
  const { id } = await console.api<{ id: number }>('POST', 'subscriptions', {
    ...{ dashboard, target_type: 'email', target_value: 'ada@example.com' },
    ...{ frequency: 'daily', start_date: '2026-11-02T08:00:00Z' },
  });
  const page = await console.open('settings/subscriptions');
  await page.getByRole('button', { name: 'Daily figures' }).waitFor();
  await page.goto(console.address(`settings/subscriptions?open=${id}`));
  await page.getByRole('heading', { name: 'Daily figures' }).waitFor();
  await page.getByText('Email is not set up on this server.').waitFor();
  await checkPage(page);
  await page.getByRole('link', { name: 'Daily figures' }).click();
  await page.getByRole('heading', { name: 'Daily figures' }).first().waitFor();
  expect(new URL(page.url()).searchParams.get('dashboard')).toBe(String(dashboard));
  await page.context().close();
});
