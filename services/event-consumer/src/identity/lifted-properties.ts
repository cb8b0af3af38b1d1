import type { JsonObject } from '@millrace/contracts';
import { isJsonObject, objectOrEmpty, overlaid } from '../intake/json-object.ts';

/**
 * Event properties that also describe the person (reference/event-processing.md 6.2). Each goes to `$set` under its own
 * name and to `$set_once` as `$initial_…`. `$os_name` is missing: it is another name of `$os`.
 */
const appKeys = ['$app_build', '$app_name', '$app_namespace', '$app_version'];
const deviceKeys = [
  '$browser',
  '$browser_version',
  '$device_type',
  '$current_url',
  '$pathname',
  '$os',
  '$os_version',
  '$referring_domain',
  '$referrer',
  '$screen_height',
  '$screen_width',
  '$viewport_height',
  '$viewport_width',
  '$raw_user_agent',
];
const campaignKeys = [
  'utm_source',
  'utm_medium',
  'utm_campaign',
  'utm_content',
  'utm_name',
  'utm_term',
  'gclid',
  'gad_source',
  'gclsrc',
  'dclid',
  'gbraid',
  'wbraid',
  'fbclid',
  'msclkid',
  'twclid',
  'li_fat_id',
  'mc_cid',
  'igshid',
  'ttclid',
  'rdt_cid',
  'irclid',
  '_kx',
  'epik',
  'qclid',
  'sccid',
];

/** A server's own operating system says nothing about the person it reports on. */
const serverKeys = new Set(['$os', '$os_version']);

const initialNames = new Map(
  [...appKeys, ...deviceKeys, ...campaignKeys].map((key) => [key, `$initial_${key.replace(/^\$/, '')}`]),
);

/**
 * `$os_name` is how mobile SDKs call `$os`: it fills `$os` where that is missing, and does not stay beside it in the two
 * person updates. Not for servers.
 */
export function foldOperatingSystem(properties: JsonObject): JsonObject {
  if (isFromServer(properties)) return properties;
  let folded = properties;
  if (Object.hasOwn(properties, '$os_name') && !Object.hasOwn(properties, '$os')) {
    folded = { ...folded, $os: properties.$os_name };
  }
  const set = renameKey(properties.$set, '$os_name', '$os');
  if (set !== null) folded = { ...folded, $set: set };
  const setOnce = renameKey(properties.$set_once, '$initial_os_name', '$initial_os');
  if (setOnce !== null) folded = { ...folded, $set_once: setOnce };
  return folded;
}

/**
 * Adds the lifted properties to `$set` and `$set_once`, where they are also stored. What the client set itself wins.
 * Returns the object it was given when there is nothing to lift.
 */
export function liftPersonProperties(properties: JsonObject): JsonObject {
  const isServer = isFromServer(properties);
  let set: JsonObject | null = null;
  let setOnce: JsonObject | null = null;
  for (const key of Object.keys(properties)) {
    const initialName = initialNames.get(key);
    if (initialName === undefined || (isServer && serverKeys.has(key))) continue;
    set ??= { ...objectOrEmpty(properties.$set) };
    setOnce ??= { ...objectOrEmpty(properties.$set_once) };
    if (!Object.hasOwn(set, key)) set[key] = properties[key];
    if (!Object.hasOwn(setOnce, initialName)) setOnce[initialName] = properties[key];
  }
  return set === null ? properties : overlaid(properties, { $set: set, $set_once: setOnce });
}

function isFromServer(properties: JsonObject): boolean {
  return properties.$is_server === true;
}

/** The object with `from` folded into `to`, which wins when both are there; null when there is nothing to fold. */
function renameKey(object: unknown, from: string, to: string): JsonObject | null {
  if (!isJsonObject(object) || !Object.hasOwn(object, from)) return null;
  const { [from]: value, ...rest } = object;
  return Object.hasOwn(rest, to) ? rest : { ...rest, [to]: value };
}
