import { isObject, type JsonObject } from '@millrace/contracts';
import { objectOrEmpty } from '../values/json-object.ts';
import { type Overlay, propertyOf } from '../values/overlay.ts';

/**
 * Event properties that also describe the person (docs/ingestion-rules.md#person-properties). Each goes to `$set` under
 * its own name and to `$set_once` as `$initial_…`. `$os_name` is missing: it is another name of `$os`.
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
export function foldOperatingSystem(properties: Overlay): void {
  const { under, over } = properties;
  if (isFromServer(under)) return;
  if (Object.hasOwn(under, '$os_name') && !Object.hasOwn(under, '$os')) over.$os = under.$os_name;
  const set = renameKey(propertyOf(properties, '$set'), '$os_name', '$os');
  if (set !== null) over.$set = set;
  const setOnce = renameKey(propertyOf(properties, '$set_once'), '$initial_os_name', '$initial_os');
  if (setOnce !== null) over.$set_once = setOnce;
}

/**
 * Adds the lifted properties to `$set` and `$set_once`, where they are also stored. What the client set itself wins.
 * Nothing to lift changes nothing.
 */
export function liftPersonProperties(properties: Overlay): void {
  const { under, over } = properties;
  const isServer = isFromServer(under);
  let set: JsonObject | null = null;
  let setOnce: JsonObject | null = null;
  const lift = (key: string, value: unknown): void => {
    const initialName = initialNames.get(key);
    if (initialName === undefined || (isServer && serverKeys.has(key))) return;
    set ??= { ...objectOrEmpty(propertyOf(properties, '$set')) };
    setOnce ??= { ...objectOrEmpty(propertyOf(properties, '$set_once')) };
    if (!Object.hasOwn(set, key)) set[key] = value;
    if (!Object.hasOwn(setOnce, initialName)) setOnce[initialName] = value;
  };
  for (const key of Object.keys(under)) lift(key, under[key]);
  // The only one of them that the overlay may hold.
  if (Object.hasOwn(over, '$os')) lift('$os', over.$os);
  if (set !== null) Object.assign(over, { $set: set, $set_once: setOnce });
}

function isFromServer(properties: JsonObject): boolean {
  return properties.$is_server === true;
}

/** The object with `from` folded into `to`, which wins when both are there; null when there is nothing to fold. */
function renameKey(object: unknown, from: string, to: string): JsonObject | null {
  if (!isObject(object) || !Object.hasOwn(object, from)) return null;
  const { [from]: value, ...rest } = object;
  return Object.hasOwn(rest, to) ? rest : { ...rest, [to]: value };
}
