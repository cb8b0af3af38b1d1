import type { SemanticVersion } from '@millrace/flags';
import type { Breakdown, EngineName, Property, Unit } from './port.ts';
import { type Fragment, sql } from './sql.ts';

/** The words in which engines differ; all other SQL is the same text. The event is `e` in every question. */
export interface Dialect {
  name: EngineName;
  /** Stored events, each once, as `e`. */
  events: Fragment;
  /** What finds the person of today of an event, behind `events`. */
  personJoin(projectId: number): Fragment;
  /** The person of today; needs `personJoin`. */
  person: Fragment;
  /** The record of that person as `p`, with `properties` and `created_at`; needs `personJoin`, or the id of a person. */
  personRecord(projectId: number, id?: Fragment): Fragment;
  /** The record of the group of this type as `g<index>`, with `group_properties` and `created_at`; that of the event, or of a key. */
  groupRecord(projectId: number, index: number, key?: Fragment): Fragment;
  /** `FROM` of all persons, each once, where conditions look for an event's person. */
  everyone(projectId: number): Fragment;
  /** Whether the person of today is in a static cohort; needs `personJoin`. */
  inStaticCohort(projectId: number, cohortId: number): Fragment;
  /** A property in its one form as a text: `5` for 5.0, lists as JSON; null when it is not set. */
  text(property: Property): Fragment;
  /** A number, or a text that is one; else null. */
  number(property: Property): Fragment;
  /** A text in ISO 8601, or a number of seconds or milliseconds since 1970; else null. */
  time(property: Property, zone: string): Fragment;
  /** What versions are ordered by, made as `versionKey` makes it; null for what is none. */
  version(property: Property): Fragment;
  /** As JSON text. */
  json(property: Property): Fragment;
  /** Never null. */
  isSet(property: Property): Fragment;
  /** Whether it is a text, a number, true or false. Never null. */
  isScalar(property: Property): Fragment;
  /** Never null. */
  equalsAny(property: Property, values: readonly string[]): Fragment;
  /** Never null; upper and lower case are the same. */
  contains(text: Fragment, part: string): Fragment;
  /** Never null. */
  matches(text: Fragment, pattern: string): Fragment;
  /** The value of a breakdown, null for none. */
  label(breakdown: Breakdown): Fragment;
  /** Milliseconds since 1970. */
  millis(time: Fragment): Fragment;
  /** What events are ordered by as texts: their time, and of one moment their ids. It has `placeLength` characters. */
  place: Fragment;
  /** Index of the interval a time lies in, -1 before the first. */
  bucket(time: Fragment, edges: readonly number[]): Fragment;
  /** Whether the units of a bucket are grouped before they are counted; else `count(DISTINCT)` is faster. */
  groupsBeforeCounting: boolean;
  percentile(share: number, number: Fragment): Fragment;
  /** What a group has in two columns of numbers: two lists in the same order, as a text of JSON. */
  lists(one: Fragment, other: Fragment): Fragment;
  /** Of a group, a number with the bits that some of its rows name, from 0 to 51. */
  bits(place: Fragment, happened: Fragment): Fragment;
  /** A table `w` of the indexes `point` from 0 on, `first` and `beyond`. */
  windows(spans: readonly { first: number; end: number }[]): Fragment;
  /** A uuid as it is ordered: by its text. */
  uuidText(uuid: Fragment): Fragment;
  /** A value that `lag` and `lead` answer with null where there is none. */
  nullable(value: Fragment): Fragment;
  isOneOfUuids(uuid: Fragment, uuids: readonly string[]): Fragment;
  /** A JSON document as its text. */
  document(json: Fragment): Fragment;
  /** How much a text or a JSON document takes. */
  bytes(document: Fragment): Fragment;
  /** How long a text is. */
  characters(text: Fragment): Fragment;
  /** Orders texts by their code points. */
  inByteOrder(text: Fragment): Fragment;
  /** What tells units apart, null for none; that of a person needs `personJoin`. */
  unit(unit: Unit): Fragment;
}

/** 14 digits and a uuid. */
export const placeLength = 50;
/** Added to milliseconds since 1970, so that they have as many digits at any time. */
export const placeOffset = 10_000_000_000_000;

/** Longer values of breakdowns are cut. */
export const longestLabel = 400;

const part = '\\d*[A-Za-z-][0-9A-Za-z-]*';
const parts = (one: string) => `${one}(?:\\.${one})*`;
/** A version, and its five parts: three numbers, pre-release, build. */
export const versionPattern = `^\\s*v?\\s*0*(\\d{1,20})(?:\\.0*(\\d{1,20}))?(?:\\.0*(\\d{1,20}))?(?:-(${parts(`(?:0|[1-9]\\d*|${part})`)}))?(?:\\+(${parts('[0-9A-Za-z-]+')}))?\\s*$`;

/** The three numbers of a version, as its key begins. */
export const releaseKey = ({ major, minor, patch }: SemanticVersion): string =>
  [major, minor, patch].map((number) => String(number).padStart(20, '0')).join('');

/**
 * A text that is ordered by its bytes as versions are: the numbers; `-` and the pre-release, or `~` where there is none; the build.
 * Of the parts of these, numbers come first and are ordered by their length.
 */
export function versionKey(version: SemanticVersion): string {
  const keyOf = (list: string[]) =>
    list.map((one) => (/^\d+$/.test(one) ? `0${String(one.length).padStart(4, '0')}${one}` : `1${one}`)).join('\u0002');
  const { preRelease, build } = version;
  return `${releaseKey(version)}${preRelease.length === 0 ? '~' : `-${keyOf(preRelease)}`}\u0001${keyOf(build)}`;
}

/**
 * What both engines call alike.
 * @param texts the id of the person of today and the time of the event as texts; what `hrefPattern` finds, or an empty text
 */
export function columnText(
  { key }: Extract<Property, { of: 'column' }>,
  texts: { person: Fragment; timestamp: Fragment; href: Fragment },
): Fragment {
  switch (key) {
    case 'distinct_id':
      return sql`e.distinct_id`;
    case 'event':
      return sql`e.event`;
    case 'elements_chain':
      return sql`e.elements_chain`;
    case 'first href':
      return sql`replace(${texts.href}, ${sql.text('\\"')}, '"')`;
    case 'person_id':
      return texts.person;
    case 'timestamp':
      return texts.timestamp;
    default:
      return key satisfies never;
  }
}

/** A value of a breakdown as it is shown. */
export function asBoolean(value: Fragment): Fragment {
  return sql`CASE ${value} WHEN '1' THEN 'true' WHEN '0' THEN 'false' ELSE ${value} END`;
}

/** A text that means a number: `5.0` is the number 5, but `01067` is a text, such as a postal code, and not the number 1067. */
export const canonicalNumber = /^-?(0|[1-9]\d{0,29})(\.\d{1,30})?$/;

/** Of the values a property is compared with, those that are numbers, and those that are lists or objects in JSON. */
export function kindsOf(values: readonly string[]): { numbers: string[]; lists: string[] } {
  return {
    numbers: values.filter((value) => canonicalNumber.test(value)),
    lists: values.filter(isJsonList),
  };
}

function isJsonList(value: string): boolean {
  if (!/^\s*[[{]/.test(value)) return false;
  try {
    JSON.parse(value);
    return true;
  } catch {
    return false;
  }
}
