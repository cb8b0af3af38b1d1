// Readable names of the properties that SDKs set. All other properties are shown under their own names.

import { text } from './properties/words.ts';

const { names } = text;

const prefixes = { $initial_: text.initial, $latest_: text.latest };

/** `$current_url` → `Current URL`, `$initial_utm_source` → `Initial UTM source`, `$feature/beta` → `Feature flag: beta`. */
export function propertyName(key: string): string {
  if (Object.hasOwn(names, key)) return names[key] ?? key;
  if (key.startsWith('$feature/')) return text.flag(key.slice('$feature/'.length));
  for (const [prefix, withPrefix] of Object.entries(prefixes)) {
    if (!key.startsWith(prefix)) continue;
    const rest = key.slice(prefix.length);
    const name = names[`$${rest}`] ?? names[rest];
    // `OS` and `UTM source` stay in capitals.
    if (name !== undefined)
      return withPrefix(/^[A-Z][a-z]/.test(name) ? `${name.charAt(0).toLowerCase()}${name.slice(1)}` : name);
  }
  return key;
}

/** Whether the key or its readable name contains the search text. */
export function matchesProperty(key: string, typed: string): boolean {
  const needle = typed.trim().toLowerCase();
  return key.toLowerCase().includes(needle) || propertyName(key).toLowerCase().includes(needle);
}

/** The SDK properties that are useful to most readers, in display order. */
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

/** Properties that SDKs set without a `$`: the project key and the ID that every event has anyway. */
const withoutDollar = new Set(['token', 'distinct_id']);

export const isOfSdk = (key: string): boolean => key.startsWith('$') || withoutDollar.has(key);

/** Returns the usual properties that exist, in display order. */
export const selectUsualProperties = (has: (key: string) => boolean): string[] => usual.filter(has);
