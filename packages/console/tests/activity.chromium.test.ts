import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { addMember, checkPage, openAsMember } from './people.ts';
import { type RunningConsole, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

const entries = (page: Page) => page.getByRole('list', { name: 'Changes, most recent first' }).getByRole('listitem');
const openPage = async (level: 1 | 8 | 15, query = '') => {
  const page = await openAsMember(console, level, 'account', undefined);
  await page.goto(console.address(`activity${query}`));
  return page;
};

it('console-020, console-035: describes each change with its user and values, but without secrets', async () => {
  const page = await openPage(8, '?project=all');
  await page.getByText('No changes in this date range').waitFor();
  await checkPage(page);
  await console.api('PATCH', '', { timezone: 'Europe/Lisbon', name: '<img src=x onerror=alert(1)>' });
  await addMember(console, 1, 'grace');
  await console.query(
    `INSERT INTO activity_log (id, organization_id, user_id, scope, item_id, activity, detail)
     SELECT gen_random_uuid(), p.organization_id, NULL, 'OrganizationMembership', 'm-1', 'updated',
            '{"name": "grace@example.com", "trigger": {"job_type": "command_line", "job_id": "member set-level", "payload": {}},
              "changes": [{"field": "level", "before": 1, "after": 8}, {"field": "password", "before": null, "after": null}]}'
       FROM project p LIMIT 1`,
    [],
  );
  await page.reload();
  const byOperator = entries(page).filter({ hasText: 'grace@example.com' });
  await byOperator.getByText('with the command member set-level').waitFor();
  for (const part of [
    'changed member',
    'member',
    'administrator',
    'The value changed, but it is secret and not shown.',
  ])
    await byOperator.getByText(part).first().waitFor();
  const ofProject = entries(page).filter({ hasText: 'Europe/Lisbon' }).first();
  await ofProject.getByText('UTC').waitFor();
  await entries(page).getByText('<img src=x onerror=alert(1)>').first().waitFor();
  await checkPage(page);
  await page.context().close();
});

it('console-004, console-005: keeps filters by user, type and record in the URL, and removes them on Back', async () => {
  const page = await openPage(15, '?project=all');
  await entries(page).first().waitFor();
  await page.getByLabel('Type:').selectOption('member');
  await eventually(async () => expect(await entries(page).count()).toBe(1));
  expect(new URL(page.url()).searchParams.get('scope')).toBe('OrganizationMembership');
  await page.getByRole('button', { name: 'Show only this record: grace@example.com' }).click();
  await page.getByRole('button', { name: /^Remove record/ }).waitFor();
  const address = page.url();
  await page.getByLabel('User:').selectOption({ index: 1 });
  await page.getByText('No changes match your filters').waitFor();
  await checkPage(page);
  await page.goBack();
  await eventually(() => expect(page.url()).toBe(address));
  await entries(page).first().waitFor();
  await page.getByRole('button', { name: /^Remove record/ }).click();
  await page.goto(console.address('activity?user=unknown&scope=Purple&nonsense=1'));
  await page.getByText('invalid parameters: nonsense, user, scope').waitFor();
  await page.context().close();
});

it('console-007: explains to a member why access is refused, and shows another message for a failed request', async () => {
  const member = await openPage(1);
  await member.locator('[data-state=refused]').waitFor();
  await member.context().close();
  const page = await openPage(8);
  await page.route('**/api/organizations/*/activity?*', (route) => route.fulfill({ status: 400, json: {} }));
  await page.reload();
  await page.locator('[data-state=failed]').waitFor();
  await page.context().close();
});

it("shows the project's changes, or the changes of the entire organization with project names", async () => {
  const { id } = await console.api<{ id: number }>('POST', 'feature_flags', { key: 'new-checkout' });
  const properties = [{ type: 'person', key: 'plan', operator: 'exact', value: ['pro', 'team'] }];
  const filters = { groups: [{ properties, rollout_percentage: 40 }] };
  await console.api('PATCH', `feature_flags/${id}`, { filters, version: 1 });
  await console.query(
    `INSERT INTO activity_log (id, organization_id, environment_id, scope, item_id, activity, detail)
     SELECT gen_random_uuid(), p.organization_id, 4711, 'FeatureFlag', '1', 'created', '{"name": "flag elsewhere", "changes": null}'
       FROM project p LIMIT 1`,
    [],
  );
  const page = await openPage(15);
  const change = entries(page).filter({ hasText: 'new-checkout' }).filter({ hasText: 'changed' });
  await change.getByText('1. plan is pro or team · 40%').waitFor();
  await change.getByText('1. everyone · 100%').waitFor();
  expect(await entries(page).filter({ hasText: 'flag elsewhere' }).count()).toBe(0);
  await page.getByLabel('Project:').selectOption('entire organization');
  await entries(page).filter({ hasText: 'flag elsewhere' }).getByText('#4711').waitFor();
  await entries(page).filter({ hasText: 'member' }).first().getByText('Organization').waitFor();
  await checkPage(page);
  await change.getByRole('link', { name: 'new-checkout' }).click();
  await page.getByRole('heading', { name: 'Feature flags', level: 1 }).waitFor();
  await page.getByRole('complementary').getByText('new-checkout').first().waitFor();
  await page.context().close();
});
