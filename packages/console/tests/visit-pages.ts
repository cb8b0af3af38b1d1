import { eventually } from '@millrace/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { sections } from '../src/pages/settings/sections.ts';
import { pages } from '../src/pages.ts';
import { shopTime, simulateConsumer } from './corner-shop.ts';
import type { RunningConsole } from './start-console.ts';

/** Paths of all pages and settings sections, relative to the project. */
export const everyPage = pages.flatMap(({ path }) =>
  path === 'settings' ? sections.map((section) => `settings/${section.path}`) : [path],
);

/**
 * Opens a page with the shop's clock, and waits until the page has loaded.
 * @param isOpen whether to simulate a running consumer, for a shop with events
 * @param prepare a function that runs before the page loads
 */
export async function visitShop(
  console: RunningConsole,
  path: string,
  { isOpen, prepare = () => {} }: { isOpen: boolean; prepare?: (visitor: BrowserContext) => unknown },
): Promise<Page> {
  const page = await console.openSignedIn(path, {
    prepare: async (visitor) => {
      await visitor.clock.setFixedTime(shopTime);
      if (isOpen) await simulateConsumer(visitor);
      await prepare(visitor);
    },
  });
  await waitForRequests(page);
  return page;
}

export async function waitForRequests(page: Page): Promise<void> {
  await page.locator('h1, [data-state]').first().waitFor();
  await eventually(async () => (await page.locator('.waiting, [aria-busy=true]').count()) === 0, {
    what: `the end of loading ${page.url()}`,
  });
}

export interface Watched {
  /** Violations of the content security policy, and errors that scripts threw. */
  complaints: string[];
  asked: { method: string; url: string }[];
}

export function watchVisitor(visitor: BrowserContext): Watched {
  const watched: Watched = { complaints: [], asked: [] };
  visitor.on('weberror', (error) => watched.complaints.push(error.error().message));
  visitor.on('console', (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) watched.complaints.push(message.text());
  });
  visitor.on('request', (request) => watched.asked.push({ method: request.method(), url: request.url() }));
  return watched;
}

export async function findUndocumentedRequests(asked: Watched['asked'], apiUrl: string): Promise<string[]> {
  const document = (await (await fetch(`${apiUrl}/api/schema`)).json()) as {
    paths: Record<string, Record<string, unknown>>;
  };
  const routes = Object.entries(document.paths).flatMap(([path, methods]) => {
    const pattern = new RegExp(`^${path.replace(/\/$/, '').replaceAll(/\{[^}]+\}/g, '[^/]+')}/?$`);
    return Object.keys(methods).map((method) => ({ method: method.toUpperCase(), pattern }));
  });
  return asked
    .map(({ method, url }) => ({ method, path: new URL(url).pathname }))
    .filter(({ path }) => path.startsWith('/api/'))
    .filter(({ method, path }) => !routes.some((route) => route.method === method && route.pattern.test(path)))
    .map(({ method, path }) => `${method} ${path}`);
}
