// The queries of the event store, and the rows that they return. The suffix `StoreQuery` sets a query apart from the API's
// query of the same kind (`query.ts`), from which it is planned.

import type { ActorType, Breakdown, Condition, EventExpression, EventNames, Property, Selection } from './selection.ts';

export type Aggregation = 'sum' | 'avg' | 'min' | 'max' | { percentile: number };

export type Measure =
  | { of: 'events' }
  /** Distinct actors; with `once`, each only in its first interval. */
  | { of: 'actors'; actorType: ActorType; once: boolean; first: FirstTime | null }
  | { of: 'property'; property: Property; times: number; aggregate: Aggregation }
  /** Durations in seconds of the sessions with a selected event, aggregated over sessions. */
  | { of: 'sessions'; times: number; aggregate: Aggregation }
  /** Number of events per actor, aggregated over actors. */
  | { of: 'counts'; actorType: ActorType; aggregate: Aggregation }
  /** The number that an aggregate returns; null for none. */
  | { of: 'expression'; expression: EventExpression };

/** Counts only the first of these events of each actor, and only if the query selects that event. */
export interface FirstTime extends EventNames {
  to: number;
  where: Condition;
}

export interface SeriesQuery {
  select: Selection;
  /** Starts of the intervals; empty for a single number over all. */
  edges: readonly number[];
  /** Each point covers the intervals from `first` up to but not including `end`; null for one interval per point. */
  windows: readonly { first: number; end: number }[] | null;
  measure: Measure;
  breakdowns: readonly Breakdown[];
  /** Maximum number of breakdown values, the largest first. All others are combined. */
  limit: number;
  /** True to sort events without a value last. */
  nullsLast: boolean;
}

export interface SeriesRow {
  /** Index of the interval. */
  bucket: number;
  /** One value per breakdown; null for a missing value. */
  values: (string | null)[];
  /** True for the combination of all values beyond the limit. */
  isOther: boolean;
  number: number;
}

export interface FunnelStep {
  event: string | null;
  where: Condition;
  /** Only the first of these events of an actor counts as the step. */
  first: FirstTime | null;
}

export interface FunnelStoreQuery {
  /** Selects all relevant events; in a strict funnel, where any other event breaks the order, all events. */
  select: Selection;
  actorType: ActorType;
  steps: readonly FunnelStep[];
  /**
   * Indexes of the steps that can come second. An actor without the first step has no progress, and an actor without
   * any of these steps gets no further than the first. Null for steps in any order.
   */
  second: readonly number[] | null;
  exclusions: readonly FunnelStep[];
  breakdowns: readonly Breakdown[];
}

export interface FunnelEvent {
  time: number;
  /** Bit k is set if the event is step k. */
  steps: number;
  /** Bit k is set if the event is exclusion k. */
  exclusions: number;
  values: (string | null)[];
}

export interface FunnelPath {
  /** In chronological order. */
  events: FunnelEvent[];
}

export interface FunnelActor extends FunnelPath {
  id: string;
}

export interface RetentionStoreQuery {
  select: Selection;
  actorType: ActorType;
  /** Starts of the intervals. */
  edges: readonly number[];
  /** Number of intervals in which actors may start. */
  rows: number;
  target: FunnelStep;
  returning: FunnelStep;
  /** Minimum number of returning events in an interval for an actor to count. */
  least: number;
  /** Each actor starts with its first target event ever. */
  first: FirstTime | null;
  breakdowns: readonly Breakdown[];
  /** An actor that returns in an interval also counts for all earlier intervals. */
  cumulative: boolean;
  /** Number of columns, including the one of actors that start. */
  columns: number;
  /** Later columns are windows of this length after the first target event; null for calendar intervals. */
  windowMs: number | null;
  /** Number of intervals or windows that each later column covers; null if each covers one. */
  brackets: readonly number[] | null;
  /**
   * A numeric property to add up. The first column adds up target events, and later columns add up returning events.
   */
  aggregated: Property | null;
}

export interface RetentionRow {
  values: (string | null)[];
  /** Index of the interval in which the actors started. */
  row: number;
  /** Index of the column; 0 is the one of actors that start. */
  later: number;
  count: number;
  /** Sum of the aggregated property. */
  total: number;
  /** Number of values in the sum. */
  numbers: number;
}

export interface LifecycleStoreQuery {
  select: Selection;
  actorType: ActorType;
  /** Starts of the intervals, including one before the first and one after the last that is shown. */
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
  /** Selects page views. */
  select: Selection;
  /** Conditions on the first and last page view of a session, even if the query does not select those page views. */
  entry: Condition;
  exit: Condition;
  /** Starts of the intervals in which sessions start; empty for a single number over all. */
  edges: readonly number[];
  breakdown: WebBreakdown | null;
  order: { by: 'visitors' | 'views' | 'bounces'; isDescending: boolean };
  limit: number;
  offset: number;
}

export interface WebBreakdown {
  /** The page views that supply values: all of a session, or only its first or last one. */
  of: 'view' | 'entry' | 'exit';
  value: Breakdown;
  /** True to omit sessions without a value. */
  hidesNull: boolean;
  /**
   * True to compute the bounce rate of a value from sessions that started with it, and not from all sessions that
   * contain it.
   */
  ratesEntries: boolean;
  /** Restricts the result to these values; null for all. */
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
  /** Number of bounces among the `rated` sessions. */
  bounced: number;
  rated: number;
  /** Visitors or views in all rows, depending on the order. */
  total: number;
}

/** Person properties to use as a display name: the first that is not empty. */
export const displayNames = ['email', 'name', 'username'];

/** The actors behind a point of a result, or all persons. */
export type ActorsSource =
  | { behind: 'series'; query: SeriesQuery; actorType: ActorType }
  | { behind: 'retention'; query: RetentionStoreQuery; row: number }
  | { behind: 'lifecycle'; query: LifecycleStoreQuery; bucket: number; status: LifecycleStatus }
  | { behind: 'persons'; query: { projectId: number; where: Condition } };

export interface ActorsStoreQuery {
  source: ActorsSource;
  actorType: ActorType;
  projectId: number;
  /** Expressions over persons, whose values are returned with each actor. */
  columns: readonly EventExpression[];
  order: readonly ActorsOrder[];
  limit: number;
  offset: number;
}

/** `created_at` and `name` come from the record; the name of a group is its key. */
export interface ActorsOrder {
  by: 'events' | 'id' | 'created_at' | 'name' | EventExpression;
  isDescending: boolean;
}

export interface ActorRow {
  id: string;
  /** Number of the actor's events that contribute to the point. */
  events: number;
  /** Values of the `columns`. */
  values?: unknown[];
}

/** A column in a page of events. */
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
  /** Restricts events to those of these persons; null for all. */
  of: ActorsSource | null;
  columns: readonly PageColumn[];
  /** Columns to sort by. */
  order: readonly { column: PageColumn; isDescending: boolean }[];
  limit: number;
  offset: number;
}

/** Sort key of an event, used as the cursor of a list. */
export interface EventPosition {
  time: number;
  uuid: string;
}

export interface EventListQuery extends EventNames {
  /** Time used for selecting and sorting: when events happened, or when they were stored. */
  by: 'timestamp' | 'created_at';
  /** Null for no limit. */
  from: number | null;
  /** End of the time range, exclusive. Null for no limit. */
  to: number | null;
  where: Condition;
  /** Restricts the list to events with these distinct IDs. */
  distinctIds?: readonly string[];
  /** Restricts the list to this event. */
  uuid: string | null;
  behind: EventPosition | null;
  isOldestFirst: boolean;
  limit: number;
  /** Number of events to skip. */
  offset?: number;
}

/** Locates an event. */
export interface EventKey {
  uuid: string;
  timestamp: number;
  event: string;
  distinctId: string;
}

export interface FoundKeys {
  keys: EventKey[];
  /**
   * The position up to which the search is complete, if it ran out of time. The next search can use it as `behind`;
   * that search then either gets at least a day further or throws.
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
  /** True if there are further events. */
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
  /** Restricts values to those that contain this text, ignoring case. */
  containing: string | null;
  /** Number of latest events to search. */
  latest: number;
  /** Maximum length in characters; longer values are left out. */
  longest: number;
  limit: number;
}

export interface ExposuresQuery {
  /** Selects the calls of the flag. */
  select: Selection;
  /** The variant that a call returned. */
  response: Breakdown;
  /** Starts of the days. */
  edges: readonly number[];
  conversionEvent: string | null;
  /** Maximum number of calls to read. */
  most: number;
  /** Less frequent variants are combined as `$other`. */
  maxVariants: number;
}

/** Results for the persons who first saw a variant on a day. */
export interface ExposureRow {
  variant: string;
  /** Index of the day. */
  bucket: number;
  exposures: number;
  /** Persons exposed for the first time. */
  persons: number;
  /** How many of these persons converted afterwards. */
  conversions: number;
  /** Number of calls of all variants and days; greater than `most` if not all were read. */
  read: number;
}
