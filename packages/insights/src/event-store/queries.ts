// The queries of the event store, and the rows that they return. A type with the suffix `StoreQuery` is the event
// store's version of the API query with the same name (`query.ts`).

import type { ActorType, Breakdown, Condition, EventExpression, EventNames, Property, Selection } from './selection.ts';

export type Aggregation = 'sum' | 'avg' | 'min' | 'max' | { percentile: number };

export type Measure =
  | { of: 'events' }
  /** Number of distinct actors. If `once` is true, each actor counts only in its first interval. */
  | { of: 'actors'; actorType: ActorType; once: boolean; first: FirstTime | null }
  | { of: 'property'; property: Property; times: number; aggregate: Aggregation }
  /** Durations in seconds of the sessions that contain a selected event, aggregated over sessions. */
  | { of: 'sessions'; times: number; aggregate: Aggregation }
  /** Number of events per actor, aggregated over actors. */
  | { of: 'counts'; actorType: ActorType; aggregate: Aggregation }
  /** The number, or null, that an aggregate returns. */
  | { of: 'expression'; expression: EventExpression };

/** Counts only each actor's first event with one of these names, and only if the query selects that event. */
export interface FirstTime extends EventNames {
  to: number;
  where: Condition;
}

export interface SeriesQuery {
  select: Selection;
  /** Starts of the intervals, or an empty list to compute a single number for the entire range. */
  edges: readonly number[];
  /**
   * The intervals that each number in the result covers, from `first` up to but not including `end`. Null if each
   * number covers one interval.
   */
  windows: readonly { first: number; end: number }[] | null;
  measure: Measure;
  breakdowns: readonly Breakdown[];
  /** Maximum number of breakdown values. The values with the largest numbers are kept, and all others are combined. */
  limit: number;
  /** Whether the missing breakdown value ranks last, regardless of its number. */
  nullsLast: boolean;
}

export interface SeriesRow {
  bucket: number;
  /** One value per breakdown. A missing value is null. */
  values: (string | null)[];
  /** Whether the row combines all values beyond the limit. */
  isOther: boolean;
  number: number;
}

export interface FunnelStep {
  event: string | null;
  where: Condition;
  /** If set, only an actor's first event with one of these names counts as the step. */
  first: FirstTime | null;
}

export interface FunnelStoreQuery {
  /**
   * Selects the events that can affect the funnel. A strict funnel needs all events, because an event between two steps
   * ends an attempt.
   */
  select: Selection;
  actorType: ActorType;
  steps: readonly FunnelStep[];
  /**
   * Indexes of the steps that can come second. An actor without the first step makes no progress, and an actor without
   * any of these steps does not get past the first step. Null for a funnel with steps in any order.
   */
  second: readonly number[] | null;
  exclusions: readonly FunnelStep[];
  breakdowns: readonly Breakdown[];
}

export interface FunnelEvent {
  time: number;
  /** Bit k is set if the event matches step k. */
  steps: number;
  /** Bit k is set if the event matches exclusion k. */
  exclusions: number;
  values: (string | null)[];
}

export interface FunnelPath {
  /** Events in chronological order. */
  events: FunnelEvent[];
}

export interface FunnelActor extends FunnelPath {
  id: string;
}

export interface RetentionStoreQuery {
  select: Selection;
  actorType: ActorType;
  edges: readonly number[];
  /** Number of intervals in which actors may start. */
  rows: number;
  target: FunnelStep;
  returning: FunnelStep;
  /** Minimum number of returning events that an actor needs in an interval to count as returned. */
  minReturns: number;
  /** If set, each actor starts with its first target event of all time. */
  first: FirstTime | null;
  breakdowns: readonly Breakdown[];
  /** Whether an actor that returns in an interval also counts for all earlier intervals. */
  cumulative: boolean;
  /** Number of columns, including the column for the interval in which actors start. */
  columns: number;
  /**
   * Length of the window that each column after the first covers, counted from the actor's first target event. Null if
   * columns are calendar intervals.
   */
  windowMs: number | null;
  /** Number of intervals or windows that each column after the first covers, or null if each column covers one. */
  brackets: readonly number[] | null;
  /** A numeric property to sum. The first column sums target events, and all other columns sum returning events. */
  aggregated: Property | null;
}

export interface RetentionRow {
  values: (string | null)[];
  /** Index of the interval in which the actors started. */
  row: number;
  /** Index of the column. Column 0 is the interval in which the actors started. */
  column: number;
  count: number;
  total: number;
  /** Number of values in the sum. */
  valueCount: number;
}

export interface LifecycleStoreQuery {
  select: Selection;
  actorType: ActorType;
  /** Starts of the intervals, including one interval before and one after the intervals in the result. */
  edges: readonly number[];
}

export const lifecycleStatuses = ['new', 'returning', 'resurrecting', 'dormant'] as const;
export type LifecycleStatus = (typeof lifecycleStatuses)[number];

export interface LifecycleRow {
  bucket: number;
  status: LifecycleStatus;
  count: number;
}

export const pageViews = ['$pageview', '$screen'] as const;

/** Selects sessions that started in the time range, and their selected page views. */
export interface WebStoreQuery {
  select: Selection;
  /**
   * Condition on a session's first page view (`entry`) and last page view (`exit`), even if the query does not select
   * these page views.
   */
  entry: Condition;
  exit: Condition;
  /**
   * Starts of the intervals in which sessions start, or an empty list to compute a single number for the entire range.
   */
  edges: readonly number[];
  breakdown: WebBreakdown | null;
  order: { by: 'visitors' | 'views' | 'bounces'; isDescending: boolean };
  limit: number;
  offset: number;
}

export interface WebBreakdown {
  /** The page views in a session from which values are read: all of them, or only the first or last one. */
  of: 'view' | 'entry' | 'exit';
  value: Breakdown;
  /** Whether to omit sessions without a breakdown value. */
  hidesNull: boolean;
  /**
   * Whether to compute a value's bounce rate only from the sessions that started with the value, instead of from all
   * sessions that contain it.
   */
  ratesEntries: boolean;
  /** The breakdown values to return, or null for all values. */
  only: readonly (string | null)[] | null;
}

export interface WebRow {
  bucket: number;
  value: string | null;
  visitors: number;
  views: number;
  sessions: number;
  /** Total duration of the sessions in seconds. */
  seconds: number;
  /** Number of bounced sessions among the `rated` sessions. */
  bounced: number;
  rated: number;
  /** Total number of visitors or views in all rows, depending on the sort order. */
  total: number;
}

/** Person properties that can be the display name, in order of preference. The first nonempty property is used. */
export const displayNames = ['email', 'name', 'username'];

/** The actors that a number in a result counts, or all persons. */
export type ActorsSource =
  | { kind: 'series'; query: SeriesQuery; actorType: ActorType }
  | { kind: 'retention'; query: RetentionStoreQuery; row: number }
  | { kind: 'lifecycle'; query: LifecycleStoreQuery; bucket: number; status: LifecycleStatus }
  | { kind: 'persons'; query: { projectId: number; where: Condition } };

export interface ActorsStoreQuery {
  source: ActorsSource;
  actorType: ActorType;
  projectId: number;
  /** Expressions to compute for each person. `ActorRow.values` contains their results. */
  columns: readonly EventExpression[];
  order: readonly ActorsOrder[];
  limit: number;
  offset: number;
}

/** The order of actors. `created_at` and `name` come from the actor's record. A group's name is its key. */
export interface ActorsOrder {
  by: 'events' | 'id' | 'created_at' | 'name' | EventExpression;
  isDescending: boolean;
}

export interface ActorRow {
  id: string;
  /** Number of the actor's events that the query counted. */
  events: number;
  values?: unknown[];
}

export type PageColumn =
  | 'uuid'
  | 'event'
  | 'timestamp'
  | 'created_at'
  | 'distinct_id'
  | 'person_id'
  | 'properties'
  | 'elements_chain'
  | 'count'
  | { json: Property }
  | { expression: EventExpression };

export interface EventPageQuery {
  select: Selection;
  /** The actors whose events are selected, or null for all persons. */
  of: ActorsSource | null;
  columns: readonly PageColumn[];
  order: readonly { column: PageColumn; isDescending: boolean }[];
  limit: number;
  offset: number;
}

/** Sort key of an event, which is also the cursor of event lists. */
export interface EventPosition {
  time: number;
  uuid: string;
}

export interface EventListQuery extends EventNames {
  /** The time by which events are selected and sorted: when they happened, or when they were stored. */
  by: 'timestamp' | 'created_at';
  /** The start of the time range, or null for no limit. */
  from: number | null;
  /** The end of the time range, exclusive, or null for no limit. */
  to: number | null;
  where: Condition;
  /** If set, the list contains only events with these distinct IDs. */
  distinctIds?: readonly string[];
  /** If set, the list contains only the event with this ID. */
  uuid: string | null;
  after: EventPosition | null;
  isOldestFirst: boolean;
  limit: number;
  offset?: number;
}

/** The values that identify an event and are used to find it. */
export interface EventKey {
  uuid: string;
  timestamp: number;
  event: string;
  distinctId: string;
}

export interface FoundKeys {
  keys: EventKey[];
  /**
   * Position at which the search ran out of time, or null if it is complete. To continue, pass the position as
   * `after`. The next search then either covers at least one more day or throws.
   */
  stoppedAt: EventPosition | null;
}

export interface EventsOfKeys {
  projectId: number;
  keys: readonly EventKey[];
}

export interface EventSize {
  uuid: string;
  distinctId: string;
  bytes: number;
}

export interface EventList {
  events: ListedEvent[];
  hasMore: boolean;
}

/** An event as stored, with JSON as text. */
export interface ListedEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: Date;
  captured_at: Date;
  created_at: Date;
  /** The person to whom the event belonged at ingestion. */
  person_id: string;
  person_properties: string;
  properties: string;
  elements_chain: string;
}

export interface PropertyValuesQuery {
  select: Selection;
  property: Property;
  /** If set, only values that contain this string are returned, ignoring case. */
  containing: string | null;
  /** Number of latest events to search. */
  searchedEvents: number;
  /** Maximum length of a value in characters. Longer values are omitted. */
  maxValueLength: number;
  limit: number;
}

export interface ExposuresQuery {
  /** Selects the events that record flag calls. */
  select: Selection;
  /** The property in which a flag call records the returned variant. */
  response: Breakdown;
  edges: readonly number[];
  conversionEvent: string | null;
  /** Maximum number of flag calls to read. */
  maxCalls: number;
  /** Maximum number of variants. Less frequent variants are combined as `$other`. */
  maxVariants: number;
}

/** The result for persons who first saw a variant on a day. */
export interface ExposureRow {
  variant: string;
  /** Index of the day on which the persons first saw the variant. */
  bucket: number;
  exposures: number;
  persons: number;
  /** Number of the row's persons who converted after they saw the variant. */
  conversions: number;
  /**
   * Number of flag calls that were read for all variants and days. The number exceeds `most` if more than `most` calls
   * exist.
   */
  read: number;
}
