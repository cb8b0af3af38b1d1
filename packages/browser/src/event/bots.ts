import { page } from '../page/globals.ts';

/** Crawlers name themselves; a driven browser says so. */
export function isBot(): boolean {
  const navigator = page?.navigator;
  return navigator?.webdriver === true || /bot|crawler|spider|headless/i.test(navigator?.userAgent ?? '');
}
