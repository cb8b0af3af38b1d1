// What a line of a list says of an event.

import { visible } from './json-text.ts';

const toldOfSdk = ['$current_url', '$screen_name', '$browser', '$os', '$geoip_city_name'];

/** The first few properties that say something: those the program set, then those of the page and the browser. */
export function summaryOf(properties: Record<string, unknown>): string {
  const own = Object.keys(properties).filter((name) => !name.startsWith('$') && properties[name] !== null);
  const told = [...own, ...toldOfSdk.filter((name) => name in properties)].slice(0, 3);
  return told
    .map((name) => (name.startsWith('$') ? shown(properties[name]) : `${visible(name)} ${shown(properties[name])}`))
    .join(' · ');
}

/** A value in a cell of a list. */
export function shown(value: unknown): string {
  if (value === undefined) return '';
  if (typeof value === 'string') return visible(value.slice(0, 120));
  if (Array.isArray(value)) return `[${value.length}]`;
  return typeof value === 'object' && value !== null ? '{…}' : String(value);
}
