// The queries of the event store, and the rows that they return. The suffix `StoreQuery` distinguishes a query of the
// store from the API's query of the same kind (`query.ts`), from which it is planned.

import type { ActorType, Breakdown, Condition, EventExpression, EventNames, Property, Selection } from './selection.ts';

export type Aggregation = 'sum' | 'avg' | 'min' | 'max' | { percentile: number };

export type Measure =
  | { of: 'events' }
  /** Number of distinct actors. With `once`, each actor counts only in its first interval. */
  | { of: 'actors'; actorType: ActorType; once: boolean; first: FirstTime | null }
  | { of: 'property'; property: Property; times: number; aggregate: Aggregation }
  /** Durations in seconds of the sessions that contain a selected event, aggregated over sessions. */
  | { of: 'sessions'; times: number; aggregate: Aggregation }
  /** Number of events per actor, aggregated over actors. */
  | { of: 'counts'; actorType: ActorType; aggregate: Aggregation }
  /** The number that an aggregate returns, or null if it returns none. */
  | { of: 'expression'; expression: EventExpression };

/** Counts only the first of these events of each actor, provided that the query selects it. */
export interface FirstTime extends EventNames {
  to: number;
  where: Condition;
}

export interface SeriesQuery {
  select: Selection;
  /** Starts of the intervals. Empty to compute a single number for the entire range. */
  edges: readonly number[];
  /** Each point covers the intervals from `first` up to but not including `end`. Null if each point is one interval. */
  windows: readonly { first: number; end: number }[] | null;
  measure: Measure;
  breakdowns: readonly Breakdown[];
  /** Maximum number of breakdown values. The values with the largest numbers are kept, and all others are combined. */
  limit: number;
  /** True to sort events without a value last. */
  nullsLast: boolean;
}

export interface SeriesRow {
  /** Index of the row's interval. */
  bucket: number;
  /** One value per breakdown. A missing value is null. */
  values: (string | null)[];
  /** True if the row combines all values beyond the limit. */
  isOther: boolean;
  number: number;
}

export interface FunnelStep {
  event: string | null;
  where: Condition;
  /** If set, only the first of these events of an actor counts as the step. */
  first: FirstTime | null;
}

export interface FunnelStoreQuery {
  /**
   * Selects all events that matter. In a strict funnel, these are all events, because any other event breaks the order.
   */
  select: Selection;
  actorType: ActorType;
  steps: readonly FunnelStep[];
  /**
   * Indexes of the steps that can come second. An actor without the first step makes no progress, and an actor without
   * any of these steps gets no further than the first. Null for a funnel with steps in any order.
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
  /** Starts of the intervals. */
  edges: readonly number[];
  /** Number of intervals in which actors may start. */
  rows: number;
  target: FunnelStep;
  returning: FunnelStep;
  /** Minimum number of returning events in an interval that makes an actor count there. */
  least: number;
  /** If set, each actor starts with its first target event ever. */
  first: FirstTime | null;
  breakdowns: readonly Breakdown[];
  /** Whether an actor that returns in an interval also counts for all earlier intervals. */
  cumulative: boolean;
  /** Number of columns, including the column for the start. */
  columns: number;
  /**
   * Later columns are windows of this length after the actor's first target event. Null if columns are calendar
   * intervals.
   */
  windowMs: number | null;
  /** Number of intervals or windows that each later column covers. Null if each column covers one. */
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
  /** Index of the column. Column 0 is for the start. */
  later: number;
  count: number;
  /** Sum of the aggregated property values. */
  total: number;
  /** Number of values that were added up. */
  numbers: number;
}

export interface LifecycleStoreQuery {
  select: Selection;
  actorType: ActorType;
  /** Starts of the intervals, including one interval before the first and one after the last that is shown. */
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
  /**
   * Condition on the first page view of a session, and on the last one below, even if the query does not select those
   * page views.
   */
  entry: Condition;
  exit: Condition;
  /** Starts of the intervals in which sessions start. Empty to compute a single number for the entire range. */
  edges: readonly number[];
  breakdown: WebBreakdown | null;
  order: { by: 'visitors' | 'views' | 'bounces'; isDescending: boolean };
  limit: number;
  offset: number;
}

export interface WebBreakdown {
  /** The page views of a session from which values are read: all of them, or only the first or last one. */
  of: 'view' | 'entry' | 'exit';
  value: Breakdown;
  /** True to omit sessions without a value. */
  hidesNull: boolean;
  /**
   * Whether the bounce rate of a value is computed only from sessions that started with it, instead of from all sessions
   * that contain it.
   */
  ratesEntries: boolean;
  /** The values to which the result is restricted. Null for all values. */
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
  /** Number of visitors or views in all rows, depending on the order. */
  total: number;
}

/** Person properties that can be the display name. The first one that is not empty is used. */
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
  /** Expressions to compute for each person and return with it. */
  columns: readonly EventExpression[];
  order: readonly ActorsOrder[];
  limit: number;
  offset: number;
}

/** The order of actors. `created_at` and `name` come from the actor's record. The name of a group is its key. */
export interface ActorsOrder {
  by: 'events' | 'id' | 'created_at' | 'name' | EventExpression;
  isDescending: boolean;
}

export interface ActorRow {
  id: string;
  /** Number of the actor's events that contribute to the point. */
  events: number;
  /** Values of the requested `columns`. */
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
  /** Selects only the events of these persons. Null to select the events of all persons. */
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
  /** The time by which events are selected and sorted: when they happened, or when they were stored. */
  by: 'timestamp' | 'created_at';
  /** Start of the time range. Null if there is no limit. */
  from: number | null;
  /** End of the time range, exclusive. Null if there is no limit. */
  to: number | null;
  where: Condition;
  /** If set, the list contains only events with these distinct IDs. */
  distinctIds?: readonly string[];
  /** If set, the list contains only the event with this ID. */
  uuid: string | null;
  behind: EventPosition | null;
  isOldestFirst: boolean;
  limit: number;
  /** Number of events to skip. */
  offset?: number;
}

/** The values that identify an event and by which it is found. */
export interface EventKey {
  uuid: string;
  timestamp: number;
  event: string;
  distinctId: string;
}

export interface FoundKeys {
  keys: EventKey[];
  /**
   * The position up to which the search is complete, if it ran out of time. The next search can begin there with
   * `behind`. It then either covers at least one more day or throws.
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
  /** If set, only values that contain this text are returned, ignoring case. */
  containing: string | null;
  /** Number of the latest events to search. */
  latest: number;
  /** Maximum length of a value in characters. Longer values are left out. */
  longest: number;
  limit: number;
}

export interface ExposuresQuery {
  /** Selects the events that record calls of the flag. */
  select: Selection;
  /** The property with the variant that a call returned. */
  response: Breakdown;
  /** Starts of the days. */
  edges: readonly number[];
  conversionEvent: string | null;
  /** Maximum number of calls to read. */
  most: number;
  /** Maximum number of variants. Less frequent ones are combined as `$other`. */
  maxVariants: number;
}

/** Results for the persons who saw a variant on a day for the first time. */
export interface ExposureRow {
  variant: string;
  /** Index of the day on which they saw it first. */
  bucket: number;
  exposures: number;
  /** Number of persons who saw the variant for the first time. */
  persons: number;
  /** How many of these persons converted afterwards. */
  conversions: number;
  /**
   * Number of calls that were read for all variants and days. If there were more than `most` calls, it is greater than
   * `most`.
   */
  read: number;
}
