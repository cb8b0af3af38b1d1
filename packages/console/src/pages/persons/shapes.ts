// Persons in the API's format, and strings that describe their location and device.

import { escapeInvisible } from '../../event-detail/json-text.ts';

export interface Person {
  uuid: string;
  name: string;
  distinct_ids: string[];
  properties: Record<string, unknown>;
  is_identified: boolean;
  created_at: string;
  /** Time of the latest event. Null unless requested. */
  last_seen_at: string | null;
}

export interface Cursor<Item> {
  results: Item[];
  next: string | null;
}

/** Returns a person's last location from the GeoIP properties, which the server adds to events. */
export const formatLocation = ({ $geoip_city_name: city, $geoip_country_name: country }: Record<string, unknown>) =>
  texts([city, country]).join(', ');

/** Returns the browser and device that a person last used, for example `Firefox · Linux · Desktop`. */
export function formatDevice({
  $browser: browser,
  $os: os,
  $device_type: type,
  $device_model: model,
}: Record<string, unknown>) {
  const program = texts([browser, os]).join(' · ');
  return texts([program, model ?? type]).join(' · ');
}

const texts = (values: unknown[]) =>
  values.filter((value): value is string => typeof value === 'string' && value !== '').map(escapeInvisible);
