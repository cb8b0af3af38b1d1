import { eventually, sampleOf, storySize } from '@millrace/testing';
import { fillCornerShop, shopTime, views } from './corner-shop.ts';
import { keyboardProblems, problemsOf } from './page-checks.ts';
import { type RunningConsole, startConsole } from './start-console.ts';
import { everyPage, undocumented, visitShop, type Watched, watch } from './visit-pages.ts';

/** Checks that apply to every page and every section of the settings. A new page is a new row in each table below. */
let console: RunningConsole;
const watched: Watched[] = [];
beforeAll(async () => {
  console = await startConsole({ clock: shopTime });
});
afterAll(() => console?.stop());

/** How requests of a page fail, and the page state that it should show. */
const failures = [
  ['refused', 403],
  ['gone', 404],
  ['failed', 500],
  ['unreachable', 0],
] as const;

const visit = (path: string, { isOpen = true } = {}) =>
  visitShop(console, path, { isOpen, prepare: (visitor) => void watched.push(watch(visitor)) });

describe('empty', () => {
  it.each(everyPage)('console-007, console-038, console-042: %s passes the checks without data', async (path) => {
    const page = await visit(path, { isOpen: false });
    // Accessibility is checked once per page and theme, in the tests with data below. The long tests also check the empty pages.
    expect(await problemsOf(page, { themes: storySize(0, 1) ? ['light'] : [] })).toEqual([]);
    await page.context().close();
  });
});

describe('with the data of a shop', () => {
  beforeAll(() => fillCornerShop(console));

  it.each(everyPage)('console-038, console-039, console-042: %s passes the checks with data', async (path) => {
    const page = await visit(views[path] ?? path);
    expect([...(await problemsOf(page)), ...(await keyboardProblems(page))]).toEqual([]);
    // An empty page would not be checked. If this fails, add data for the page to corner-shop.ts.
    expect([path, await page.locator('[data-state=empty]').count()]).toEqual([path, 0]);
    await page.context().close();
  });

  it.each(everyPage)(
    'console-007, console-008: %s shows loading, refused, not found, failed and offline states, and recovers',
    async (path) => {
      const page = await visit(path);
      const { [path]: address = path } = views;
      // The requests of the frame are not intercepted.
      const cut = /\/api\/(?!users\/@me\/?$|projects\/\d+\/?(health)?$)/;
      const said: Record<string, number> = {};
      for (const [name, status] of sampleOf(failures, { count: 1, turn: everyPage.indexOf(path) })) {
        await page.route(cut, (route) =>
          status === 0
            ? route.abort()
            : route.fulfill({
                status,
                headers: { 'x-request-id': 'r-17' },
                json: { code: name, detail: 'Because of a test.' },
              }),
        );
        await page.goto(console.address(address));
        const picture = page.locator(`[data-state=${status === 0 ? 'failed' : name}]`).or(page.locator('.health-line'));
        await picture.first().waitFor();
        said[name] = await picture.count();
        if (status === 500) await page.getByText('r-17').or(page.locator('.health-line')).first().waitFor();
        if (status === 0)
          await page.getByText('The server is not responding').or(page.locator('.health-line')).first().waitFor();
        await page.unroute(cut);
        if (status !== 0) continue;
        for (const again of await page.getByRole('button', { name: 'Try again' }).all())
          await again.click().catch(() => {});
        await eventually(async () => expect(await page.locator('[data-state=failed]').count()).toBe(0));
      }
      expect(Object.values(said).every((count) => count > 0)).toBe(true);
      await page.context().close();
    },
  );
});

it('console-001, console-048: only sends requests to its own host and documented routes, without content security policy violations', async () => {
  const complaints = watched.flatMap((one) => one.complaints);
  const elsewhere = watched.flatMap((one) =>
    one.asked.filter(({ url }) => !url.startsWith(new URL(console.address('')).origin)),
  );
  expect([complaints, elsewhere]).toEqual([[], []]);
  const asked = watched.flatMap((one) => one.asked);
  expect(await undocumented(asked, new URL(console.address('')).origin)).toEqual([]);
  expect(asked.length).toBeGreaterThan(10 * everyPage.length);
});
