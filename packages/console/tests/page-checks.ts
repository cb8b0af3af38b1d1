// Checks for every page. Each check returns a list of problems.
import type { Page } from 'playwright-core';
import { runAxeInBothThemes } from './start-console.ts';

const sizes = {
  desk: { width: 1280, height: 800 },
  phone: { width: 360, height: 640 },
  zoomed: { width: 320, height: 256 },
};

/**
 * Checks a page in both themes, on a phone, at 400% zoom and on a very wide screen.
 * @param hasThemes whether to run axe in both themes, which takes longest
 */
export async function findPageProblems(page: Page, { hasThemes = true } = {}): Promise<string[]> {
  await page.emulateMedia({ colorScheme: 'light' });
  const found = hasThemes ? await runAxeInBothThemes(page, { isWhole: true }) : [];
  found.push(...(await headingProblems(page)), ...(await motions(page)));
  for (const [name, size] of Object.entries(sizes)) {
    await page.setViewportSize(size);
    found.push(...(await wideAt(page)).map((one) => `${name}: ${one}`));
  }
  // Only the width matters. A page with this width and its full height takes long to paint.
  await page.setViewportSize({ width: 3840, height: 256 });
  found.push(...(await longLines(page)));
  await page.setViewportSize(sizes.desk);
  return found;
}

/** Returns problems with headings. A page must have exactly one first-level heading, and must not skip levels. */
const headingProblems = (page: Page) =>
  page.evaluate(() => {
    const levels = [...document.querySelectorAll('h1, h2, h3, h4, h5, h6')]
      .filter((heading) => heading.checkVisibility())
      .map(({ tagName, textContent }) => ({ level: Number(tagName[1]), text: textContent }));
    const skips = levels.filter(({ level }, at) => level > (levels[at - 1]?.level ?? 0) + 1);
    const first = levels.filter(({ level }) => level === 1).length;
    return [
      ...(first === 1 ? [] : [`${first} headings of the first level`]),
      ...skips.map(({ level, text }) => `a heading of level ${level} after less: ${text}`),
    ];
  });

/** Returns the animations that run even though the user prefers reduced motion. */
const motions = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('*')].flatMap((element) => {
      const { animationName, animationDuration, transitionDuration } = getComputedStyle(element);
      const isStill = (durations: string) =>
        durations.split(',').every((duration) => Number.parseFloat(duration) < 0.05);
      const moves = (animationName !== 'none' && !isStill(animationDuration)) || !isStill(transitionDuration);
      return moves ? [`moves: ${element.className}`] : [];
    }),
  );

const wideAt = (page: Page) =>
  page.evaluate(() => {
    const { scrollWidth } = document.documentElement;
    return scrollWidth > innerWidth ? [`${scrollWidth} px in ${innerWidth}`] : [];
  });

/** Returns paragraphs with lines that are too long to read on a very wide screen. */
const longLines = (page: Page) =>
  page.evaluate(() =>
    [...document.querySelectorAll('main p')].flatMap((paragraph) => {
      const range = document.createRange();
      range.selectNodeContents(paragraph);
      const { width } = range.getBoundingClientRect();
      return paragraph.checkVisibility() && width > 1200 ? [`a line of ${width} px: ${paragraph.textContent}`] : [];
    }),
  );

/**
 * Checks that Tab reaches every control in both directions, that the focused control is visible, and that the first
 * control skips the navigation.
 */
export async function findKeyboardProblems(page: Page): Promise<string[]> {
  await page.evaluate(() => {
    document.body.tabIndex = -1;
    document.body.focus();
    document.body.removeAttribute('tabindex');
  });
  await page.keyboard.press('Tab');
  const first = await page.evaluate(() => document.activeElement?.className);
  const problems = first === 'skip' ? [] : [`the first stop is ${first}`];
  const wanted = await page.evaluate(() => {
    const all = [
      ...document.querySelectorAll<HTMLElement>('a[href], button, input, select, textarea, summary, [tabindex="0"]'),
    ];
    const stops = all.filter(
      (element) => element.tabIndex >= 0 && element.checkVisibility() && !element.matches(':disabled'),
    );
    // Tab reaches only one radio button in a group. The arrow keys reach the others.
    const isInGroup = (element: HTMLElement) =>
      element instanceof HTMLInputElement && element.type === 'radio' && !element.checked;
    const meant = stops.filter((element) => !isInGroup(element));
    for (const [at, element] of meant.entries()) element.dataset.stop = String(at);
    return meant.map((element) => element.outerHTML.slice(0, 160));
  });
  const reached = new Set<number>();
  for (let at = 0; at < wanted.length + 20 && reached.size < wanted.length; at += 1) {
    const stop = await page.evaluate(() => {
      const element = document.activeElement;
      if (!(element instanceof HTMLElement) || element === document.body) return null;
      // The focus outline may be on the element itself, on the field around it, or on the row that it opens.
      const frame = element.closest('label, .search, .list, .filter-values') ?? element;
      const isSeen = [element, frame].some((one) =>
        ['', '::after'].some((part) => {
          const { outlineStyle, outlineWidth, content, borderStyle } = getComputedStyle(one, part);
          const hasOutline = outlineStyle !== 'none' && Number.parseFloat(outlineWidth) >= 1;
          return hasOutline || (part !== '' && content !== 'none' && borderStyle === 'solid');
        }),
      );
      return { at: Number(element.dataset.stop ?? -1), isSeen, html: element.outerHTML.slice(0, 160) };
    });
    if (stop) {
      // The list of controls does not include elements in a shadow root, such as those of the SQL editor.
      if (stop.at >= 0) reached.add(stop.at);
      if (!stop.isSeen) problems.push(`focus is not seen: ${stop.html}`);
    }
    await page.keyboard.press('Tab');
  }
  return [...problems, ...wanted.filter((_, at) => !reached.has(at)).map((html) => `not reached: ${html}`)];
}
