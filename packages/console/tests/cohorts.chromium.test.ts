import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { checkPage, openAsMember } from './people.ts';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  for (const [id, properties] of Object.entries({ ada: { name: 'Ada', plan: 'pro' }, bob: { plan: 'free' }, cid: {} }))
    await console.storePerson(id, properties);
});
afterAll(() => console?.stop());

const stored = async () =>
  (
    await console.api<{ results: { id: number; name: string; filters: unknown; is_static: boolean }[] }>(
      'GET',
      'cohorts',
    )
  ).results;
const addCondition = (page: Page) => page.getByRole('button', { name: 'Add property condition' });
const save = (page: Page) => page.getByRole('button', { name: 'Save changes' });

it('shows different messages for no cohorts, no matches and an unknown cohort', async () => {
  const page = await console.open('cohorts');
  await page.getByRole('heading', { name: 'No cohorts yet' }).waitFor();
  await checkPage(page);
  expect(await runAxe(page)).toEqual([]);
  await page.goto(console.address('cohorts?search=x&nonsense=1'));
  await page.getByRole('heading', { name: 'No cohorts match your search' }).waitFor();
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  await page.goto(console.address('cohorts?search=x&nonsense=1&Your%20account%20is%20locked.%20Call%20me=1'));
  await page
    .getByText('The URL has unknown or invalid parameters: nonsense. All other parameters were applied.')
    .waitFor();
  expect(await page.getByText('Call me').count()).toBe(0);
  await page.goto(console.address('cohorts?cohort=4711'));
  await page.locator('[data-state=gone]').waitFor();
  await page.context().close();
});

it('creates a cohort from conditions, counts and lists its persons, and edits and deletes the cohort', async () => {
  const page = await console.open('cohorts');
  await page.getByRole('button', { name: 'New cohort' }).first().click();
  await page.getByLabel('Name', { exact: true }).waitFor();
  await page.keyboard.type('Paying <b>');
  await page.getByRole('button', { name: 'Create cohort' }).click();
  await page.getByText('Each condition needs a property and a value').waitFor();
  expect(await stored()).toEqual([]);
  await page.getByRole('combobox', { name: 'Property' }).fill('plan');
  await page.getByRole('combobox', { name: 'Values: Add a value' }).fill('pro');
  await page.getByRole('button', { name: 'Create cohort' }).click();
  await page.getByRole('heading', { level: 2, name: 'Paying <b>' }).waitFor();
  await page.getByRole('link', { name: 'Ada' }).waitFor();
  await checkPage(page);
  expect(await stored()).toMatchObject([
    {
      is_static: false,
      filters: {
        properties: {
          type: 'OR',
          values: [{ type: 'AND', values: [{ type: 'person', key: 'plan', operator: 'exact', value: ['pro'] }] }],
        },
      },
    },
  ]);
  await page.getByRole('button', { name: 'Add condition group' }).click();
  const second = page.getByRole('group', { name: 'or', exact: true });
  await second.getByRole('combobox', { name: 'Property' }).fill('plan');
  await second.getByLabel('Operator').selectOption('is_not_set');
  await save(page).click();
  await page.getByText('Saved.').waitFor();
  await page.reload();
  await page.getByRole('link', { name: 'cid' }).waitFor();
  expect(
    await page.getByRole('region', { name: 'Persons in this cohort' }).getByRole('link').allTextContents(),
  ).toHaveLength(2);
  await page.getByRole('button', { name: 'Remove condition 1 from condition group 2' }).click();
  await save(page).click();
  await eventually(async () => expect(await page.getByRole('link', { name: 'cid' }).count()).toBe(0));

  await page.getByRole('button', { name: 'Delete', exact: true }).click();
  await page.getByRole('button', { name: 'Delete cohort' }).click();
  await page.getByRole('heading', { name: 'No cohorts yet' }).waitFor();
  expect(await stored()).toEqual([]);
  await page.context().close();
});

it('adds persons to a static cohort by distinct ID, and removes them from the cohort', async () => {
  const page = await console.openSignedIn('cohorts?cohort=new');
  await page.getByRole('button', { name: 'Static (list of persons)' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Guests');
  await page.getByRole('button', { name: 'Create cohort' }).click();
  await page.getByText('There are no persons in this cohort.').waitFor();
  await page.getByRole('button', { name: 'Add persons' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByLabel('Distinct IDs').fill('unknown, at "all"\n');
  await dialog.getByRole('button', { name: 'Add persons' }).click();
  await dialog.getByText('No valid users to add to cohort').waitFor();
  await dialog.getByLabel('Distinct IDs').fill('ada\n\n unknown, at "all"\nbob \ncid\n');
  await dialog.getByRole('button', { name: 'Add persons' }).click();
  await page.getByText('Persons added. Unknown IDs were skipped.').waitFor();
  await page.getByRole('link', { name: 'cid' }).waitFor();
  await page.getByText('3 persons').waitFor();
  await page.getByRole('button', { name: 'Remove bob from the cohort' }).click();
  await eventually(async () => expect(await page.getByRole('link', { name: 'bob' }).count()).toBe(0));
  await page.getByText('2 persons').waitFor();
  await page.context().close();
});

it('opens a new insight that is filtered by the cohort', async () => {
  const leaf = { type: 'person', key: 'plan', operator: 'exact', value: ['pro'] };
  const { id } = await console.api<{ id: number }>('POST', 'cohorts', {
    ...{ name: 'Subscribers', filters: { properties: { type: 'AND', values: [leaf] } } },
  });
  const page = await console.openSignedIn(`cohorts?cohort=${id}`);
  await page.getByRole('link', { name: 'New insight' }).click();
  await page.getByRole('heading', { level: 1, name: 'New insight' }).waitFor();
  await page.getByRole('button', { name: 'in cohort Subscribers', exact: true }).waitFor();
  expect(JSON.parse(new URL(page.url()).searchParams.get('query') ?? '')).toMatchObject({
    properties: [{ type: 'cohort', key: 'id', operator: 'in', value: id }],
  });
  await page.context().close();
});

it('combines cohorts, copies one as a static cohort, sets access rules, and preserves unknown conditions', async () => {
  const leaf = { type: 'person', key: 'plan', operator: 'is_set' };
  const { id } = await console.api<{ id: number }>('POST', 'cohorts', {
    ...{ name: 'With a plan', filters: { properties: { type: 'AND', values: [leaf] } } },
  });
  const nested = { properties: { type: 'AND', values: [{ type: 'OR', values: [leaf, { ...leaf, key: 'x' }] }] } };
  const { id: other } = await console.api<{ id: number }>('POST', 'cohorts', { name: 'Nested', filters: nested });
  const page = await console.openSignedIn(`cohorts?cohort=${other}`);
  await page.getByText('This page cannot change these conditions').waitFor();
  await page.getByLabel('Description').fill('Kept as it is');
  await save(page).click();
  await page.getByText('Saved.').waitFor();
  expect(await console.api('GET', `cohorts/${other}`)).toMatchObject({ description: 'Kept as it is', filters: nested });

  await page.goto(console.address('cohorts?cohort=new'));
  await page.getByLabel('Name', { exact: true }).fill('Others');
  await page.getByRole('button', { name: 'Remove condition 1 from condition group 1' }).click();
  await page.getByRole('button', { name: 'Add cohort condition' }).click();
  await page.getByLabel('Operator').selectOption('not_in');
  await page.getByLabel('Cohort', { exact: true }).selectOption({ label: 'With a plan' });
  await page.getByRole('button', { name: 'Create cohort' }).click();
  await page.getByRole('link', { name: 'cid' }).waitFor();
  await page.getByRole('button', { name: 'Duplicate as static cohort' }).click();
  await page.getByRole('heading', { level: 2, name: 'Others (static copy)' }).waitFor();
  await page.getByRole('button', { name: 'Access' }).click();
  await page.getByRole('dialog', { name: /Others/ }).waitFor();
  await page.keyboard.press('Escape');
  await checkPage(page);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await page.evaluate('document.documentElement.scrollWidth > innerWidth')).toBe(false);
  await page.goto(console.address(`cohorts?cohort=${id}`));
  await addCondition(page).waitFor();
  await page.context().close();
});

it('hides actions that the API would refuse from a user with read access', async () => {
  const page = await openAsMember(console, 1, 'account');
  await page.goto(console.address('cohorts'));
  await page.getByRole('button', { name: 'With a plan' }).click();
  await page.getByRole('heading', { level: 2, name: 'With a plan' }).waitFor();
  await page.context().close();
});
