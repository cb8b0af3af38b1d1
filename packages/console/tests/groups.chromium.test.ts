import { randomUUID } from 'node:crypto';
import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
  await console.query(
    `CREATE TABLE event_all PARTITION OF event FOR VALUES FROM ('2015-01-01T00:00:00Z') TO ('2100-01-01T00:00:00Z')`,
    [],
  );
});
afterAll(() => console?.stop());

const storeType = (name: string, index: number) =>
  console.query(
    `INSERT INTO group_type_mapping (project_id, group_type, group_type_index, created_at)
     VALUES ($1, '${name}', ${index}, now())`,
  );
const storeGroup = (index: number, key: string, properties: object) =>
  console.query(
    `INSERT INTO "group" (project_id, group_type_index, group_key, group_properties, created_at)
     VALUES ($1, ${index}, '${key.replaceAll("'", "''")}', '${JSON.stringify(properties).replaceAll("'", "''")}', now())`,
  );
const storeVisit = (distinctId: string, properties: object, daysAgo: number) =>
  console.query(
    `INSERT INTO event (project_id, timestamp, uuid, event, distinct_id, person_id, properties, captured_at)
     VALUES ($1, now() - interval '${daysAgo} days', '${randomUUID()}', 'order placed', '${distinctId}',
             '${randomUUID()}', '${JSON.stringify(properties)}', now())`,
  );

async function expectNoViolations(page: Page): Promise<void> {
  expect(await runAxeInBothThemes(page)).toEqual([]);
}
const isWide = (page: Page) => page.evaluate('document.documentElement.scrollWidth > innerWidth');

const hostile = `<img src=x onerror="alert('1')">`;

it('console-007: shows different states for unknown types and groups, no groups, no matches, refusals and failures', async () => {
  const page = await console.open('groups');
  await page.getByRole('heading', { name: 'No groups yet' }).waitFor();
  await page.getByText('posthog.group("company", "acme"').waitFor();
  await page.getByText('up to five group types').waitFor();
  await expectNoViolations(page);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await isWide(page)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await storeType('company', 0);
  await page.reload();
  await page.getByRole('heading', { name: 'No groups of type company yet' }).waitFor();
  await page.goto(console.address('groups?search=x&nonsense=1'));
  await page.getByRole('heading', { name: 'No groups match your search' }).waitFor();
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  await page.goto(console.address('groups?type=planet'));
  await page.locator('[data-state=gone]').waitFor();
  await page.goto(console.address('groups?key=unknown'));
  await page.getByRole('complementary').locator('[data-state=gone]').waitFor();
  await page.keyboard.press('Escape');
  await page.getByRole('complementary').waitFor({ state: 'detached' });
  for (const [status, state] of [
    [403, 'refused'],
    [500, 'failed'],
  ] as const) {
    await page.route('**/groups_types', (route) => route.fulfill({ status, json: { detail: 'Because of a test.' } }));
    await page.goto(console.address('groups'));
    await page.locator(`[data-state=${state}]`).getByText('Because of a test.').waitFor();
    await page.unroute('**/groups_types');
  }
  await page.context().close();
});

it('console-004, console-020, console-025: searches groups on the server, and shows names as plain text', async () => {
  await storeType('shop', 1);
  await storeGroup(0, 'acme', { name: 'Acme Ltd', seats: 12, site: 'https://acme.example.com', $icon: 'a' });
  await storeGroup(0, 'zeta', { name: 'Zeta' });
  await storeGroup(0, hostile, { name: hostile });
  await storeGroup(1, 'berlin', { name: 'Corner shop' });
  const page = await console.open('groups');
  const group = (name: string) => page.getByRole('button', { name, exact: true });
  await group('acme').waitFor();
  await group(hostile).waitFor();
  await page.getByText('2 of 5 group types').waitFor();
  await group('shop').click();
  await group('berlin').waitFor();
  expect(new URL(page.url()).search).toBe('?type=shop');
  await page.goBack();
  await group('acme').waitFor();
  await page.getByRole('searchbox').fill('ltd');
  await group('zeta').waitFor({ state: 'detached' });
  await group('acme').click();
  await page.getByRole('heading', { name: 'Acme Ltd' }).waitFor();
  await page.getByRole('button', { name: 'seats: 12' }).waitFor();
  await page.getByText('1 more property set by the SDK').waitFor();
  expect(new URL(page.url()).search).toBe('?search=ltd&key=acme');
  await page.getByRole('complementary').getByRole('button', { name: 'As API call' }).click();
  await page.getByRole('dialog').getByText('groups/find?group_type_index=0&group_key=acme').waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await eventually(async () => expect(await page.evaluate('document.activeElement.textContent')).toBe('acme'));
  await page.context().close();
});

it("lists a group's persons with events in the selected range, and links to them", async () => {
  await console.storePerson('ada', { name: 'Ada Lovelace' });
  await console.storePerson('bob', { name: 'Bob' });
  await storeVisit('ada', { $group_0: 'acme', $current_url: 'https://example.com/cart' }, 1);
  await storeVisit('ada', { $group_0: 'acme' }, 3);
  await storeVisit('bob', { $group_0: 'acme' }, 50);
  const page = await console.open('groups?key=acme&tab=members');
  const members = page.getByRole('table', { name: 'Group members' });
  await members.getByRole('row').filter({ hasText: 'Ada Lovelace' }).getByText('2', { exact: true }).waitFor();
  expect(await members.getByRole('link', { name: 'Bob' }).count()).toBe(0);
  await page.getByLabel('Active in').selectOption('-90d');
  await members.getByRole('link', { name: 'Bob' }).waitFor();
  expect(new URL(page.url()).searchParams.get('after')).toBe('-90d');
  await expectNoViolations(page);
  await page.getByRole('tab', { name: 'Events' }).click();
  await page.getByText('https://example.com/cart').waitFor();
  await expectNoViolations(page);
  await page.setViewportSize({ width: 360, height: 640 });
  expect(await isWide(page)).toBe(false);
  await page.setViewportSize({ width: 1280, height: 800 });
  await page.getByRole('link', { name: 'Open in Events' }).click();
  await page.getByRole('heading', { name: 'Events', level: 1 }).waitFor();
  await page.locator('.chip').filter({ hasText: 'Group 1' }).waitFor();
  await page.goto(console.address('groups?key=zeta&tab=members'));
  await page.getByRole('heading', { name: 'No members in this period' }).waitFor();
  await page.goto(console.address('groups?key=acme&tab=members'));
  await page.getByRole('link', { name: 'Ada Lovelace' }).click();
  await page.getByRole('complementary').getByRole('heading', { name: 'Ada Lovelace' }).waitFor();
  await page.context().close();
});
