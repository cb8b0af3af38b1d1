import { cutToCodePoints, eventNames, isObject, type JsonObject } from '@millrace/contracts';
import type { EventRow, IncomingEvent } from '../model/event.ts';
import type { EventPerson, PersonProcessing } from '../rules/person-processing.ts';
import { objectOrEmpty, omitKeys } from '../values/json.ts';
import { type Overlay, readProperty } from '../values/properties.ts';

/** Builds an event's row, with the current state of its person (docs/ingestion-rules.md#the-event-row). */
export function toEventRow(event: IncomingEvent, properties: Overlay, person: EventPerson): EventRow {
  const row: EventRow = {
    projectId: event.project.id,
    uuid: event.uuid,
    event: event.event,
    distinctId: event.distinctId,
    timestampMs: event.timestampMs,
    capturedAtMs: event.capturedAtMs,
    properties,
    elementsChain: buildElementsChain(event.properties),
    personUuid: person.uuid,
    personCreatedAtMs: person.createdAtMs,
    personProperties: person.properties,
    personBytes: person.bytes,
    personMode: person.mode,
    isHistorical: event.isHistorical,
  };
  // The original text still contains all properties, so it can be stored only if no property was removed.
  if (event.written !== undefined && properties.under === event.properties) row.written = event.written;
  return row;
}

/**
 * Events whose properties are never copied to the person, because they do not describe the person or are too frequent.
 */
const neverLifted = new Set<string>(['$snapshot', eventNames.performance]);

/**
 * Returns the properties to store, without the group keys (docs/ingestion-rules.md#the-event-row). Makes changes in the
 * overlay and does not modify the incoming event, because it may be processed again after a failure.
 */
export function normalizeProperties(event: IncomingEvent, processing: PersonProcessing): Overlay {
  const properties: Overlay = { under: stripProperties(event, processing), over: {} };
  if (processing === 'personless') switchOff(properties);
  if (neverLifted.has(event.event)) return properties;
  mergeOperatingSystemNames(properties);
  if (!updatesPerson(event, processing)) return properties;
  addSurveyShownDate(event, properties);
  copyToPersonProperties(properties);
  return properties;
}

/** Marks an event as anonymous because its project has disabled person processing, like a client that requests it. */
function switchOff({ under, over }: Overlay): void {
  if (under.$process_person_profile !== false) over.$process_person_profile = false;
}

/**
 * Returns whether an event updates its person. Anonymous events have no person, and a group identify describes only its
 * group.
 */
function updatesPerson(event: IncomingEvent, processing: PersonProcessing): boolean {
  return processing === 'full' && event.event !== eventNames.groupIdentify;
}

/**
 * The properties that are never stored (docs/ingestion-rules.md#the-event-row): data that only the SDK needs, data that
 * is stored as the elements chain, and `$verified`, which clients must not set.
 */
const always = [
  'ph_product_tours',
  '$product_tours_activated',
  '$override_feature_flag_payloads',
  '$elements',
  '$elements_chain',
  '$verified',
];
const personUpdates = ['$set', '$set_once', '$unset'];
const groupKeys = ['$group_0', '$group_1', '$group_2', '$group_3', '$group_4'];

/**
 * The properties that are not stored for an event with a person. `$process_person_profile` only explains why an event
 * has no person.
 */
const withPerson = new Set([...always, '$process_person_profile']);
/** Properties to leave out of a group identify event, because such an event never updates the person who sent it. */
const withGroup = new Set([...withPerson, ...personUpdates]);
const withoutPerson = new Set([...always, ...personUpdates, ...groupKeys]);

/** Removes properties that are not stored. Returns the original object if all properties are stored. */
function stripProperties(event: IncomingEvent, processing: PersonProcessing): JsonObject {
  if (processing === 'personless') return omitKeys(event.properties, withoutPerson);
  return omitKeys(event.properties, event.event === eventNames.groupIdentify ? withGroup : withPerson);
}

const key = '$survey_last_seen_date';

/**
 * Sets the person property for the time at which a survey was last shown, unless the client has set it
 * (docs/ingestion-rules.md#the-event-row). The time delays the person's next survey.
 */
function addSurveyShownDate(event: IncomingEvent, properties: Overlay): void {
  if (event.event !== eventNames.surveyShown) return;
  const set = objectOrEmpty(readProperty(properties, '$set'));
  if (Object.hasOwn(set, key)) return;
  properties.over.$set = { ...set, [key]: new Date(event.timestampMs).toISOString() };
}

/**
 * Event properties that also describe the person (docs/ingestion-rules.md#person-properties). Each property is added to
 * `$set` under its own name and to `$set_once` as `$initial_…`. `$os_name` is not listed, because it is another name
 * for `$os`.
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

/** The operating system of a server does not describe the person about whom the server sends events. */
const serverKeys = new Set(['$os', '$os_version']);

const initialNames = new Map(
  [...appKeys, ...deviceKeys, ...campaignKeys].map((key) => [key, `$initial_${key.replace(/^\$/, '')}`]),
);

/**
 * Merges `$os_name`, the name under which mobile SDKs send `$os`. If `$os` is missing, it gets the value of `$os_name`,
 * which is removed from the person updates. Does not apply to servers.
 */
export function mergeOperatingSystemNames(properties: Overlay): void {
  const { under, over } = properties;
  if (isFromServer(under)) return;
  if (Object.hasOwn(under, '$os_name') && !Object.hasOwn(under, '$os')) over.$os = under.$os_name;
  const set = renameKey(readProperty(properties, '$set'), '$os_name', '$os');
  if (set !== null) over.$set = set;
  const setOnce = renameKey(readProperty(properties, '$set_once'), '$initial_os_name', '$initial_os');
  if (setOnce !== null) over.$set_once = setOnce;
}

/**
 * Copies event properties to `$set` and `$set_once`, which are stored with the event. Properties that the client has
 * set take precedence.
 */
export function copyToPersonProperties(properties: Overlay): void {
  const { under, over } = properties;
  const isServer = isFromServer(under);
  let set: JsonObject | null = null;
  let setOnce: JsonObject | null = null;
  const lift = (key: string, value: unknown): void => {
    const initialName = initialNames.get(key);
    if (initialName === undefined || (isServer && serverKeys.has(key))) return;
    set ??= { ...objectOrEmpty(readProperty(properties, '$set')) };
    setOnce ??= { ...objectOrEmpty(readProperty(properties, '$set_once')) };
    if (!Object.hasOwn(set, key)) set[key] = value;
    if (!Object.hasOwn(setOnce, initialName)) setOnce[initialName] = value;
  };
  for (const key of Object.keys(under)) lift(key, under[key]);
  // Of the copied properties, only `$os` can be in the overlay.
  if (Object.hasOwn(over, '$os')) lift('$os', over.$os);
  if (set !== null) Object.assign(over, { $set: set, $set_once: setOnce });
}

function isFromServer(properties: JsonObject): boolean {
  return properties.$is_server === true;
}

/** Renames `from` to `to`, unless `to` exists. Returns null if `from` does not exist. */
function renameKey(object: unknown, from: string, to: string): JsonObject | null {
  if (!isObject(object) || !Object.hasOwn(object, from)) return null;
  const { [from]: value, ...rest } = object;
  return Object.hasOwn(rest, to) ? rest : { ...rest, [to]: value };
}

const maxTextLength = 400;
const maxHrefLength = 2048;

/**
 * Returns the clicked element and its parents as searchable text: `$elements_chain` as it was sent, or otherwise built
 * from `$elements`. Returns an empty string if the event has neither (docs/ingestion-rules.md#the-event-row). Elements
 * are separated by `;` and have the form `tag.class.class:name="value"name="value"`, with sorted classes and names.
 */
export function buildElementsChain(properties: JsonObject): string {
  const chain = properties.$elements_chain;
  if (typeof chain === 'string' && chain !== '') return chain;
  const elements = properties.$elements;
  return Array.isArray(elements) ? elements.filter(isObject).map(elementText).join(';') : '';
}

function elementText(element: JsonObject): string {
  const classes = classNames(element.attr__class).map((name) => `.${name}`);
  const attributes = [...elementAttributes(element)].sort(byName).map(([name, value]) => `${name}="${escaped(value)}"`);
  return `${asText(element.tag_name)}${classes.join('')}:${attributes.join('')}`;
}

/**
 * Returns the attributes of an element. The result is a map, because a client may send an attribute with the name of an
 * inherited object property.
 */
function elementAttributes(element: JsonObject): Map<string, string> {
  const attributes = new Map([
    ['nth-child', asText(element.nth_child ?? 0)],
    ['nth-of-type', asText(element.nth_of_type ?? 0)],
  ]);
  for (const [name, value] of Object.entries(element)) {
    if (name.startsWith('attr__')) attributes.set(name, asText(value));
  }
  setIfPresent(attributes, 'text', cutToCodePoints(asText(element.$el_text), maxTextLength));
  setIfPresent(attributes, 'attr_id', asText(element.attr__id));
  setIfPresent(attributes, 'href', cutToCodePoints(asText(element.attr__href), maxHrefLength));
  setIfPresent(attributes, 'attr__href', cutToCodePoints(asText(element.attr__href), maxHrefLength));
  return attributes;
}

function setIfPresent(attributes: Map<string, string>, name: string, value: string): void {
  if (value !== '') attributes.set(name, value);
}

function classNames(value: unknown): string[] {
  const names = Array.isArray(value) ? value.map(asText) : asText(value).split(/\s+/);
  return names
    .map((name) => name.replaceAll('"', ''))
    .filter((name) => name !== '')
    .sort();
}

/** Converts numbers and booleans to strings, and objects, which are not valid attributes, to JSON. */
function asText(value: unknown): string {
  if (typeof value === 'string') return value;
  return value === undefined || value === null ? '' : JSON.stringify(value);
}

function escaped(value: string): string {
  return value.replaceAll('"', '\\"');
}

function byName([a]: [string, string], [b]: [string, string]): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
