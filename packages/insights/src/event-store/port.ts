// What the product asks of stored events, and what both engines answer alike. Times are milliseconds since 1970.

import type { Fragment } from './sql.ts';

export interface EventStore {
  /** Numbers over time or in total, by the values of a breakdown. */
  series(question: SeriesQuestion, run: Budget): Promise<SeriesRow[]>;
  /** The events of each unit that are steps or exclusions, unit by unit in the order of time; `each` is called for each unit. */
  funnel(question: FunnelQuestion, run: Budget, each: (unit: FunnelUnit) => void): Promise<void>;
  /**
   * The same for who asks how many and not who or when they began: units that did the same come as one, and of those that took the first
   * step only it is one event without its time. Needs a question without exclusions and breakdowns.
   */
  lives(question: FunnelQuestion, run: Budget, each: (life: FunnelLife, units: number) => void): Promise<void>;
  /** How many units began in an interval, and how many of them came back in later ones. */
  retention(question: RetentionQuestion, run: Budget): Promise<RetentionRow[]>;
  lifecycle(question: LifecycleQuestion, run: Budget): Promise<LifecycleRow[]>;
  /** Visitors, views and sessions of a website, over time or by the values of a breakdown. */
  web(question: WebQuestion, run: Budget): Promise<WebRow[]>;
  /** The persons, groups or sessions behind a number of the questions above. */
  units(question: UnitsQuestion, run: Budget): Promise<UnitRow[]>;
  /** Rows of events. */
  page(question: PageQuestion, run: Budget): Promise<unknown[][]>;
  /** Whole events in the order of time, from behind a position on, up to a number of bytes. */
  list(question: ListQuestion & { maxBytes: number }, run: Budget): Promise<EventList>;
  /** Which events these are, without reading them. */
  keys(question: ListQuestion, run: Budget): Promise<EventKey[]>;
  /** About how many bytes these events take where they are shown, in no order. One that is not stored is left out. */
  sizes(question: EventsOfKeys, run: Budget): Promise<EventSize[]>;
  /** These events in the order of their keys. One that is not stored is left out. */
  read(question: EventsOfKeys, run: Budget): Promise<ListedEvent[]>;
  /** Values that a property has in the latest events, the most frequent first. */
  values(question: ValuesQuestion, run: Budget): Promise<string[]>;
  /** Who got which variant of a flag, and what they did then, by day. */
  exposures(question: ExposuresQuestion, run: Budget): Promise<ExposureRow[]>;
  /** The rows of a statement, in its order. */
  rows(statement: Statement, run: Budget): Promise<unknown[][]>;
  /** When the first of these events happened; null when there is none. */
  earliest(names: EventNames, run: Budget): Promise<number | null>;
}

/** A statement that is printed outside of the event store, for the engine that runs it. */
export interface Statement {
  projectId: number;
  print(engine: EngineName): Fragment;
}

export type EngineName = 'postgres' | 'clickhouse';

/** What a question may cost. @throws OverBudget from every function of the store. */
export interface Budget {
  /** Aborted when nobody waits for the answer any more; the question ends in the engine. */
  signal: AbortSignal;
  maxMs: number;
  /** Of the rows that are read. */
  maxBytes: number;
}

/** For several questions, one after the other: each has the time that the others have left. */
export function untilDeadline({ maxMs, ...budget }: Budget): Budget {
  const deadline = performance.now() + maxMs;
  return {
    ...budget,
    get maxMs() {
      return Math.max(1, deadline - performance.now());
    },
  };
}

/** A question that costs more than its budget; the engine has stopped it. */
export class OverBudget extends Error {
  readonly limit: 'time' | 'memory' | 'bytes';

  constructor(limit: 'time' | 'memory' | 'bytes', options?: ErrorOptions) {
    super(`The query exceeded its limit (${limit}).`, options);
    this.name = 'OverBudget';
    this.limit = limit;
  }
}

export interface EventNames {
  projectId: number;
  /** Null: every event; empty: none. */
  events: readonly string[] | null;
}

/** Which events are looked at. */
export interface Selection extends EventNames {
  from: number;
  /** The first moment after. */
  to: number;
  where: Condition;
}

/** What is counted: each is the person of today, merges included. */
export type Unit = { of: 'person' } | { of: 'group'; index: number } | { of: 'session' };

/**
 * Persons are those of today; `stored person` is what was stored with the event, and `shown person` is that of today, or where there is
 * none what was stored.
 */
export type Property =
  | { of: 'event' | 'person' | 'stored person' | 'shown person'; key: string }
  | { of: 'group'; index: number; key: string }
  | { of: 'column'; key: 'distinct_id' | 'event' | 'person_id' | 'elements_chain' }
  /** The address of the innermost element that has one, or an empty text. */
  | { of: 'column'; key: 'first href' }
  /** When the event happened; a number is in seconds since 1970. */
  | { of: 'column'; key: 'timestamp' };

export type Comparison = '>' | '>=' | '<' | '<=';

/** What a property is asked. None of it is ever null: what is absent or JSON null is not set, and passes no test but `not`. */
export type Test =
  | { is: 'set' }
  /** Equal to one of these as a text, a number by its value, or a list by what it holds. */
  | { is: 'equal'; values: readonly string[] }
  | { is: 'containing'; text: string }
  /** A pattern of the subset that all engines read alike (`patterns.ts`). */
  | { is: 'matching'; pattern: string }
  | { is: 'number'; than: Comparison; value: number }
  /** A version by semver.org, compared by its key (`dialect.ts`); a release is no pre-release. */
  | { is: 'version'; than: Comparison | '=' | '<>'; key: string }
  | { is: 'release' }
  /** A text without an offset is of the zone's clocks. */
  | { is: 'time'; than: Comparison; value: number; zone: string };

export type Condition =
  | { all: readonly Condition[] }
  | { any: readonly Condition[] }
  | { not: Condition }
  | { property: Property; test: Test }
  /** The value of a breakdown; null: none. */
  | { breakdown: Breakdown; value: string | null }
  | { inStaticCohort: number }
  /** Of any id of the person of today. */
  | { anyDistinctId: Test };

/** A value events are told apart by. */
export interface Breakdown {
  property: Property;
  /** Leaves out `/`, `?` and `#` at the end. */
  isUrl: boolean;
  /** Is shown as true and false, whichever way it was sent: 1 and 0 too. */
  isBoolean: boolean;
  /** Edges of buckets of numbers: the value is the index of the bucket. */
  bins: readonly number[] | null;
}

export type Aggregation = 'sum' | 'avg' | 'min' | 'max' | { percentile: number };

export type Measure =
  | { of: 'events' }
  /** Distinct units. `once`: in the first bucket only. */
  | { of: 'units'; unit: Unit; once: boolean; first: FirstTime | null }
  | { of: 'property'; property: Property; times: number; aggregate: Aggregation }
  /** How many seconds each session lasted that had an event, aggregated over the sessions. */
  | { of: 'sessions'; times: number; aggregate: Aggregation }
  /** Events of each unit, aggregated over the units. */
  | { of: 'counts'; unit: Unit; aggregate: Aggregation };

/** Only the first of these events of a unit counts, and only if it is selected. */
export interface FirstTime extends EventNames {
  to: number;
  where: Condition;
}

export interface SeriesQuestion {
  select: Selection;
  /** Beginnings of the buckets; empty: one number over all. */
  edges: readonly number[];
  /** Each point covers some buckets, `first` up to and without `end`; null: each its own. */
  windows: readonly { first: number; end: number }[] | null;
  measure: Measure;
  breakdowns: readonly Breakdown[];
  /** Values beyond are summed up; the largest come first. */
  limit: number;
  /** Whether events without a value come behind all others. */
  nullsLast: boolean;
}

export interface SeriesRow {
  /** Index of the bucket. */
  bucket: number;
  /** A value for each breakdown; null: none. */
  values: (string | null)[];
  /** The sum of all values beyond the limit. */
  isOther: boolean;
  number: number;
}

export interface FunnelStep {
  event: string | null;
  where: Condition;
  /** Only the first of these events of a unit is the step. */
  first: FirstTime | null;
}

export interface FunnelQuestion {
  /** Of all events that matter, or of all there are where any other breaks the order. */
  select: Selection;
  unit: Unit;
  steps: readonly FunnelStep[];
  /** Those that may be the second. A unit gets nowhere without the first step, and no further without one of these; null: in any order. */
  second: readonly number[] | null;
  exclusions: readonly FunnelStep[];
  breakdowns: readonly Breakdown[];
}

export interface FunnelEvent {
  time: number;
  /** Bit k: it is step k. */
  steps: number;
  /** Bit k: it is exclusion k. */
  exclusions: number;
  values: (string | null)[];
}

export interface FunnelLife {
  /** In the order of time. */
  events: FunnelEvent[];
}

export interface FunnelUnit extends FunnelLife {
  id: string;
}

export interface RetentionQuestion {
  select: Selection;
  unit: Unit;
  /** Beginnings of the intervals. */
  edges: readonly number[];
  /** Intervals in which a unit may begin. */
  rows: number;
  target: FunnelStep;
  returning: FunnelStep;
  /** The least events of an interval in which a unit returns. */
  least: number;
  /** Each unit begins with its first target event ever. */
  first: FirstTime | null;
  breakdowns: readonly Breakdown[];
  /** Who returns in an interval counts in all before it too. */
  cumulative: boolean;
  /** Columns that are shown, with the one of those who began. */
  columns: number;
  /** Later columns are windows of this length from the first target event on; null: intervals of the calendar. */
  windowMs: number | null;
  /** Lengths of the later columns in intervals or windows; null: one each. */
  brackets: readonly number[] | null;
  /** A number that is summed up beside the units: of target events, and later of returning ones. */
  aggregated: Property | null;
}

export interface RetentionRow {
  values: (string | null)[];
  /** Index of the interval in which they began. */
  row: number;
  /** The column; 0: those who began. */
  later: number;
  count: number;
  /** Of the aggregated property. */
  total: number;
  /** How many numbers were summed up. */
  numbers: number;
}

export interface LifecycleQuestion {
  select: Selection;
  unit: Unit;
  /** Beginnings of the intervals, with one before the first and one behind the last that is shown. */
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

/** Sessions that began in the selected time, with those of their page views that are selected. */
export interface WebQuestion {
  /** Of page views. */
  select: Selection;
  /** What the first and the last page view of a session must be, selected or not. */
  entry: Condition;
  exit: Condition;
  /** Beginnings of the buckets that sessions begin in; empty: one number over all. */
  edges: readonly number[];
  breakdown: WebBreakdown | null;
  order: { by: 'visitors' | 'views' | 'bounces'; isDescending: boolean };
  limit: number;
  offset: number;
}

export interface WebBreakdown {
  /** The page view that has the value: each, or the first or the last of the session. */
  of: 'view' | 'entry' | 'exit';
  value: Breakdown;
  /** Whether sessions without a value are left out. */
  hidesNull: boolean;
  /** The bounce rate of a value is that of the sessions that began with it, and not of all in which it occurs. */
  ratesEntries: boolean;
  /** Only these values; null: all. */
  only: readonly (string | null)[] | null;
}

export interface WebRow {
  bucket: number;
  value: string | null;
  visitors: number;
  views: number;
  sessions: number;
  /** How long all sessions lasted together. */
  seconds: number;
  /** How many of the `rated` sessions bounced. */
  bounced: number;
  rated: number;
  /** Visitors or views of all rows, by what is ordered by. */
  total: number;
}

/** Properties of a person that name it: the first that is not empty. */
export const displayNames = ['email', 'name', 'username'];

/** A point of a question, or all persons there are. */
export type UnitsBehind =
  | { behind: 'series'; question: SeriesQuestion; unit: Unit }
  | { behind: 'retention'; question: RetentionQuestion; row: number }
  | { behind: 'lifecycle'; question: LifecycleQuestion; bucket: number; status: LifecycleStatus }
  | { behind: 'persons'; question: { projectId: number; where: Condition } };

export interface UnitsQuestion {
  units: UnitsBehind;
  unit: Unit;
  projectId: number;
  order: readonly UnitsOrder[];
  limit: number;
  offset: number;
}

/** `created_at` and `name` are those of the record: of a group, its key is its name. */
export interface UnitsOrder {
  by: 'events' | 'id' | 'created_at' | 'name';
  isDescending: boolean;
}

export interface UnitRow {
  id: string;
  /** Events of it behind the number. */
  events: number;
}

/** A column of a page of events. */
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
  | { json: Property };

export interface PageQuestion {
  select: Selection;
  /** Only events of these persons; null: of all. */
  of: UnitsBehind | null;
  columns: readonly PageColumn[];
  /** Indexes of columns that are ordered by. */
  order: readonly { column: PageColumn; isDescending: boolean }[];
  limit: number;
  offset: number;
}

/** Orders events, and tells where a list goes on. */
export interface EventPosition {
  time: number;
  uuid: string;
}

export interface ListQuestion extends EventNames {
  /** The time that events are selected and ordered by: when they happened, or when they were stored. */
  by: 'timestamp' | 'created_at';
  from: number;
  /** The first moment after. */
  to: number;
  where: Condition;
  /** Only this one. */
  uuid: string | null;
  behind: EventPosition | null;
  isOldestFirst: boolean;
  limit: number;
  /** How many events to leave out first. */
  offset?: number;
}

/** What finds an event. */
export interface EventKey {
  uuid: string;
  timestamp: number;
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
  /** Whether there are more events behind the last one. */
  hasMore: boolean;
}

/** An event as it was stored; JSON as text. */
export interface ListedEvent {
  uuid: string;
  event: string;
  distinct_id: string;
  timestamp: Date;
  captured_at: Date;
  created_at: Date;
  /** The person as of ingestion. */
  person_id: string;
  person_properties: string;
  properties: string;
  elements_chain: string;
}

export interface ValuesQuestion {
  select: Selection;
  property: Property;
  /** Only values that contain this, in any case. */
  containing: string | null;
  /** Events that are looked at. */
  latest: number;
  /** Characters; longer values are left out. */
  longest: number;
  limit: number;
}

export interface ExposuresQuestion {
  /** Calls of the flag. */
  select: Selection;
  /** What a call answered. */
  answer: Breakdown;
  /** Beginnings of the days. */
  edges: readonly number[];
  conversionEvent: string | null;
  /** It stops reading calls behind this many. */
  most: number;
  /** Rarer answers are put together as `$other`. */
  mostVariants: number;
}

/** What happened with the persons of one variant who came on one day. */
export interface ExposureRow {
  variant: string;
  /** Index of the day. */
  bucket: number;
  exposures: number;
  /** Who was exposed for the first time. */
  persons: number;
  /** Who of these did the conversion event from then on. */
  conversions: number;
  /** Calls of all variants and days; more than `most` when not all were read. */
  read: number;
}
