import { sampleOf } from '@millrace/testing';
import type { BrowserContext, Page } from 'playwright-core';
import { fillCornerShop, shopTime, views } from './corner-shop.ts';
import { type RunningConsole, startConsole } from './start-console.ts';
import { everyPage, visitShop } from './visit-pages.ts';

/**
 * Runs the console with every string of the `words.ts` files wrapped in ⟦ and ⟧. Any other text on a page is either
 * data or missing from these files.
 */
let console: RunningConsole;
beforeAll(async () => {
  console = await startConsole({ marksWords: true, clock: shopTime });
});
afterAll(() => console?.stop());

/** Returns every string on a page, including those for screen readers. Omits code samples and names (`translate`). */
const textsOfPage = (page: Page) =>
  page.evaluate(() => {
    const texts: string[] = [document.title];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
      const isCode = node.parentElement?.closest('pre, code, kbd, .mono, .key, script, noscript, [translate=no]');
      // A sentence that contains code counts as one string.
      const around = node.parentElement;
      const isAround = around?.textContent?.includes('⟦') && around.querySelector(':scope > code') !== null;
      const text = isAround ? node.parentElement?.textContent : node.nodeValue;
      if (!isCode && node.parentElement?.checkVisibility()) texts.push(text ?? '');
    }
    for (const element of document.querySelectorAll('*'))
      for (const name of ['aria-label', 'title', 'placeholder', 'alt', 'aria-description', 'aria-valuetext'])
        texts.push(element.getAttribute(name) ?? '');
    return texts;
  });

/** Removes marked strings, and also the output of `Intl` and of the duration formatter. */
function unmarked(text: string): string {
  let rest = text;
  for (let before = ''; before !== rest; ) {
    before = rest;
    rest = rest.replaceAll(/⟦[^⟦⟧]*⟧/gu, ' ');
  }
  return rest
    .replaceAll(/\b(Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun)\b/g, ' ')
    .replaceAll(/\b\d+ (d|h|min|s|ms)\b/g, ' ')
    .replaceAll(
      /\b(in )?\d+ (second|minute|hour|day|week|month|year)s?( ago)?\b|\b(yesterday|tomorrow|UTC|(last|next|this) (week|month|year))\b/g,
      ' ',
    )
    .trim();
}

/** Returns the strings in a response: all values, and the names of properties and warning details. */
function textsIn(value: unknown, isProperties = false): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return [
    ...(isProperties && !Array.isArray(value) ? Object.keys(value) : []),
    ...Object.entries(value).flatMap(([name, one]) => textsIn(one, /properties|details/.test(name))),
  ];
}

function parseOrNull(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

describe.each([false, true])('pages with data: %s', (isFilled) => {
  beforeAll(async () => {
    if (isFilled) await fillCornerShop(console);
  });

  // In `npm test`, only a fifth of the pages is also tested without data.
  const fifth = sampleOf(everyPage, { count: Math.ceil(everyPage.length / 5), turn: 0 });
  it.each(isFilled ? everyPage : fifth)(
    'console-043: takes every interface string of %s from its words.ts',
    async (path) => {
      const data = new Set<string>();
      const reads: Promise<void>[] = [];
      const note = (response: string) => {
        const body = response.replaceAll(/^(event|data): /gm, '');
        for (const line of body.startsWith('{') ? [body] : body.split('\n'))
          for (const text of textsIn(parseOrNull(line))) data.add(text);
      };
      const prepare = (visitor: BrowserContext) => {
        visitor.on('response', (response) => {
          // Skip the response of an open stream, because it never ends.
          if (isFilled || !response.url().includes('/live/events')) reads.push(response.text().then(note, () => {}));
        });
      };
      const page = await visitShop(console, isFilled ? (views[path] ?? path) : path, { isOpen: isFilled, prepare });
      const texts = await textsOfPage(page);
      // Wait for the responses, because they contain all data on the page.
      await Promise.all(reads);
      const outside = new Set<string>();
      const all = [...data];
      const isData = (text: string) => !/\p{L}{2}/u.test(text) || all.some((one) => one.includes(text));
      for (const text of texts) {
        // Some strings consist of property names and values, such as `path /shelf · results 12`.
        const parts = unmarked(text)
          .replaceAll('"', '')
          .split(/ *[·\n] */);
        const isKnown = (part: string) =>
          isData(part) || (data.has(part.split(' ')[0] ?? '') && isData(part.replace(/^\S+ /, '')));
        if (!parts.every(isKnown)) outside.add(text);
      }
      expect(await page.getByText('⟦').count()).toBeGreaterThan(10);
      expect([...outside]).toEqual([]);
      expect(await page.locator('html').getAttribute('lang')).toBe('en');
      await page.context().close();
    },
  );
});
