import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

const everyoneFilters = { groups: [{ properties: [], rollout_percentage: 100 }] };
const about = (key: string, operator: string, value: unknown) => ({ key, type: 'person', operator, value });

interface NewFlag {
  key: string;
  filters?: object;
  tags?: string[];
}
const create = (flag: NewFlag) =>
  console.api<{ id: number }>('POST', 'feature_flags', { filters: everyoneFilters, ...flag });
const change = (id: number, body: object) => console.api('PATCH', `feature_flags/${id}`, body);
const stored = (id: number) => console.api<{ active: boolean; filters: object }>('GET', `feature_flags/${id}`);
const row = (page: Page, key: string) =>
  page.getByRole('row').filter({ has: page.getByRole('button', { name: key, exact: true }) });
const searchField = (page: Page) => page.getByRole('searchbox', { name: /^Search/ });

it('shows different states for no flags, loading, failed and refused requests, and an unknown flag', async () => {
  const page = await console.open('flags');
  await page.getByRole('heading', { name: 'No feature flags yet' }).waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('button', { name: 'New flag' }).last().click();
  await page.getByRole('heading', { name: 'New flag' }).waitFor();
  await page.goto(console.address('flags?flag=99999999'));
  await page.locator('[data-state=gone]').waitFor();

  const failures = [
    { status: 403, picture: 'refused' },
    { status: 400, picture: 'failed' },
  ];
  for (const { status, picture } of failures) {
    await page.route(/feature_flags\?/, (route) =>
      route.fulfill({ status, headers: { 'x-request-id': 'r-17' }, json: { detail: 'Because of a test.' } }),
    );
    await page.goto(console.address('flags'));
    await page.locator(`[data-state=${picture}]`).getByText('Because of a test.').waitFor();
    await page.unroute(/feature_flags\?/);
  }
  await page.getByText('r-17').waitFor();
  let respond = () => {};
  const held = new Promise<void>((resolve) => {
    respond = resolve;
  });
  await page.route(/feature_flags\?/, async (route) => {
    await held;
    await route.continue();
  });
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.reload();
  await page.getByText('Loading').first().waitFor();
  respond();
  await page.getByRole('heading', { name: 'No feature flags yet' }).waitFor();
  await page.context().close();
});

it('opens the form for a new flag when the user presses n, and focuses the first field', async () => {
  const page = await console.open('flags');
  await page.getByRole('heading', { name: 'Feature flags', level: 1 }).waitFor();
  await page.keyboard.press('n');
  const form = page.getByRole('complementary', { name: 'New flag' });
  await form.waitFor();
  await page.keyboard.type('n-as-a-letter');
  expect(await form.getByRole('textbox').first().inputValue()).toBe('n-as-a-letter');
  await page.context().close();
});

it('reports that all flags are archived, and links to the archived flags', async () => {
  const { id } = await create({ key: 'retired' });
  await change(id, { archived: true, active: false });
  const page = await console.open('flags');
  await page.getByRole('heading', { name: 'All flags are archived' }).waitFor();
  await page.getByText('1 flag can be restored from the archive.').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Show archived flags' }).click();
  await row(page, 'retired').waitFor();
  await change(id, { deleted: true });
  await page.context().close();
});

it('disables, archives, tags and deletes several flags at a time, and undoes each action', async () => {
  const names = ['bulk-one', 'bulk-two'];
  const ids = await Promise.all(names.map(async (key) => (await create({ key })).id));
  await change(ids[1] ?? 0, { active: false });
  await console.query(
    "UPDATE feature_flag SET last_called_at = now() - interval '2 hours' WHERE key = 'bulk-one' AND project_id = $1",
  );
  const page = await console.open('flags?search=bulk-');
  await row(page, 'bulk-one').getByText('2 hours ago').waitFor();
  await row(page, 'bulk-two').getByText('never').waitFor();
  const isOn = (key: string) => row(page, key).getByRole('switch').getAttribute('aria-checked');
  const choose = async () => {
    for (const key of names) await page.getByRole('checkbox', { name: `Select ${key}` }).check();
    await page.getByText('2 items selected').waitFor();
  };
  const undo = async () => {
    await page.getByRole('button', { name: 'Undo' }).click();
    await page.getByRole('button', { name: 'Undo' }).waitFor({ state: 'detached' });
  };
  const states = async () => [await isOn('bulk-one'), await isOn('bulk-two')];
  await choose();
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Turn on' }).click();
  await page.getByText('2 flags turned on.').waitFor();
  await eventually(async () => expect(await states()).toEqual(['true', 'true']));
  await undo();
  await eventually(async () => expect(await states()).toEqual(['true', 'false']));
  await choose();
  await page.getByRole('button', { name: 'Archive' }).click();
  await page.getByRole('heading', { name: 'No flags match your filters' }).waitFor();
  await undo();
  await eventually(async () => expect(await states()).toEqual(['true', 'false']));
  await choose();
  await page.getByRole('button', { name: 'Add tag' }).click();
  await page.getByRole('textbox', { name: 'Tag' }).fill('spring');
  await page.getByRole('dialog').getByRole('button', { name: 'Add tag' }).click();
  await page.getByText('Added the tag spring to 2 items.').waitFor();
  await page.getByLabel('Tags').selectOption('spring');
  await choose();
  await page.getByRole('button', { name: 'Delete selected' }).click();
  await page.getByRole('heading', { name: 'No flags match your filters' }).waitFor();
  await undo();
  await row(page, 'bulk-one').waitFor();
  for (const id of ids) await change(id, { deleted: true });
  await page.context().close();
});

it('searches five thousand flags on the server, and renders only visible rows', async () => {
  await console.query(
    `INSERT INTO feature_flag (project_id, key, filters, tags, created_at)
     SELECT $1, 'many-' || lpad(number::text, 4, '0'), '{"groups": [{"properties": [], "rollout_percentage": 100}]}',
            CASE WHEN number % 1000 = 0 THEN ARRAY['round'] ELSE '{}'::text[] END, now() - interval '1 day'
     FROM generate_series(1, 5000) AS number`,
  );
  const page = await console.open('flags?sort=key');
  await row(page, 'many-0001').waitFor();
  expect(await page.getByRole('table').getAttribute('aria-rowcount')).toBe('5001');
  expect(await page.getByRole('row').count()).toBeLessThan(100);
  await row(page, 'many-0001').getByRole('button').focus();
  await page.keyboard.press('End');
  await eventually(async () => expect(await page.evaluate('document.activeElement.textContent')).toBe('many-5000'));
  await page.keyboard.press('/');
  await page.keyboard.type('ANY-3000');
  await row(page, 'many-3000').waitFor();
  await eventually(async () => expect(await page.getByRole('row').count()).toBe(2));
  expect(new URL(page.url()).search).toBe('?search=ANY-3000&sort=key');
  await searchField(page).fill('');
  await eventually(() => new URL(page.url()).search === '?sort=key');
  await page.getByLabel('Tags').selectOption('round');
  await eventually(async () => expect(await page.getByRole('row').count()).toBe(6));
  const copy = await console.open(`flags${new URL(page.url()).search}&nonsense=1&state=purple`);
  await eventually(async () => expect(await copy.getByRole('row').count()).toBe(6));
  await copy.getByText('nonsense, state').waitFor();
  await page.goBack();
  await row(page, 'many-0001').waitFor();
  await page.context().close();
  await copy.context().close();
  await console.query(`DELETE FROM feature_flag WHERE project_id = $1 AND key LIKE 'many-%'`);
});

it('toggles a flag immediately, reverts after an error, and lists dependent flags before archiving', async () => {
  const base = await create({ key: 'base' });
  const depends = { key: String(base.id), type: 'flag', operator: 'flag_evaluates_to', value: true };
  const above = await create({ key: 'above', filters: { groups: [{ properties: [depends] }] } });
  const page = await console.open('flags');
  const turn = (key: string) => page.getByRole('switch', { name: `${key} is on` });
  await row(page, 'above').getByText('flag base is true').waitFor();
  let respond = () => {};
  const held = new Promise<void>((resolve) => {
    respond = resolve;
  });
  await page.route(`**/feature_flags/${base.id}`, async (route) => {
    await held;
    await route.continue();
  });
  await turn('base').click();
  await eventually(async () => expect(await turn('base').getAttribute('aria-checked')).toBe('false'));
  respond();
  await page.getByRole('alert').getByText('base is still on.').getByText('above').waitFor();
  expect(await turn('base').getAttribute('aria-checked')).toBe('true');
  await row(page, 'base').getByRole('button').click();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('button', { name: 'above' }).waitFor();
  expect(await dialog.getByRole('button', { name: 'Archive' }).isDisabled()).toBe(true);
  expect(await runAxe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });

  await turn('above').click();
  await eventually(async () => expect(await stored(above.id)).toMatchObject({ active: false }));
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Archive' }).click();
  await dialog.getByText('No active flag depends on this flag.').waitFor();
  await dialog.getByRole('button', { name: 'Archive' }).click();
  await page.getByText('base was archived.').waitFor();
  expect(await stored(base.id)).toMatchObject({ active: false, archived: true });
  await page.getByRole('button', { name: 'Undo' }).click();
  await eventually(async () => expect(await stored(base.id)).toMatchObject({ active: true, archived: false }));
  await row(page, 'above').getByRole('button').click();
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await dialog.getByRole('button', { name: 'Delete' }).click();
  await page.getByText('above was deleted.').waitFor();
  await row(page, 'above').waitFor({ state: 'detached' });
  await page.context().close();
});

it('creates and edits a flag, shows an error next to its field, and compares versions after a conflict', async () => {
  const page = await console.open('flags?flag=new');
  await page.getByLabel('Key', { exact: true }).fill('new flag');
  await page.getByRole('button', { name: '+ Property' }).click();
  await page.getByLabel('Property').fill('plan');
  await page.getByLabel('Values: Add a value').fill('pro');
  await page.keyboard.press('Enter');
  await page.getByLabel('Multiple variants').check();
  await page.getByLabel('Percentage: test').fill('49');
  await page.getByText('Total: 99%. It must be 100%.').waitFor();
  await page.getByRole('button', { name: 'Distribute evenly' }).click();
  await page.getByLabel('Payload for test (JSON)').fill('{"steps": 1}');
  await page.getByRole('button', { name: 'Create flag' }).click();
  await page.getByText('Only letters, numbers, hyphens').waitFor();
  expect(await page.getByLabel('Key', { exact: true }).getAttribute('aria-invalid')).toBe('true');
  await page.getByLabel('Key', { exact: true }).fill('edited');
  await page.getByRole('button', { name: 'Create flag' }).click();
  await page.getByRole('heading', { name: 'edited' }).waitFor();
  const id = Number(new URL(page.url()).searchParams.get('flag'));
  expect((await stored(id)).filters).toMatchObject({
    groups: [{ properties: [about('plan', 'exact', ['pro'])], rollout_percentage: 0 }],
    multivariate: {
      variants: [
        { key: 'control', rollout_percentage: 50 },
        { key: 'test', rollout_percentage: 50 },
      ],
    },
    payloads: { test: '{"steps": 1}' },
  });

  await page.getByLabel('Operator').selectOption('regex');
  await page.getByLabel('Value', { exact: true }).fill('(?=x)');
  await page.getByRole('button', { name: 'Save changes' }).click();
  await page.getByRole('group', { name: 'Condition 1' }).getByRole('alert').getByText('invalid regex').waitFor();
  await page.getByLabel('Value', { exact: true }).fill('^pro');
  await change(id, { filters: { groups: [{ properties: [], rollout_percentage: 7 }] } });
  await page.getByRole('tab', { name: 'History' }).click();
  await page.getByText('everyone · 7%').waitFor();
  await page.getByRole('tab', { name: 'Conditions' }).click();
  await page.getByRole('button', { name: 'Save changes' }).click();
  const conflict = page.getByRole('alert').filter({ hasText: 'changed this flag while you were editing it' });
  await conflict.getByText('everyone · 7%').waitFor();
  await conflict.getByText('plan matches regex ^pro · 0%').waitFor();
  expect(await page.getByLabel('Value', { exact: true }).inputValue()).toBe('^pro');
  expect((await stored(id)).filters).toMatchObject({ groups: [{ rollout_percentage: 7 }] });
  expect(await runAxe(page)).toEqual([]);
  await conflict.getByRole('button', { name: 'Overwrite with my version' }).click();
  await page.getByText('Saved. The change takes effect within a second.').waitFor();
  expect((await stored(id)).filters).toMatchObject({ groups: [{ properties: [about('plan', 'regex', '^pro')] }] });
  await page.context().close();
});

it('keeps unsaved edits of a flag while other pages are open', async () => {
  const { id } = await create({ key: 'drafted' });
  const page = await console.open(`flags?flag=${id}`);
  await page.getByLabel('Description').fill('Half a sentence');
  await page.getByRole('link', { name: 'Persons', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'Persons' }).waitFor();
  await page.getByRole('link', { name: 'Feature flags', exact: true }).click();
  await row(page, 'drafted').getByText('unsaved').waitFor();
  await row(page, 'drafted').getByRole('button', { name: 'drafted' }).click();
  await eventually(async () => expect(await page.getByLabel('Description').inputValue()).toBe('Half a sentence'));
  await change(id, { deleted: true });
  await page.context().close();
});

it('shows which condition decided a flag for a person, and explains an empty Exposures tab', async () => {
  await console.storePerson('ada-1', { email: 'ada@example.com', plan: 'pro' });
  const groups = [
    { properties: [about('email', 'ends_with', '@example.org')], rollout_percentage: 100 },
    { properties: [about('plan', 'exact', ['pro'])], rollout_percentage: 100 },
    { properties: [], rollout_percentage: 0 },
  ];
  const flag = await create({ key: 'explained', filters: { groups } });
  const page = await console.open(`flags?flag=${flag.id}&tab=why`);
  await page.getByRole('searchbox', { name: 'Person' }).fill('ADA@');
  await page.getByRole('list', { name: 'Matching persons' }).getByRole('button').click();
  await page.getByText('decided by condition 2').waitFor();
  expect(new URL(page.url()).searchParams.get('person')).toBe('ada-1');
  const reasons = await page.locator('.flag-reason').allInnerTexts();
  expect(reasons.map((text) => text.replaceAll(/\s+/g, ' '))).toEqual([
    expect.stringMatching(/^1 email ends with @example.org · 100% no .*email is ada@example.com \(stored\)/),
    expect.stringMatching(/^2 plan is pro · 100% yes .*plan is pro \(stored\)/),
    expect.stringMatching(/^3 everyone · 0% not reached$/),
  ]);
  expect(await runAxeInBothThemes(page)).toEqual([]);
  await page.getByRole('tab', { name: 'Exposures' }).click();
  await page.getByRole('heading', { name: 'No exposures in this date range' }).waitFor();
  await page.context().close();
});

it('the Feature flags page works with only the keyboard and on a phone screen', async () => {
  const { id } = await create({ key: 'by-keyboard' });
  const page = await console.open('flags?search=by-key', { width: 360, height: 640 });
  await row(page, 'by-keyboard').waitFor();
  const isWide = () => page.evaluate('document.documentElement.scrollWidth > innerWidth');
  expect(await isWide()).toBe(false);
  await searchField(page).focus();
  const focused = () => page.evaluate<string>('document.activeElement.textContent');
  for (let at = 0; at < 12 && (await focused()) !== 'by-keyboard'; at += 1) await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  await page.getByRole('complementary', { name: 'by-keyboard' }).waitFor();
  await page.getByRole('tab', { name: 'Conditions' }).waitFor();
  for (const tab of ['Conditions', 'Why this person?', 'History', 'Exposures']) {
    await page.getByRole('tab', { name: tab }).click();
    expect(await isWide()).toBe(false);
  }
  expect(await runAxe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await eventually(async () => expect(await focused()).toBe('by-keyboard'));
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await eventually(async () => expect(await stored(id)).toMatchObject({ active: false }));
  await page.context().close();
});

it('shows whether a rollout is a percentage of all users or of the users who match filters', async () => {
  const pro = [{ properties: [about('plan', 'exact', ['pro'])], rollout_percentage: 100 }];
  await create({ key: 'for-pro', filters: { groups: [...pro, { properties: [], rollout_percentage: 5 }] } });
  await create({ key: 'for-all', filters: { groups: [...pro, { properties: [], rollout_percentage: 100 }] } });
  const page = await console.open('flags?search=for-');
  await row(page, 'for-pro').getByText('of matching').waitFor();
  expect(await row(page, 'for-all').getByText('of matching').count()).toBe(0);
  await page.context().close();
});

it('creates a flag with a rollout of 0%, and optionally as inactive', async () => {
  const page = await console.open('flags?flag=new');
  await page.getByText('A new flag starts at a rollout of 0%.').waitFor();
  await page.getByLabel('Key', { exact: true }).waitFor();
  await page.keyboard.type('careful');
  await page.getByLabel('Create the flag turned off').check();
  await page.getByRole('button', { name: 'Create flag' }).click();
  await page.getByRole('heading', { name: 'careful' }).waitFor();
  const id = Number(new URL(page.url()).searchParams.get('flag'));
  expect(await stored(id)).toMatchObject({ active: false, filters: { groups: [{ rollout_percentage: 0 }] } });
  await page.context().close();
});

it('shows sample code for a flag in each language, with its key, a variant and its payload', async () => {
  const variants = ['control', 'test'].map((key) => ({ key, rollout_percentage: 50 }));
  const filters = { ...everyoneFilters, multivariate: { variants }, payloads: { test: '{"steps":1}' } };
  const { id } = await create({ key: 'coded', filters });
  const page = await console.open(`flags?flag=${id}&tab=code`, { width: 360, height: 640 });
  const code = page.getByRole('tabpanel').locator('pre');
  await code.getByText(`posthog.getFeatureFlag("coded") === "test"`).waitFor();
  for (const [language, line] of [
    ['Node', `await client.getFeatureFlagPayload("coded", 'distinct-id')`],
    ['Python', 'client.get_feature_flag("coded", "distinct-id") == "test"'],
    ['PHP', "getFeatureFlag('coded', 'distinct-id') === 'test'"],
    ['Go', 'client.GetFeatureFlag(flag); value == "test"'],
  ] as const) {
    await page.getByRole('radio', { name: language }).check();
    await code.getByText(line).waitFor();
  }
  expect(await runAxe(page)).toEqual([]);
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.context().close();
});

it('marks a flag with unsaved changes in the list, and keeps the changes while other pages are open', async () => {
  const { id } = await create({ key: 'unfinished' });
  const page = await console.open(`flags?flag=${id}`);
  const rollout = page.getByRole('spinbutton', { name: 'Rollout percentage for condition 1' });
  await rollout.fill('35');
  await page.getByText('1 field changed, not saved yet').waitFor();
  await page.getByRole('link', { name: 'Persons' }).click();
  await page.getByRole('heading', { name: 'Persons', level: 1 }).waitFor();
  await page.getByRole('link', { name: 'Feature flags' }).click();
  await row(page, 'unfinished').getByText('unsaved').waitFor();
  await row(page, 'unfinished').getByRole('button', { name: 'unfinished' }).click();
  await page.getByText('1 field changed, not saved yet').waitFor();
  expect(await rollout.inputValue()).toBe('35');
  await page.getByRole('button', { name: 'Discard' }).click();
  await row(page, 'unfinished').getByText('unsaved').waitFor({ state: 'detached' });
  await page.context().close();
});
