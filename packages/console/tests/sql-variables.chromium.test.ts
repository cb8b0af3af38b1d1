import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';
import { waitForRequests } from './visit-pages.ts';

/** Tests variables in SQL queries: on the SQL page, in saved insights and on dashboards. */
let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

const editor = (page: Page) => page.getByRole('textbox', { name: 'SQL query' });
const cells = (page: Page) => page.getByRole('grid', { name: 'Result' }).getByRole('gridcell');
const shows = (page: Page, row: string[]) =>
  eventually(async () => expect(await cells(page).allTextContents()).toEqual(row));
const create = (body: object) => console.api<{ id: string }>('POST', 'insight_variables', body);
const run = (page: Page) => page.getByRole('button', { name: 'Run query' }).click();
const open = async (query: string) => {
  const page = await console.open('sql');
  await waitForRequests(page);
  await editor(page).fill(query);
  return page;
};

test('shows a field with the default value for each variable, and runs the query with the chosen values', async () => {
  await create({ name: 'Plan', type: 'List', values: ['free', 'pro', 3], default_value: 'free' });
  await create({ name: 'Min price', type: 'Number', default_value: 5 });
  await create({ name: 'Is paid', type: 'Boolean', default_value: true });
  await create({ name: 'Since', type: 'Date', default_value: '2026-11-01' });
  await create({ name: 'Email', type: 'String' });
  const page = await open(
    'SELECT {variables.plan}, {variables.min_price}, {variables.is_paid}, {variables.since}, {variables.email}',
  );
  const fields = page.getByRole('group', { name: 'Values of variables' });
  const price = fields.getByLabel('Min price', { exact: true });
  await eventually(async () => expect(await price.inputValue()).toBe('5'));
  await run(page);
  await shows(page, ['free', '5', 'true', '2026-11-01', 'null']);
  await fields.getByLabel('Plan', { exact: true }).selectOption('3');
  await price.fill('1.5');
  await fields.getByLabel('Is paid', { exact: true }).selectOption('false');
  await fields.getByLabel('Since', { exact: true }).fill('2026-11-20');
  await fields.getByLabel('Email', { exact: true }).fill("o'hara@example.com");
  await price.press('Enter');
  await shows(page, ['3', '1.5', 'false', '2026-11-20', "o'hara@example.com"]);
  await price.fill('');
  await fields.getByRole('button', { name: 'Reset Plan' }).click();
  await run(page);
  await shows(page, ['free', 'null', 'false', '2026-11-20', "o'hara@example.com"]);
  expect(await runAxe(page)).toEqual([]);
  await page.context().close();
});

test("shows the API's message next to an invalid variable value, and keeps the typed text", async () => {
  await create({ name: 'Amount', type: 'Number', default_value: 5 });
  const page = await open('SELECT {variables.amount} AS n');
  const amount = page.getByRole('group', { name: 'Values of variables' }).getByLabel('Amount', { exact: true });
  await amount.fill('many');
  await page.getByRole('alert').getByText('amount is of the type Number. Expected a number.').waitFor();
  expect(await amount.getAttribute('aria-invalid')).toBe('true');
  await run(page);
  await page.getByText('The query could not run.', { exact: true }).waitFor();
  expect(await amount.inputValue()).toBe('many');
  await amount.fill('7');
  await run(page);
  await shows(page, ['7']);
  await amount.fill('many');
  await editor(page).fill('SELECT 1 AS n');
  await page.locator('.sql-problems').getByText('amount is of the type Number. Expected a number.').waitFor();
  await page.context().close();
});

test('creates a variable that the query refers to, completes its name, and changes and deletes it', async () => {
  const page = await open('SELECT {variables.top_plan} AS plan');
  await page.getByRole('button', { name: 'Create variable top_plan' }).click();
  let dialog = page.getByRole('dialog', { name: 'Create variable' });
  expect(await dialog.getByLabel('Name').inputValue()).toBe('top plan');
  await dialog.getByLabel('Type', { exact: true }).selectOption('List');
  await dialog.getByRole('button', { name: 'Create variable' }).click();
  await dialog.getByRole('alert').getByText('A variable of the type List needs at least one value.').waitFor();
  const values = dialog.getByLabel('Values: Add a value');
  await values.fill('gold');
  await values.press('Enter');
  await values.fill('silver');
  await values.press('Enter');
  await dialog.getByLabel('Default value').selectOption('gold');
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('button', { name: 'Create variable' }).click();
  await dialog.waitFor({ state: 'detached' });
  await page.getByRole('group', { name: 'Values of variables' }).getByLabel('top plan', { exact: true }).waitFor();
  await run(page);
  await shows(page, ['gold']);

  await editor(page).fill('SELECT 1, ');
  await editor(page).press('End');
  await page.keyboard.type('{variables.to');
  await page.getByRole('option').filter({ hasText: 'top_plan' }).waitFor();
  await page.waitForTimeout(150);
  await page.keyboard.press('Enter');
  await eventually(async () => expect(await editor(page).textContent()).toBe('SELECT 1, {variables.top_plan}'));

  await page.getByRole('button', { name: 'Variables', exact: true }).click();
  await page.getByRole('dialog', { name: 'Variables' }).getByRole('button', { name: 'Edit top plan' }).click();
  dialog = page.getByRole('dialog', { name: 'Edit variable' });
  await dialog.getByLabel('Default value').selectOption('silver');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  dialog = page.getByRole('dialog', { name: 'Variables' });
  await dialog.getByText('List, default silver').waitFor();
  await dialog.getByRole('button', { name: 'Edit top plan' }).click();
  await page.getByRole('button', { name: 'Delete variable' }).click();
  dialog = page.getByRole('dialog', { name: 'Delete top plan?' });
  await dialog.getByText('No insight uses it.').waitFor();
  await dialog.getByText('Queries that contain {variables.top_plan} can no longer run.').waitFor();
  await dialog.getByRole('button', { name: 'Delete variable' }).click();
  await page.getByRole('dialog', { name: 'Variables' }).getByRole('button', { name: 'Close' }).click();
  await page.getByRole('button', { name: 'Create variable top_plan' }).waitFor();
  await page.getByText('Variable top_plan is missing from query').waitFor();
  await page.context().close();
});

test('keeps variable values in a saved insight', async () => {
  const { id } = await create({ name: 'Kept', type: 'Number', default_value: 1 });
  const page = await open('SELECT {variables.kept} AS n');
  await page.getByRole('group', { name: 'Values of variables' }).getByLabel('Kept', { exact: true }).fill('2');
  await page.getByRole('button', { name: 'Save', exact: true }).click();
  const dialog = page.getByRole('dialog', { name: 'Save insight' });
  await dialog.getByLabel('Name').fill('With a variable');
  await dialog.getByRole('button', { name: 'Save', exact: true }).click();
  await page.getByRole('heading', { level: 1, name: 'With a variable' }).waitFor();
  await shows(page, ['2']);
  const shortId = new URL(page.url()).searchParams.get('insight') ?? '';
  expect(await console.api('GET', `insights?short_id=${shortId}`)).toMatchObject({
    results: [{ query: { source: { variables: { [id]: { variableId: id, code_name: 'kept', value: 2 } } } } }],
  });
  await page.context().close();
});

test('lists the insights that use a variable before the variable is deleted', async () => {
  await create({ name: 'Used twice', type: 'Number', default_value: 1 });
  await create({ name: 'Used twice or more', type: 'Number', default_value: 1 });
  for (const [name, query] of [
    ['Uses it', 'SELECT {variables.used_twice} AS n'],
    ['Uses another', 'SELECT {variables.used_twice_or_more} AS n'],
    ['Also uses it', 'SELECT 1 + { variables.used_twice } AS n'],
  ])
    await console.api('POST', 'insights', {
      name,
      saved: true,
      query: { kind: 'DataVisualizationNode', source: { kind: 'HogQLQuery', query } },
    });
  const page = await open('SELECT 1');
  await page.getByRole('button', { name: 'Variables', exact: true }).click();
  await page
    .getByRole('dialog', { name: 'Variables' })
    .getByRole('button', { name: 'Edit Used twice', exact: true })
    .click();
  await page.getByRole('button', { name: 'Delete variable' }).click();
  const dialog = page.getByRole('dialog', { name: 'Delete Used twice?' });
  await dialog.getByText('2 insights use it:').waitFor();
  expect((await dialog.getByRole('listitem').allTextContents()).sort()).toEqual(['Also uses it', 'Uses it']);
  expect(await runAxe(page)).toEqual([]);
  await dialog.getByRole('link', { name: 'Also uses it' }).click();
  await page.getByRole('heading', { level: 1, name: 'Also uses it' }).waitFor();
  await page.context().close();
});

test('lets a viewer change a variable on a dashboard, and saves the value for all users', async () => {
  const { id } = await create({ name: 'Shown', type: 'Number', default_value: 1 });
  const { id: board } = await console.api<{ id: number }>('POST', 'dashboards', {
    name: 'Board',
    variables: { [id]: { variableId: id, code_name: 'shown', value: 4 } },
  });
  const source = { kind: 'HogQLQuery', query: 'SELECT {variables.shown} AS n' };
  await console.api('POST', 'insights', {
    ...{ name: 'Number', saved: true, dashboards: [board] },
    query: { kind: 'DataVisualizationNode', source },
  });
  const page = await console.open(`dashboards?dashboard=${board}`);
  const tile = page.getByRole('region', { name: 'Number' });
  const field = page.getByRole('group', { name: 'Values of variables' }).getByLabel('Shown', { exact: true });
  const contains = (value: string) =>
    eventually(async () => expect(await tile.getByRole('cell').allTextContents()).toEqual([value]));
  await contains('4');
  expect(await field.inputValue()).toBe('4');
  await field.fill('9');
  await contains('9');
  await eventually(async () => expect(new URL(page.url()).searchParams.get('variables')).toContain('"value":9'));
  await page.reload();
  await contains('9');
  await field.fill('nine');
  await page.getByRole('alert').getByText('shown is of the type Number. Expected a number.').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.getByRole('button', { name: 'Reset Shown' }).click();
  await contains('4');
  await field.fill('6');
  await contains('6');
  await page.getByRole('button', { name: 'Save for everyone' }).click();
  await eventually(async () => expect(new URL(page.url()).searchParams.has('variables')).toBe(false));
  await contains('6');
  expect(await console.api('GET', `dashboards/${board}`)).toMatchObject({
    persisted_variables: { [id]: { code_name: 'shown', value: 6 } },
  });
  await page.context().close();
});
