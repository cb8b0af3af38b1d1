// Readable names of the properties that SDKs set. Other properties are shown with their original names.

import { text } from './properties/words.ts';

const { names } = text;

const prefixes = { $initial_: text.initial, $latest_: text.latest };

/**
 * Returns a readable name. For example, `$current_url` becomes `Current URL`, `$initial_utm_source` becomes `Initial
 * UTM source`, and `$feature/beta` becomes `Feature flag: beta`.
 */
export function formatPropertyName(key: string): string {
  if (Object.hasOwn(names, key)) return names[key] ?? key;
  if (key.startsWith('$feature/')) return text.flag(key.slice('$feature/'.length));
  for (const [prefix, withPrefix] of Object.entries(prefixes)) {
    if (!key.startsWith(prefix)) continue;
    const rest = key.slice(prefix.length);
    const name = names[`$${rest}`] ?? names[rest];
    // Names that begin with an abbreviation, such as `OS` or `UTM source`, keep their capital letters.
    if (name !== undefined)
      return withPrefix(/^[A-Z][a-z]/.test(name) ? `${name.charAt(0).toLowerCase()}${name.slice(1)}` : name);
  }
  return key;
}

export function matchesProperty(key: string, typed: string): boolean {
  const needle = typed.trim().toLowerCase();
  return key.toLowerCase().includes(needle) || formatPropertyName(key).toLowerCase().includes(needle);
}

/** SDK properties that are useful to most users, in display order. */
const usual = [
  '$current_url',
  '$screen_name',
  '$referrer',
  '$browser',
  '$os',
  '$device_type',
  '$geoip_country_name',
  '$geoip_city_name',
  '$app_version',
  '$lib',
];

/**
 * SDK properties whose names do not begin with `$`: the project's API key, and the distinct ID, which is also a field
 * of every event.
 */
const withoutDollar = new Set(['token', 'distinct_id']);

export const isSdkProperty = (key: string): boolean => key.startsWith('$') || withoutDollar.has(key);

export const selectUsualProperties = (has: (key: string) => boolean): string[] => usual.filter(has);
