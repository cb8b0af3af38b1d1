/** Readable names of the properties that SDKs set, as PostHog's interface calls them. Other properties are shown by their own names. */
const names: Record<string, string> = {
  $current_url: 'Current URL',
  $pathname: 'Path name',
  $host: 'Host',
  $screen_name: 'Screen name',
  $referrer: 'Referrer URL',
  $referring_domain: 'Referring domain',
  $prev_pageview_pathname: 'Previous path name',
  $prev_pageview_duration: 'Previous pageview duration',
  $browser: 'Browser',
  $browser_version: 'Browser version',
  $browser_language: 'Browser language',
  $browser_language_prefix: 'Browser language prefix',
  $raw_user_agent: 'Raw user agent',
  $user_agent: 'User agent',
  $os: 'OS',
  $os_name: 'OS name',
  $os_version: 'OS version',
  $device: 'Device',
  $device_id: 'Device ID',
  $device_type: 'Device type',
  $device_name: 'Device name',
  $device_model: 'Device model',
  $device_manufacturer: 'Device manufacturer',
  $screen_height: 'Screen height',
  $screen_width: 'Screen width',
  $viewport_height: 'Viewport height',
  $viewport_width: 'Viewport width',
  $locale: 'Locale',
  $timezone: 'Time zone',
  $timezone_offset: 'Time zone offset',
  $ip: 'IP address',
  $geoip_country_name: 'Country',
  $geoip_country_code: 'Country code',
  $geoip_continent_name: 'Continent',
  $geoip_continent_code: 'Continent code',
  $geoip_subdivision_1_name: 'Region',
  $geoip_subdivision_1_code: 'Region code',
  $geoip_subdivision_2_name: 'Second region',
  $geoip_subdivision_2_code: 'Second region code',
  $geoip_city_name: 'City',
  $geoip_postal_code: 'Postal code',
  $geoip_latitude: 'Latitude',
  $geoip_longitude: 'Longitude',
  $geoip_time_zone: 'Time zone by location',
  $geoip_accuracy_radius: 'Location accuracy radius',
  $geoip_disable: 'GeoIP disabled',
  $app_name: 'App name',
  $app_version: 'App version',
  $app_build: 'App build',
  $app_namespace: 'App namespace',
  $network_carrier: 'Network carrier',
  $network_cellular: 'Cellular network',
  $network_wifi: 'Wi-Fi network',
  $lib: 'Library',
  $lib_version: 'Library version',
  $session_id: 'Session ID',
  $window_id: 'Window ID',
  $pageview_id: 'Pageview ID',
  $insert_id: 'Insert ID',
  $user_id: 'User ID',
  $anon_distinct_id: 'Anonymous distinct ID',
  $is_identified: 'Is identified',
  $process_person_profile: 'Process person profile',
  $time: 'Client time',
  $sent_at: 'Sent at',
  $set: 'Person properties to set',
  $set_once: 'Person properties to set once',
  $unset: 'Person properties to unset',
  $groups: 'Groups',
  $group_type: 'Group type',
  $group_key: 'Group key',
  $group_set: 'Group properties to set',
  $group_0: 'Group 1',
  $group_1: 'Group 2',
  $group_2: 'Group 3',
  $group_3: 'Group 4',
  $group_4: 'Group 5',
  $feature_flag: 'Feature flag',
  $feature_flag_response: 'Feature flag response',
  $feature_flag_payload: 'Feature flag payload',
  $active_feature_flags: 'Active feature flags',
  $event_type: 'Event type',
  $el_text: 'Element text',
  $elements: 'Elements',
  $elements_chain: 'Elements chain',
  $exception_type: 'Exception type',
  $exception_message: 'Exception message',
  $exception_list: 'Exceptions',
  $session_duration: 'Session duration',
  $entry_current_url: 'Entry URL',
  $entry_pathname: 'Entry path name',
  $end_current_url: 'Exit URL',
  $end_pathname: 'Exit path name',
  $exit_current_url: 'Exit URL',
  $exit_pathname: 'Exit path name',
  $channel_type: 'Channel type',
  $is_bounce: 'Is bounce',
  $email: 'Email address',
  utm_source: 'UTM source',
  utm_medium: 'UTM medium',
  utm_campaign: 'UTM campaign',
  utm_content: 'UTM content',
  utm_term: 'UTM term',
  token: 'Project API key',
  distinct_id: 'Distinct ID',
};

const prefixes = { $initial_: 'Initial', $latest_: 'Latest' };

/** `$current_url` → `Current URL`, `$initial_utm_source` → `Initial UTM source`, `$feature/beta` → `Feature flag: beta`. */
export function propertyName(key: string): string {
  if (Object.hasOwn(names, key)) return names[key] ?? key;
  if (key.startsWith('$feature/')) return `Feature flag: ${key.slice('$feature/'.length)}`;
  for (const [prefix, word] of Object.entries(prefixes)) {
    if (!key.startsWith(prefix)) continue;
    const rest = key.slice(prefix.length);
    const name = names[`$${rest}`] ?? names[rest];
    if (name !== undefined)
      return `${word} ${/^[A-Z][a-z]/.test(name) ? name.charAt(0).toLowerCase() + name.slice(1) : name}`;
  }
  return key;
}

/** Whether the key or its readable name contains what is typed. */
export function matchesProperty(key: string, typed: string): boolean {
  const needle = typed.trim().toLowerCase();
  return key.toLowerCase().includes(needle) || propertyName(key).toLowerCase().includes(needle);
}

/** Properties of the SDK that tell most readers something, in the order in which they are shown. */
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

/** Set by the SDK without `$`: the public key and the ID that every event has anyway. */
const withoutDollar = new Set(['token', 'distinct_id']);

export const isOfSdk = (key: string): boolean => key.startsWith('$') || withoutDollar.has(key);

/** The usual properties that are there, in order. */
export const usualOf = (has: (key: string) => boolean): string[] => usual.filter(has);
