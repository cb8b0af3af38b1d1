// The summary of an event in a list.

import { isOfSdk } from '../parts/properties.ts';
import { visible } from './json-text.ts';

const mostOwn = 3;
/** Of an own value, so that there is space for the others. */
const mostCharacters = 40;

/** Properties that the program set, then the page or screen, the browser and the place. The address of the page is always among them. */
export function summaryOf(properties: Record<string, unknown>): string {
  const { $current_url: url, $screen_name: screen, $browser: browser, $os: os } = properties;
  const own = Object.keys(properties).filter((name) => !isOfSdk(name) && properties[name] !== null);
  return [
    ...own.slice(0, mostOwn).map((name) => `${visible(name)} ${cut(shown(properties[name]))}`),
    shown(url ?? screen),
    shown(browser ?? os),
    shown(properties.$geoip_country_name ?? properties.$geoip_city_name),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

const cut = (text: string) => (text.length > mostCharacters ? `${text.slice(0, mostCharacters)}…` : text);

/** A value in a cell of a list. */
export function shown(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return visible(value.slice(0, 120));
  if (Array.isArray(value)) return `[${value.length}]`;
  return typeof value === 'object' ? '{…}' : String(value);
}
