// The SQL that differs between PostgreSQL and ClickHouse, as an interface that both engines implement.

import type { SemanticVersion } from '@millrace/flags';
import type { EventKey, LifecycleStoreQuery } from './queries.ts';
import type { ActorType, Breakdown, EngineName, Property } from './selection.ts';
import { type Fragment, sql } from './sql.ts';
import type { FunnelPage, WalkedFunnel } from './walked-funnel.ts';

/** The alias of the events table is always `e`. */
export interface Dialect {
  name: EngineName;
  /** FROM clause for stored events as `e`, without duplicates. */
  events: Fragment;
  /** Query for the time of the first event in a time range, or for the start of that event's day. */
  firstDay(range: { projectId: number; from: number; to: number }): Fragment;
  /**
   * Join that finds an event's current person. It must follow `events`.
   * @param looksUp whether to look up each event's person separately, if the engine follows indexes
   */
  personJoin(projectId: number, looksUp?: boolean): Fragment;
  /** ID of the event's current person. Requires `personJoin`. */
  person: Fragment;
  /**
   * Joins the record of the event's current person as `p`, with `properties` and `created_at`. Requires `personJoin` or
   * a person ID. The join may omit properties other than the given ones. An empty key means all properties, which SQL
   * queries can request.
   */
  personRecord(projectId: number, id?: Fragment, needs?: { keys?: readonly string[]; looksUp?: boolean }): Fragment;
  /**
   * Joins a group as `g<index>`, with `group_properties` and `created_at`. This is the event's group of the type, or
   * the group with the given key.
   */
  groupRecord(projectId: number, index: number, key?: Fragment): Fragment;
  /** FROM clause for all of a project's persons, for conditions that otherwise test an event's person. */
  everyone(projectId: number): Fragment;
  /** Condition that the event's current person is in a static cohort. Requires `personJoin`. */
  inStaticCohort(projectId: number, cohortId: number): Fragment;
  /**
   * A property as text in a normalized form, for example `5` for 5.0, and JSON for lists. The text is null if the
   * property is not set.
   */
  text(property: Property): Fragment;
  /**
   * A property as a number. The stored value may be a numeric string. Null if the value is not numeric.
   * @param use how the query uses the property: `isMeasured` if it measures the property of all its events, instead of
   * filtering by it
   */
  number(property: Property, use?: { isMeasured?: boolean }): Fragment;
  /**
   * A property as a time: an ISO 8601 string, or seconds or milliseconds since the epoch. Null for all other values.
   */
  time(property: Property, zone: string): Fragment;
  /**
   * Sort key of a version, equal to the result of `buildVersionKey`. The key is null if the property is not a version.
   */
  version(property: Property): Fragment;
  json(property: Property): Fragment;
  /** Condition that a property is set. The condition is never null. */
  isSet(property: Property): Fragment;
  /** Condition that a property is a string, number or boolean. The condition is never null. */
  isScalar(property: Property): Fragment;
  /** Condition that a property equals one of the values. The condition is never null. */
  equalsAny(property: Property, values: readonly string[]): Fragment;
  /** Condition that a string contains another string, ignoring case. The condition is never null. */
  contains(text: Fragment, part: string): Fragment;
  /** Condition that a string matches a pattern. The condition is never null. */
  matches(text: Fragment, pattern: string): Fragment;
  /**
   * Breakdown value of an event, or null if the event has no such value. A person property requires `personRecord` with
   * its key.
   */
  label(breakdown: Breakdown): Fragment;
  millis(time: Fragment): Fragment;
  /** An event's sort key as text: the time, followed by the ID. The key has `positionKeyLength` characters. */
  positionKey: Fragment;
  /** Index of the interval that contains a time, or -1 for a time before the first interval. */
  bucket(time: Fragment, edges: readonly number[]): Fragment;
  /** Whether counting rows grouped by actor is faster than `count(DISTINCT)`. */
  groupsBeforeCounting: boolean;
  /**
   * True if a sorted read with a limit follows an index (by time, or by distinct ID and time) and stops when it has
   * enough rows. Otherwise, the engine reads and sorts all matching rows.
   */
  followsIndexes: boolean;
  percentile(share: number, number: Fragment): Fragment;
  /** Aggregates two numeric columns into two JSON lists. Both lists are in row order. */
  lists(one: Fragment, other: Fragment): Fragment;
  /**
   * Aggregates an actor's events, in the order of `at` and `uuid`, into JSON text: a list of times, steps and lists of
   * breakdown values. Without times, successive equal events are combined, and their index replaces the time. Null if
   * the engine reads individual events faster than aggregated events.
   */
  path: null | ((values: readonly Fragment[], hasTimes: Fragment) => Fragment);
  /** SQL that computes a funnel, or null for a funnel that the engine cannot compute. */
  funnel(plan: WalkedFunnel): FunnelSql | null;
  /** An engine-specific statement that counts a lifecycle's actors, or null if the usual statement is faster. */
  lifecycle(query: LifecycleStoreQuery): Fragment | null;
  /** Aggregates rows into one number. Each row sets one of the bits 0 to 51. */
  bits(place: Fragment, happened: Fragment): Fragment;
  /** Settings for a subquery whose aggregates are never null. The settings follow the GROUP BY clause. */
  settingsOfGroups: Fragment;
  /** Returns the positions of a number's set bits. Null if the engine does not have such a function. */
  bitPlaces: null | ((number: Fragment) => Fragment);
  haveCommonBit(one: Fragment, other: Fragment): Fragment;
  /** Builds a table `w` with the index `point`, starting at 0, and one integer column per list: `s0`, `s1`, … */
  points(lists: readonly (readonly number[])[]): Fragment;
  /** A UUID as text, for sorting. */
  uuidText(uuid: Fragment): Fragment;
  /**
   * Makes a value nullable, so that `lag` returns null before the first row and `lead` returns null after the last row.
   */
  nullable(value: Fragment): Fragment;
  whereKeys(projectId: number, keys: readonly EventKey[]): Fragment;
  document(json: Fragment): Fragment;
  bytes(document: Fragment): Fragment;
  characters(text: Fragment): Fragment;
  /** Sorts strings by code point. */
  inByteOrder(text: Fragment): Fragment;
  /** The actor's ID, or null for an event without an actor. For persons, requires `personJoin`. */
  actorId(actorType: ActorType): Fragment;
  /**
   * The key by which actors are grouped if they are only counted, or null for an event without an actor. The key may be
   * a 64-bit hash of the ID. Among ten million actors, the probability that two have the same hash is 3 in a million.
   */
  actorKey(actorType: ActorType): Fragment;
}

export interface FunnelSql {
  /** Selects the funnel's result: one row per combination of breakdown values, or for all values beyond the limit. */
  totals: Fragment;
  actors(page: FunnelPage): Fragment;
}

/** Length of an event's sort key: 14 digits and a UUID. */
export const positionKeyLength = 50;
/** Offset added to milliseconds since the epoch, so that every time has the same number of digits. */
export const positionKeyOffset = 10_000_000_000_000;

/** Maximum length of breakdown values. Longer values are truncated. */
export const maxLabelLength = 400;

export const numberPattern = '^\\s*[-+]?\\d{1,30}(\\.\\d{1,30})?([eE][-+]?\\d{1,2})?\\s*$';

const date = '\\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\\d|3[01])';
const clock = '[T ]([01]\\d|2[0-3]):[0-5]\\d(:[0-5]\\d(\\.\\d{1,9})?)?';
/** Matches an ISO 8601 date or time without an offset. Also matches dates that do not exist, such as February 30. */
export const localTimePattern = `^${date}(${clock})?$`;
/** Matches an ISO 8601 time with an offset. */
export const zonedTimePattern = `^${date}${clock}\\s*([Zz]|[-+]\\d\\d(:?\\d\\d)?)$`;

const part = '\\d*[A-Za-z-][0-9A-Za-z-]*';
const parts = (one: string) => `${one}(?:\\.${one})*`;
/** Matches a version, with groups for major, minor, patch, pre-release and build. */
export const versionPattern = `^\\s*v?\\s*0*(\\d{1,20})(?:\\.0*(\\d{1,20}))?(?:\\.0*(\\d{1,20}))?(?:-(${parts(`(?:0|[1-9]\\d*|${part})`)}))?(?:\\+(${parts('[0-9A-Za-z-]+')}))?\\s*$`;

/** Returns the prefix of a version's sort key that contains major, minor and patch. */
export const buildReleaseKey = ({ major, minor, patch }: SemanticVersion): string =>
  [major, minor, patch].map((number) => String(number).padStart(20, '0')).join('');

/**
 * Returns a sort key for a version. Sorting the keys by bytes sorts the versions. A key contains the three numbers,
 * then `-` and the pre-release, or `~` for a final version, and then the build. Numeric parts sort first, by length.
 */
export function buildVersionKey(version: SemanticVersion): string {
  const keyOf = (list: string[]) =>
    list.map((one) => (/^\d+$/.test(one) ? `0${String(one.length).padStart(4, '0')}${one}` : `1${one}`)).join('\u0002');
  const { preRelease, build } = version;
  return `${buildReleaseKey(version)}${preRelease.length === 0 ? '~' : `-${keyOf(preRelease)}`}\u0001${keyOf(build)}`;
}

/**
 * Returns a column as text, for columns that have the same name on both engines.
 * @param texts the SQL for the current person's ID as text, the event's time as text, and the match of `hrefPattern` or
 * an empty text
 */
export function buildColumnText(
  property: Extract<Property, { of: 'column' }>,
  texts: { engine: EngineName; person: Fragment; storedPerson: Fragment; timestamp: Fragment; href: Fragment },
): Fragment {
  switch (property.key) {
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
    case 'stored person_id':
      return texts.storedPerson;
    case 'timestamp':
      return texts.timestamp;
    case 'expression':
      return sql`coalesce(${property.expression.print(texts.engine, 'value')}, '')`;
    default:
      return property satisfies never;
  }
}

export function buildBooleanText(value: Fragment): Fragment {
  return sql`CASE ${value} WHEN '1' THEN 'true' WHEN '0' THEN 'false' ELSE ${value} END`;
}

/**
 * Matches a number in canonical form, such as `5.0`, or in the exponent form that JSON uses for very large and very
 * small numbers, such as `1e+21`. Text such as the postal code `01067` does not match, because it must not equal 1067.
 */
const canonicalNumber = /^-?(0|[1-9]\d{0,29})(\.\d{1,30})?(e[-+]\d{1,2})?$/;

/** Splits values into numbers and into JSON lists or objects. Omits all other values. */
export function splitNumbersAndLists(values: readonly string[]): { numbers: string[]; lists: string[] } {
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
