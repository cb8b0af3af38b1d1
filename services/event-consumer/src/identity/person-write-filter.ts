import { eventNames } from '@millrace/contracts';

/**
 * Facts of the moment, not of the person. An event that changes nothing but these does not rewrite the person, else
 * every page view of a busy site would; the event's own copy still shows them
 * (docs/ingestion-rules.md#person-properties). Country and city, app versions, campaigns and everything initial are
 * missing on purpose.
 */
const filteredKeys = new Set([
  '$current_url',
  '$pathname',
  '$referring_domain',
  '$referrer',
  '$screen_height',
  '$screen_width',
  '$viewport_height',
  '$viewport_width',
  '$browser',
  '$browser_version',
  '$device_type',
  '$raw_user_agent',
  '$os',
  '$os_name',
  '$os_version',
  '$geoip_postal_code',
  '$geoip_time_zone',
  '$geoip_latitude',
  '$geoip_longitude',
  '$geoip_accuracy_radius',
  '$geoip_subdivision_1_code',
  '$geoip_subdivision_2_code',
  '$geoip_subdivision_3_code',
  '$geoip_subdivision_1_name',
  '$geoip_subdivision_2_name',
  '$geoip_subdivision_3_name',
  '$geoip_city_confidence',
  '$geoip_country_confidence',
  '$geoip_postal_code_confidence',
  '$geoip_subdivision_1_confidence',
  '$geoip_subdivision_2_confidence',
]);

/** Events about a person: whatever they change is written. */
const personEvents = new Set<string>([
  eventNames.identify,
  eventNames.createAlias,
  eventNames.mergeDangerously,
  eventNames.set,
]);

/** Events that say nothing about the person; they create one but never update it. */
const neverUpdating = new Set<string>([eventNames.exception, eventNames.heatmap]);

/** True when a change of this key alone, on a person that has it, is not worth a write. */
export function isFilteredKey(key: string): boolean {
  return filteredKeys.has(key);
}

export function isPersonEvent(name: string): boolean {
  return personEvents.has(name);
}

export function neverUpdatesPerson(name: string): boolean {
  return neverUpdating.has(name);
}
