import { eventually } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { type RunningConsole, runAxe, startConsole } from './start-console.ts';
import { everyPage, type Watched, watchVisitor } from './visit-pages.ts';

let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole();
});
afterAll(() => console?.stop());

const docs = (path = '') => new URL(`/console/docs${path}`, console.address('')).href;
const focused = (page: Page) => page.evaluate<string>('document.activeElement.id');

describe('the documentation pages', () => {
  it('shows the index, finds a section and opens it, without a session or requests to other hosts', async () => {
    const watched: Watched[] = [];
    const page = await console.open('../../docs', {
      prepare: async (visitor) => void watched.push(watchVisitor(visitor)),
    });
    await page.context().setExtraHTTPHeaders({});
    await page.getByRole('searchbox').fill('dead letters replay');
    const found = page.getByRole('list', { name: 'Search results' }).getByRole('link');
    await found.first().waitFor();
    const heading = String(await found.first().evaluate((link) => link.firstChild?.textContent));
    await found.first().click();
    await page.getByRole('heading', { name: heading, exact: true }).first().waitFor();
    await page.getByRole('searchbox').fill('zzzzqq');
    await page.getByText('No section matches your search.').waitFor();
    expect(await runAxe(page, { isWhole: true })).toEqual([]);
    expect(watched.flatMap(({ complaints }) => complaints)).toEqual([]);
    const addresses = watched.flatMap(({ asked }) => asked.map(({ url }) => url));
    expect(addresses.filter((address) => !address.startsWith(docs().replace(/docs$/, '')))).toEqual([]);
    await page.context().close();
  });

  it('opens the section in the URL, follows links, and reports an unknown document', async () => {
    const page = await console.newPage();
    await page.goto(docs('/ingestion-rules#dead-letters'));
    await eventually(async () => expect(await focused(page)).toBe('dead-letters'));
    await page.goto(docs('/operations/install'));
    await page.getByRole('main').getByRole('link').first().waitFor();
    const links = await page
      .getByRole('main')
      .getByRole('link')
      .evaluateAll((all) => all.map((link) => link.getAttribute('href') ?? ''));
    const inside = links.filter((address) => address.startsWith('/console/docs/'));
    expect(inside.length).toBeGreaterThan(0);
    await page.goto(new URL(inside[0] ?? '', docs()).href);
    await page.getByRole('heading', { level: 1 }).waitFor();
    await page.goto(docs('/no-such-document'));
    await page.locator('[data-state=gone]').waitFor();
    await page.context().close();
  });

  it('shows an error if a document cannot be loaded', async () => {
    const page = await console.open('../../docs');
    await page.getByRole('main').getByRole('link').first().waitFor();
    await page.route(/\/assets\/glossary-/, (route) => route.abort());
    await page.goto(docs('/glossary'));
    await page.getByRole('alert').getByRole('button', { name: 'Reload' }).waitFor();
    await page.context().close();
  });

  it.each(everyPage)('opens a document from the Help link on the page %s', async (path) => {
    const page = await console.open(path);
    const help = page.getByRole('link', { name: 'Help (opens in a new window)' });
    const address = String(await help.getAttribute('href'));
    expect(address).toMatch(/\/console\/docs\/./);
    await page.goto(new URL(address, docs()).href);
    await page.getByRole('main').getByRole('heading', { level: 1 }).waitFor();
    await page.context().close();
  });
});
