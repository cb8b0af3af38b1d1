import { eventually } from '@millrace/testing';
import type { Locator, Page } from 'playwright-core';
import { effects } from '../src/pages/settings/data/effects/words.ts';
import { text as settingWords } from '../src/pages/settings/data/words.ts';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

const block = (page: Page, name: string) => page.getByRole('region', { name, exact: true });
const save = async (form: Locator) => {
  await form.getByRole('button', { name: 'Save' }).click();
  await form.getByText('Saved.').waitFor();
};

async function checkPage(page: Page): Promise<void> {
  expect(await runAxeInBothThemes(page)).toEqual([]);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
}

const organizationId = async () => (await console.api<{ organization: string }>('GET', '')).organization;

const setLevel = (level: number) =>
  console.query(
    `UPDATE membership SET level = $1 WHERE user_id =
       (SELECT user_id FROM personal_api_key ORDER BY created_at LIMIT 1)`,
    [level],
  );

it('describes settings with an effect, saves only changed settings, and shows errors next to their fields', async () => {
  const page = await console.open('settings/data');
  const time = block(page, 'Time');
  const zone = time.getByLabel('Time zone');
  await zone.waitFor();
  for (const name of ['timezone', 'anonymize_ips', 'slack_incoming_webhook'] as const)
    await page
      .getByText(effects[name].effect.split('`')[0] ?? '')
      .first()
      .waitFor();
  await checkPage(page);
  expect(await time.getByRole('button', { name: 'Save' }).isDisabled()).toBe(true);
  await zone.fill('Atlantis/Poseidonis');
  await time.getByRole('button', { name: 'Save' }).click();
  await eventually(async () => expect(await zone.getAttribute('aria-invalid')).toBe('true'));
  await time.getByText('is not a valid choice').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await zone.fill('Europe/Berlin');
  await save(time);
  await page.getByRole('button', { name: 'Switch project' }).getByText('Europe/Berlin').waitFor();

  // Another user changes a setting in the same group in the meantime.
  const privacy = block(page, 'Privacy');
  await privacy.getByLabel('Discard client IP data').check();
  await console.query('UPDATE environment SET cookieless_server_hash_mode = 1 WHERE id = $1');
  await privacy.getByRole('button', { name: 'As API call' }).click();
  await page.getByRole('dialog').getByText('{"anonymize_ips":true}').waitFor();
  await page.keyboard.press('Escape');
  await save(privacy);
  expect(await privacy.getByLabel('Cookieless tracking').isChecked()).toBe(true);

  const capture = block(page, 'Autocapture');
  expect(await capture.getByLabel('Clicks, inputs and forms').isChecked()).toBe(true);
  await capture.getByLabel('Clicks, inputs and forms').uncheck();
  await capture.getByLabel('Web vitals').check();
  await capture.getByLabel('FCP').uncheck();
  await save(capture);
  const { rows } = (await console.query(
    `SELECT timezone, anonymize_ips, cookieless_server_hash_mode, autocapture_opt_out, autocapture_web_vitals_opt_in,
            autocapture_web_vitals_allowed_metrics FROM environment WHERE id = $1`,
  )) as { rows: unknown[] };
  expect(rows).toEqual([
    {
      timezone: 'Europe/Berlin',
      anonymize_ips: true,
      cookieless_server_hash_mode: 1,
      autocapture_opt_out: true,
      autocapture_web_vitals_opt_in: true,
      autocapture_web_vitals_allowed_metrics: ['CLS', 'INP', 'LCP'],
    },
  ]);
  await page.getByText('Show 3').click();
  await page.getByRole('row').filter({ hasText: 'session_recording_opt_in' }).waitFor();
  await checkPage(page);
  await page.context().close();
});

it('saves insight and dashboard settings, and shows a rejected filter next to its field', async () => {
  const { id: dashboard } = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Shop figures' });
  await console.query('UPDATE environment SET test_account_filters = $2 WHERE id = $1', [
    ...[console.tenant.environmentId, JSON.stringify([{ key: 'email', value: '@example.com', type: 'person' }])],
  ]);
  const page = await console.open('settings/data');
  const time = block(page, 'Time');
  const week = time.getByLabel('Week starts on');
  expect(await week.locator('option:checked').textContent()).toBe('Sunday');
  await week.selectOption('Monday');
  await save(time);

  const insights = block(page, 'Insights and dashboards');
  const saveButton = insights.getByRole('button', { name: 'Save' });
  await insights.getByRole('button', { name: 'person · email is @example.com', exact: true }).click();
  await insights.getByLabel('Operator').selectOption('does not contain');
  await insights.getByText('Finish adding the filter, or cancel it, before you save.').waitFor();
  await checkPage(page);
  await insights.getByRole('button', { name: 'Change filter' }).click();
  await insights.getByRole('button', { name: 'Add filter' }).click();
  await insights.getByLabel('Property', { exact: true }).fill('$host');
  await insights.getByLabel('Operator').selectOption('matches regex');
  await insights.getByLabel('Value', { exact: true }).fill('(');
  expect(await saveButton.isDisabled()).toBe(true);
  await insights.getByRole('button', { name: 'Add filter' }).click();
  await insights.getByLabel('Human friendly comparison periods').check();
  await insights.getByLabel('Primary dashboard').selectOption('Shop figures');
  await saveButton.click();
  await insights.getByRole('alert').getByText('test_account_filters.1.value').waitFor();
  await checkPage(page);
  await insights.getByRole('button', { name: 'Remove Host matches regex (' }).click();
  await save(insights);
  expect(await console.api('GET', `/api/environments/${console.tenant.environmentId}`)).toMatchObject({
    ...{ week_start_day: 1, human_friendly_comparison_periods: true, primary_dashboard: dashboard },
    test_account_filters: [{ key: 'email', value: '@example.com', type: 'person', operator: 'not_icontains' }],
  });

  await page.getByRole('link', { name: 'Dashboards' }).click();
  await page.getByRole('row').filter({ hasText: 'Shop figures' }).getByText('Primary', { exact: true }).waitFor();
  await page.goBack();
  await insights.getByRole('button', { name: 'Remove person · email does not contain' }).click();
  await insights.getByLabel('Primary dashboard').selectOption('No primary dashboard');
  await save(insights);
  expect(await console.api('GET', `/api/environments/${console.tenant.environmentId}`)).toMatchObject({
    ...{ primary_dashboard: null, test_account_filters: [] },
  });
  await page.context().close();
});

it('has a form control for every setting with an effect, except for the listed exceptions', () => {
  const elsewhere = [
    // The form does not contain this setting, because it is chosen when a project is created.
    'is_demo',
    // This setting is only available through the API. It is an object that PostHog does not document, and only one of
    // its keys has an effect.
    'modifiers',
  ];
  const { labels } = settingWords;
  const acting = Object.entries(effects).filter(([, { does }]) => does === 'acts');
  expect(acting.map(([name]) => name).filter((name) => !(name in labels))).toEqual(elsewhere);
});

it('requires confirmation of a shorter retention period, and shows before which date events are deleted', async () => {
  const page = await console.open('settings/data');
  const retention = block(page, 'Event retention');
  await retention.getByLabel('Keep events for a number of days').check();
  await retention.getByLabel('Days', { exact: true }).fill('30');
  await retention.getByRole('button', { name: 'Save' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Delete events older than 30 days?').waitFor();
  await dialog.getByText('will be permanently deleted within minutes').waitFor();
  expect(await runAxe(page)).toEqual([]);
  expect(await console.api('GET', 'event_retention')).toEqual({ event_retention_days: null });
  await dialog.getByRole('button', { name: 'Delete older events' }).click();
  await retention.getByText('Saved.').waitFor();
  expect(await console.api('GET', 'event_retention')).toEqual({ event_retention_days: 30 });
  await retention.getByLabel('Use the installation’s limit').check();
  await save(retention);
  expect(await console.api('GET', 'event_retention')).toEqual({ event_retention_days: null });
  await page.context().close();
});

it('console-033: replaces the project key after a warning, and shows the secret key once', async () => {
  const page = await console.open('settings/project');
  const key = block(page, 'Project API key');
  const value = key.locator('code');
  const before = await value.textContent();
  expect(before).toMatch(/^phc_/);
  await page.getByText('array.js').first().waitFor();
  await checkPage(page);
  await key.getByRole('button', { name: 'Reset key' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Within a second, requests').waitFor();
  await dialog.getByRole('button', { name: 'Reset key' }).click();
  await key.getByText('This is your new key.').waitFor();
  expect(await value.textContent()).not.toBe(before);

  const secret = block(page, 'Secret key');
  await secret.getByText('No secret key yet.').waitFor();
  const shown = page.locator('[data-secret]');
  const make = async (verb: string) => {
    await secret.getByRole('button', { name: verb }).click();
    await dialog.getByRole('button', { name: verb }).click();
    await shown.waitFor();
    const made = (await shown.textContent()) ?? '';
    expect(made).toMatch(/^phs_\w{48}$/);
    await page.getByRole('button', { name: 'Done' }).click();
    await shown.waitFor({ state: 'detached' });
    return made;
  };
  const first = await make('Create secret key');
  await secret.getByText(`phs_...${first.slice(-4)}`).waitFor();
  const second = await make('Rotate');
  await checkPage(page);
  await secret.getByRole('button', { name: 'Delete previous key' }).click();
  await dialog.getByRole('button', { name: 'Delete previous key' }).click();
  await secret.getByText(`phs_...${first.slice(-4)}`).waitFor({ state: 'detached' });
  await secret.getByText(`phs_...${second.slice(-4)}`).waitFor();
  expect(await page.content()).not.toContain(second);
  await page.context().close();
});

it('creates an environment, lists it in the project menu, and renames and deletes it', async () => {
  const page = await console.open('settings/project');
  await page.getByRole('button', { name: 'New environment' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Staging');
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('dialog').getByRole('button', { name: 'Create' }).click();
  const place = page.getByRole('button', { name: 'Switch project' });
  await place.getByText('Staging · UTC').waitFor();
  await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Project and API keys' }).click();
  const name = block(page, 'Environment name');
  await name.getByLabel('Name').fill('Rehearsal');
  await save(name);
  await place.getByText('Rehearsal · UTC').waitFor();
  await page.getByRole('link', { name: 'Events' }).click();
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  await place.click();
  await page.getByRole('menuitem', { name: 'New project' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Second shop');
  await page.keyboard.press('Enter');
  await place.getByText('Second shop').waitFor();
  await page.getByRole('heading', { name: 'Live', level: 1 }).waitFor();
  expect(await page.evaluate('document.activeElement.id')).toBe('content');
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Project and API keys' }).click();
  await page.getByRole('button', { name: 'Delete this project' }).click();
  const dialog = page.getByRole('dialog');
  const verb = dialog.getByRole('button', { name: 'Delete this project' });
  expect(await verb.isDisabled()).toBe(true);
  await dialog.getByText('Events and persons are deleted in the background').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('textbox').fill('Second shop');
  await verb.click();
  await eventually(async () => expect(await place.textContent()).not.toContain('Second shop'));
  await page.context().close();
});

it('console-035: shows disabled settings to members, with the reason', async () => {
  await setLevel(1);
  try {
    const page = await console.open('settings/project');
    for (const name of ['Reset key', 'Create secret key', 'Rotate', 'New environment', 'Delete this project']) {
      for (const button of await page.getByRole('button', { name, exact: true }).all())
        expect([name, await button.isDisabled()]).toEqual([name, true]);
    }
    await page.getByText('Only administrators can do this.').first().waitFor();
    expect(await runAxe(page)).toEqual([]);
    await page.goto(console.address('settings/data'));
    expect(await page.getByLabel('Private to selected members').isDisabled()).toBe(true);
    expect(await page.getByLabel('Keep events for a number of days').isDisabled()).toBe(true);
    await page.goto(console.address('settings/organization'));
    await page.getByText('Only organization owners can do this.').waitFor();
    expect(await page.getByRole('button', { name: 'Delete this organization' }).isDisabled()).toBe(true);
    expect(await runAxe(page)).toEqual([]);
    await page.context().close();
  } finally {
    await setLevel(15);
  }
});

it('renames an organization, changes its email settings, creates another organization, and deletes it', async () => {
  const page = await console.open('settings/organization?nonsense=1');
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  const name = block(page, 'Name');
  await name.getByLabel('Name').fill('Corner shops Ltd');
  await save(name);
  await page.getByLabel('Email members when someone joins').uncheck();
  await save(block(page, 'Email'));
  const permissions = block(page, 'Member permissions');
  await permissions.getByLabel('Members can invite people').uncheck();
  await permissions.getByLabel('Members can use personal API keys').uncheck();
  await permissions.getByRole('button', { name: 'As API call' }).click();
  await page.getByRole('dialog').getByText('"members_can_use_personal_api_keys":false').waitFor();
  await page.keyboard.press('Escape');
  await save(permissions);
  const privacy = block(page, 'Privacy and sharing');
  await privacy.getByLabel('Discard client IP data in new projects').check();
  await privacy.getByLabel('Allow public links').uncheck();
  await save(privacy);
  await checkPage(page);
  const organizationPath = `/api/organizations/${await organizationId()}`;
  expect(await console.api('GET', organizationPath)).toMatchObject({
    ...{ name: 'Corner shops Ltd', is_member_join_email_enabled: false },
    ...{ members_can_invite: false, members_can_use_personal_api_keys: false },
    ...{ default_anonymize_ips: true, allow_publicly_shared_resources: false },
  });
  await page.reload();
  expect(await permissions.getByLabel('Members can invite people').isChecked()).toBe(false);
  await page.route(/\/api\/organizations\/[^/]+$/, (route) =>
    route.request().method() === 'PATCH'
      ? route.fulfill({ status: 403, json: { detail: 'Because of a test.' } })
      : route.fallback(),
  );
  await permissions.getByLabel('Members can invite people').check();
  await permissions.getByRole('button', { name: 'Save' }).click();
  await permissions.getByRole('alert').getByText('Because of a test.').waitFor();
  await page.unrouteAll();
  await page.getByRole('button', { name: 'New organization' }).click();
  await page.getByRole('dialog').getByLabel('Name').fill('Side business');
  await page.keyboard.press('Enter');
  const place = page.getByRole('button', { name: 'Switch project' });
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await place.click();
  await page.getByRole('menuitem', { name: 'Corner shops Ltd' }).click();
  await place.getByText('Europe/Berlin').waitFor();
  await place.click();
  await page.getByRole('menuitem', { name: 'Side business' }).click();
  await place.getByText('UTC').waitFor();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByRole('link', { name: 'Organization', exact: true }).click();
  await page.getByRole('button', { name: 'Delete this organization' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('1 project and all members').waitFor();
  await dialog.getByRole('textbox').fill('Side business');
  await dialog.getByRole('button', { name: 'Delete this organization' }).click();
  await place.getByText('Europe/Berlin').waitFor();
  await page.context().close();
});
