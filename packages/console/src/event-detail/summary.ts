// Summarizes an event for lists.

import { isSdkProperty } from '../parts/properties.ts';
import { escapeInvisible } from './json-text.ts';

const maxOwn = 3;
/** Maximum length of a custom property's value, so that a long value leaves room for other properties. */
const maxCharacters = 40;

/**
 * Returns a summary of an event's properties. Custom properties come first, followed by the page or screen, the browser
 * and the location. The summary always includes the page URL.
 */
export function summarizeProperties(properties: Record<string, unknown>): string {
  const { $current_url: url, $screen_name: screen, $browser: browser, $os: os } = properties;
  const own = Object.keys(properties).filter((name) => !isSdkProperty(name) && properties[name] !== null);
  return [
    ...own.slice(0, maxOwn).map((name) => `${escapeInvisible(name)} ${cut(formatValue(properties[name]))}`),
    formatValue(url ?? screen),
    formatValue(browser ?? os),
    formatValue(properties.$geoip_country_name ?? properties.$geoip_city_name),
  ]
    .filter((part) => part !== '')
    .join(' · ');
}

const cut = (text: string) => (text.length > maxCharacters ? `${text.slice(0, maxCharacters)}…` : text);

export function formatValue(value: unknown): string {
  if (value === undefined || value === null) return '';
  if (typeof value === 'string') return escapeInvisible(value.slice(0, 120));
  if (Array.isArray(value)) return `[${value.length}]`;
  return typeof value === 'object' ? '{…}' : String(value);
}
