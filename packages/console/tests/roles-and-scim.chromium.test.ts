import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { addMember, checkPage, openAsMember } from './people.ts';
import { type RunningConsole, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  await addMember(console, 1, 'grace');
});
afterAll(() => console?.stop());

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const region = (page: Page, name: string) => page.getByRole('region', { name });

it('creates, renames and deletes a role, changes its members, and sets its access rule', async () => {
  const page = await openAsMember(console, 8, 'members');
  const roles = region(page, 'Roles');
  await roles.getByText('No roles yet').waitFor();
  await checkPage(page);
  await roles.getByLabel('Role name').fill('Support');
  await roles.getByRole('button', { name: 'Create role' }).click();
  await row(page, 'Support').getByText('no members').waitFor();
  await roles.getByLabel('Role name').fill('SUPPORT');
  await roles.getByRole('button', { name: 'Create role' }).click();
  await roles.getByText('There is already a role with this name.').waitFor();
  expect(await roles.getByLabel('Role name').inputValue()).toBe('SUPPORT');

  await roles.getByRole('button', { name: 'Assign Support to a member' }).click();
  const giving = roles.getByRole('form', { name: 'Assign Support to a member' });
  await giving.getByLabel('Member’s email address').fill('unknown@example.com');
  await giving.getByRole('button', { name: 'Assign' }).click();
  await giving.getByText('No member of the organization has the email address unknown@example.com.').waitFor();
  await checkPage(page);
  await giving.getByLabel('Member’s email address').fill('grace@example.com');
  await giving.getByRole('button', { name: 'Assign' }).click();
  const take = roles.getByRole('button', { name: /^Remove Support from/ });
  await take.waitFor();
  const held = () => console.query('SELECT r.name FROM role_membership JOIN role r ON r.id = role_id', []);
  expect((await held()).rows).toEqual([{ name: 'Support' }]);

  await page.goto(console.address('settings/access'));
  await row(page, 'Support').getByLabel('Rule for Support').selectOption('no access');
  await page.getByText('or the access from roles').first().waitFor();
  const kinds = region(page, 'Access to insights, dashboards and other records');
  await kinds.getByLabel('For').selectOption('Role: Support');
  await kinds.getByLabel('Access to Dashboards').selectOption('Viewer');
  const stored = () =>
    console.query('SELECT resource, level FROM access_rule WHERE role_id IS NOT NULL ORDER BY resource', []);
  await eventually(async () =>
    expect((await stored()).rows).toEqual([
      { resource: 'dashboard', level: 'viewer' },
      { resource: 'project', level: 'none' },
    ]),
  );
  await kinds.getByLabel('For').selectOption('Every member');
  expect(await kinds.getByLabel('Access to Dashboards').inputValue()).toBe('');
  await checkPage(page);

  await page.goto(console.address('settings/members'));
  await roles.getByRole('button', { name: 'Rename Support' }).click();
  await roles.getByLabel('Role name').last().fill('Help desk');
  await roles.getByRole('button', { name: 'Rename', exact: true }).click();
  await row(page, 'Help desk').waitFor();
  await roles.getByRole('button', { name: /^Remove Help desk from/ }).click();
  await row(page, 'Help desk').getByText('no members').waitFor();
  await roles.getByRole('button', { name: 'Delete the role Help desk' }).click();
  await checkPage(page);
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await roles.getByText('No roles yet').waitFor();
  expect((await stored()).rows).toEqual([]);
  await page.context().close();
});

it('console-035: shows the roles to a member, and explains who can create them', async () => {
  const owner = await openAsMember(console, 15, 'members');
  await region(owner, 'Roles').getByLabel('Role name').fill('Sales');
  await region(owner, 'Roles').getByRole('button', { name: 'Create role' }).click();
  await row(owner, 'Sales').waitFor();
  await owner.context().close();
  const page = await openAsMember(console, 1, 'members');
  const roles = region(page, 'Roles');
  await roles.getByText('Only administrators and owners can create and assign roles.').waitFor();
  await row(page, 'Sales').waitFor();
  expect(await roles.getByRole('button', { name: /Create|Assign|Remove|Rename|Delete/ }).count()).toBe(0);
  await page.context().close();
});

it('console-035: sets access to a dashboard, insight, flag, cohort or early access feature on its page', async () => {
  const dashboard = await console.api<{ id: number }>('POST', 'dashboards', { name: 'Growth' });
  const query = { kind: 'TrendsQuery', series: [{ kind: 'EventsNode', event: 'ordered' }] };
  const insight = await console.api<{ short_id: string }>('POST', 'insights', { name: 'Orders', saved: true, query });
  const flag = await console.api<{ id: number }>('POST', 'feature_flags', { key: 'new-menu' });
  const hedy = await openAsMember(console, 1, 'account', 'hedy@example.com');
  const other = await openAsMember(console, 1, 'account');
  const page = await openAsMember(console, 8, 'account');
  const dialog = page.getByRole('dialog');
  const stored = async () => {
    const { rows } = await console.query(
      'SELECT resource, level, membership_id IS NULL AS "isForAll" FROM access_rule WHERE resource_id IS NOT NULL ORDER BY resource, level',
      [],
    );
    return rows;
  };

  await page.goto(console.address(`dashboards?dashboard=${dashboard.id}`));
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Access' }).click();
  await dialog.getByText('Default for this record type: Editor').waitFor({ state: 'attached' });
  await checkPage(page);
  await dialog.getByLabel('Access level: Every member').selectOption('No access');
  await dialog.getByLabel('Role or member', { exact: true }).selectOption('Ada (hedy@example.com)');
  await dialog.getByRole('button', { name: 'Add' }).click();
  await dialog.getByLabel('Access level: Ada (hedy@example.com)').waitFor();
  expect(await stored()).toEqual([
    { resource: 'dashboard', level: 'none', isForAll: true },
    { resource: 'dashboard', level: 'viewer', isForAll: false },
  ]);
  await checkPage(page);

  await other.goto(console.address('dashboards'));
  await other.getByRole('heading', { name: 'No dashboards yet' }).waitFor();
  await other.goto(console.address(`dashboards?dashboard=${dashboard.id}`));
  await other.locator('[data-state]').filter({ hasText: 'viewer access' }).waitFor();
  await hedy.goto(console.address(`dashboards?dashboard=${dashboard.id}`));
  await hedy.getByRole('button', { name: 'More' }).click();
  await hedy.getByRole('menuitem', { name: 'Access' }).click();
  await hedy.getByText('Only project administrators, the user who created the record').waitFor();
  expect(await hedy.getByRole('dialog').getByRole('combobox').count()).toBe(2);
  expect(await hedy.getByRole('dialog').locator('select:not(:disabled)').count()).toBe(0);
  await checkPage(hedy);

  await dialog.getByLabel('Access level: Ada (hedy@example.com)').selectOption('No rule');
  await dialog.getByLabel('Access level: Ada (hedy@example.com)').waitFor({ state: 'detached' });
  await dialog.getByRole('button', { name: 'Close' }).click();

  await page.goto(console.address(`insights?insight=${insight.short_id}`));
  await page.getByRole('button', { name: 'Access' }).click();
  await dialog.getByLabel('Access level: Every member').selectOption('Viewer');
  await eventually(async () =>
    expect(await stored()).toContainEqual({ resource: 'insight', level: 'viewer', isForAll: true }),
  );
  await dialog.getByRole('button', { name: 'Close' }).click();

  await page.goto(console.address(`flags?flag=${flag.id}`));
  await page.getByRole('button', { name: 'More' }).click();
  await page.getByRole('menuitem', { name: 'Access' }).click();
  await dialog.getByRole('heading', { name: 'Access to “new-menu”' }).waitFor();
  await dialog.getByLabel('Access level: Every member').selectOption('Manager');
  await eventually(async () =>
    expect(await stored()).toContainEqual({ resource: 'feature_flag', level: 'manager', isForAll: true }),
  );
  await dialog.getByRole('button', { name: 'Close' }).click();

  const cohort = await console.api<{ id: number }>('POST', 'cohorts', { name: 'Guests', is_static: true });
  await page.goto(console.address(`cohorts?cohort=${cohort.id}`));
  await page.getByRole('button', { name: 'Access' }).click();
  await dialog.getByLabel('Access level: Every member').selectOption('Viewer');
  await eventually(async () =>
    expect(await stored()).toContainEqual({ resource: 'cohort', level: 'viewer', isForAll: true }),
  );

  await console.api('POST', 'early_access_feature', { name: 'New <b>menu', stage: 'beta' });
  await page.goto(console.address('settings/access'));
  await page.getByLabel('A single early access feature').selectOption('New <b>menu');
  await page.getByRole('button', { name: 'Access', exact: true }).click();
  await dialog.getByRole('heading', { name: 'Access to “New <b>menu”' }).waitFor();
  await dialog.getByLabel('Access level: Every member').selectOption('No access');
  await eventually(async () =>
    expect(await stored()).toContainEqual({ resource: 'early_access_feature', level: 'none', isForAll: true }),
  );
  for (const one of [page, hedy, other]) await one.context().close();
});

it("console-033: shows the SCIM token once, and lists the identity provider's requests and errors", async () => {
  const id = randomUUID();
  await console.query(
    `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at)
     SELECT $2::text::uuid, p.organization_id, 'corp.example', 'c', now()
       FROM environment e JOIN project p ON p.id = e.project_id WHERE e.id = $1`,
    [console.tenant.environmentId, id],
  );
  const page = await openAsMember(console, 8, `domains?open=${id}`);
  const scim = region(page, 'User provisioning (SCIM) for corp.example');
  await scim.getByRole('button', { name: 'Enable SCIM' }).click();
  const shown = region(page, 'SCIM token');
  const token = (await shown.locator('[data-secret]').textContent()) ?? '';
  expect(token).toMatch(/^scim_/);
  await checkPage(page);
  const address = (await scim.locator('dd span').first().textContent()) ?? '';
  const ask = (body: object) =>
    fetch(`${address}Users`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/scim+json' },
      body: JSON.stringify(body),
    });
  expect((await ask({ userName: 'lin@corp.example' })).status).toBe(201);
  expect((await ask({ userName: 'lin@elsewhere.example' })).status).toBe(400);
  await page.reload();
  await row(page, 'userName must be an email address in the domain corp.example').getByText('400').waitFor();
  await row(page, 'POST /Users').getByText('201').waitFor();
  expect(await page.content()).not.toContain(token);
  await checkPage(page);
  await scim.getByRole('button', { name: 'Create new token' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Create new token' }).click();
  await shown.waitFor();
  expect((await ask({ userName: 'ada@corp.example' })).status).toBe(401);
  await scim.getByRole('button', { name: 'Disable SCIM' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Disable SCIM' }).click();
  await scim.getByRole('button', { name: 'Enable SCIM' }).waitFor();
  await page.goto(console.address('activity?project=all'));
  await page.getByText('through the identity provider for corp.example').first().waitFor();
  await page.context().close();
});
