import { eventually, sampleOf, storySize } from '@millrace/testing';
import type { BrowserContext } from 'playwright-core';
import { fillCornerShop, shopTime, views } from './corner-shop.ts';
import { findKeyboardProblems, findPageProblems } from './page-checks.ts';
import { type RunningConsole, startConsole } from './start-console.ts';
import { everyPage, findUndocumentedRequests, visitShop, type Watched, watchVisitor } from './visit-pages.ts';

/** Checks every page and every settings section. To test a new page, add a row to each of the tables below. */
let console: RunningConsole;
const watched: Watched[] = [];
beforeAll(async () => {
  console = await startConsole({ clock: shopTime });
});
afterAll(() => console?.stop());

/** Error responses to a page's requests, and the state that the page must show for each. */
const failures = [
  ['refused', 403],
  ['gone', 404],
  ['failed', 500],
  ['unreachable', 0],
] as const;

interface Visit {
  isOpen?: boolean;
  prepare?: (visitor: BrowserContext) => Promise<unknown>;
}

const visit = (path: string, { isOpen = true, prepare = async () => {} }: Visit = {}) =>
  visitShop(console, path, {
    isOpen,
    prepare: (visitor) => {
      watched.push(watchVisitor(visitor));
      return prepare(visitor);
    },
  });

/** Selects half of the pages, or all of them in the long tests. */
const halfOfPages = (turn: number) => sampleOf(everyPage, { count: Math.ceil(everyPage.length / 2), turn });

describe('a project without data', () => {
  it.each(halfOfPages(0))('console-007, console-038, console-042: the page %s passes all page checks', async (path) => {
    const page = await visit(path, { isOpen: false });
    // The tests with data below run axe on each page in both themes. The long tests also run axe on empty pages.
    expect(await findPageProblems(page, { hasThemes: storySize(0, 1) === 1 })).toEqual([]);
    await page.context().close();
  });
});

describe("a project with a shop's data", () => {
  beforeAll(() => fillCornerShop(console));

  it.each(everyPage)('console-038, console-039, console-042: the page %s passes all page checks', async (path) => {
    const page = await visit(views[path] ?? path);
    const hasKeyboard = halfOfPages(1).includes(path);
    expect([...(await findPageProblems(page)), ...(hasKeyboard ? await findKeyboardProblems(page) : [])]).toEqual([]);
    // The check is useless on an empty page. If a page is empty, add data for it to corner-shop.ts.
    expect([path, await page.locator('[data-state=empty]').count()]).toEqual([path, 0]);
    await page.context().close();
  });

  it.each(everyPage)(
    'console-007, console-008: %s shows loading, refused, not found, failed and offline states, and recovers',
    async (path) => {
      const { [path]: address = path } = views;
      // Matches all API requests except those of the frame.
      const cut = /\/api\/(?!users\/@me\/?$|projects\/\d+\/?(health)?$)/;
      const chosen = sampleOf(failures, { count: 1, turn: everyPage.indexOf(path) });
      let failure: (typeof failures)[number] | null = chosen[0] ?? null;
      const page = await visit(address, {
        prepare: (visitor) =>
          visitor.route(cut, (route) => {
            if (failure === null) return route.fallback();
            const [code, status] = failure;
            if (status === 0) return route.abort();
            const headers = { 'x-request-id': 'r-17' };
            return route.fulfill({ status, headers, json: { code, detail: 'Because of a test.' } });
          }),
      });
      const said: Record<string, number> = {};
      for (const [at, one] of chosen.entries()) {
        const [name, status] = one;
        failure = one;
        if (at > 0) await page.goto(console.address(address));
        const picture = page.locator(`[data-state=${status === 0 ? 'failed' : name}]`).or(page.locator('.health-line'));
        await picture.first().waitFor();
        said[name] = await picture.count();
        if (status === 500) await page.getByText('r-17').or(page.locator('.health-line')).first().waitFor();
        if (status === 0)
          await page.getByText('The server is not responding').or(page.locator('.health-line')).first().waitFor();
        failure = null;
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

it('console-001, console-048: requests only its own host and documented routes, without violating its security policy', async () => {
  const complaints = watched.flatMap((one) => one.complaints);
  const elsewhere = watched.flatMap((one) =>
    one.asked.filter(({ url }) => !url.startsWith(new URL(console.address('')).origin)),
  );
  expect([complaints, elsewhere]).toEqual([[], []]);
  const asked = watched.flatMap((one) => one.asked);
  expect(await findUndocumentedRequests(asked, new URL(console.address('')).origin)).toEqual([]);
  expect(asked.length).toBeGreaterThan(10 * everyPage.length);
});
