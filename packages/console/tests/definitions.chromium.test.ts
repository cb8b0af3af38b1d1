import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { fillCornerShop, shopTime } from './corner-shop.ts';
import { type RunningConsole, runAxe, runAxeInBothThemes, startConsole } from './start-console.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole({ clock: shopTime });
});
afterAll(() => console?.stop());

const row = (page: Page, name: string) => page.getByRole('row').filter({ hasText: name });
const aside = (page: Page, name: string) => page.getByRole('complementary', { name });
const names = (page: Page) => page.locator('[data-row]').allTextContents();

it('shows an empty list of definitions in a project without events', async () => {
  const page = await console.open('definitions');
  await page.getByRole('heading', { name: 'No definitions yet' }).waitFor();
  await page.getByRole('link', { name: 'Send your first event' }).waitFor();
  expect(await runAxe(page)).toEqual([]);
  await page.context().close();
});

describe('the Definitions page with data', () => {
  beforeAll(() => fillCornerShop(console));

  it('lists events with their descriptions, counts and latest times', async () => {
    const page = await console.open('definitions');
    const order = row(page, 'order placed');
    await order.getByText('A customer paid.').waitFor();
    for (const shown of ['checkout', 'revenue', 'verified', /^\d+$/]) await order.getByText(shown).first().waitFor();
    await row(page, 'job finished').getByText('hidden').waitFor();
    expect(await runAxeInBothThemes(page)).toEqual([]);
    await page.getByLabel('Show:').selectOption('not hidden');
    await row(page, 'job finished').waitFor({ state: 'detached' });
    await page.getByLabel('Show:').selectOption('verified');
    await eventually(async () => expect(await names(page)).toEqual(['order placed']));
    await page.getByLabel('Show:').selectOption('all');
    await row(page, 'job finished').waitFor();
    const sorted = await names(page);
    expect(sorted).toEqual(sorted.toSorted());
    await page.getByRole('columnheader', { name: 'Name' }).getByRole('button').click();
    await eventually(async () => expect(await names(page)).toEqual(sorted.toReversed()));
    await console.query(
      "UPDATE event_definition SET last_seen_at = now() WHERE project_id = $1 AND name = 'invoice paid'",
    );
    await page.getByRole('columnheader', { name: 'Last seen' }).getByRole('button').click();
    await eventually(async () => expect((await names(page))[0]).toBe('invoice paid'));
    expect(new URL(page.url()).searchParams.get('order')).toBe('-last_seen_at');
    await page.keyboard.press('/');
    await page.keyboard.type('product');
    await eventually(async () => expect(await names(page)).toEqual(['product added']));
    await page.getByLabel('Type:').selectOption('Event properties');
    await page.getByRole('combobox', { name: 'Type' }).waitFor();
    await page.getByRole('searchbox').fill('geoip_city');
    await eventually(async () => expect(await names(page)).toEqual(['City']));
    await row(page, 'City').getByText('$geoip_city_name').waitFor();
    await page.context().close();
  });

  it("saves an event's description, tags and status, and does not mark a verified event as hidden", async () => {
    const page = await console.open('definitions?search=search');
    await page.getByRole('button', { name: 'search', exact: true }).click();
    const detail = aside(page, 'search');
    await detail.getByLabel('Description').fill('Someone looked for a product.');
    await detail.getByRole('combobox', { name: /^Tags/ }).fill('shelf');
    await page.keyboard.press('Enter');
    await detail.getByRole('checkbox', { name: 'Hidden' }).check();
    await detail.getByRole('checkbox', { name: 'Verified' }).check();
    expect(await detail.getByRole('checkbox', { name: 'Hidden' }).isChecked()).toBe(false);
    await detail.getByRole('button', { name: 'Save changes', exact: true }).click();
    await detail.getByText('Saved.').waitFor();
    await row(page, 'search').getByText('verified').waitFor();
    const stored = await console.api('GET', 'event_definitions/by_name?name=search');
    expect(stored).toMatchObject({
      ...{ description: 'Someone looked for a product.', tags: ['shelf'], verified: true, hidden: false },
    });
    expect(await runAxe(page)).toEqual([]);
    await detail.getByRole('link', { name: 'View events' }).click();
    await page.locator('.chip').filter({ hasText: 'search' }).waitFor();
    await page.context().close();
  });

  it('keeps the input if saving a definition fails, and shows the list if counting events fails', async () => {
    const page = await console.open('definitions?search=search', {
      prepare: async (visitor) => {
        await visitor.route(/volumes=true/, (route) =>
          route.fulfill({ status: 400, json: { detail: 'Because of a test.' } }),
        );
      },
    });
    await page.getByText('The volumes could not be loaded. Because of a test.').waitFor();
    await page.getByRole('button', { name: 'search', exact: true }).click();
    const detail = aside(page, 'search');
    await detail.getByLabel('Description').fill('Typed.');
    await page.route(/event_definitions\//, (route) =>
      route.fulfill({ status: 400, json: { detail: 'Because of a test.' } }),
    );
    await detail.getByRole('button', { name: 'Save changes', exact: true }).click();
    await detail.getByRole('alert').getByText('Because of a test.').waitFor();
    expect(await detail.getByLabel('Description').inputValue()).toBe('Typed.');
    await page.context().close();
  });
});
