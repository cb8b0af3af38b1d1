// The interface of the event store: all queries on stored events. Both engines return the same results. Times are
// milliseconds since 1970. An actor is a person, group or session.

import type {
  ActorRow,
  ActorsStoreQuery,
  EventKey,
  EventList,
  EventListQuery,
  EventPageQuery,
  EventSize,
  EventsOfKeys,
  ExposureRow,
  ExposuresQuery,
  FoundKeys,
  FunnelActor,
  FunnelPath,
  FunnelStoreQuery,
  LifecycleRow,
  LifecycleStoreQuery,
  ListedEvent,
  PropertyValuesQuery,
  RetentionRow,
  RetentionStoreQuery,
  SeriesQuery,
  SeriesRow,
  WebRow,
  WebStoreQuery,
} from './queries.ts';
import type { EngineName, EventNames } from './selection.ts';
import type { Fragment } from './sql.ts';
import type { FunnelPage, FunnelTotals, WalkedFunnel } from './walked-funnel.ts';

export interface EventStore {
  /** Computes counts or other measures by breakdown value, over time or in total. */
  series(query: SeriesQuery, run: Budget): Promise<SeriesRow[]>;
  /**
   * Computes a funnel's numbers. Returns null if the engine cannot compute the funnel, so that the caller must walk
   * through its events.
   */
  funnelTotals(plan: WalkedFunnel, run: Budget): Promise<FunnelTotals | null>;
  /** Lists the actors that a number in a funnel's result counts. Returns null in the same cases as `funnelTotals`. */
  funnelActors(plan: WalkedFunnel, page: FunnelPage, run: Budget): Promise<ActorRow[] | null>;
  /**
   * Reads each actor's events that match a step or an exclusion. Calls `each` once per actor, with the events in
   * chronological order.
   */
  funnel(query: FunnelStoreQuery, run: Budget, each: (actor: FunnelActor) => void): Promise<void>;
  /**
   * Like `funnel`, but combines actors with the same path, because only their number matters. The events of actors that
   * reached only the first step have no times. Without a breakdown, such actors have a single event. The query must not
   * have exclusions.
   */
  funnelPaths(query: FunnelStoreQuery, run: Budget, each: (path: FunnelPath, actors: number) => void): Promise<void>;
  /** Counts the actors that started in an interval, and how many of them returned in later intervals. */
  retention(query: RetentionStoreQuery, run: Budget): Promise<RetentionRow[]>;
  lifecycle(query: LifecycleStoreQuery, run: Budget): Promise<LifecycleRow[]>;
  /** Counts a website's visitors, views and sessions, over time or by breakdown value. */
  web(query: WebStoreQuery, run: Budget): Promise<WebRow[]>;
  /** Lists the actors that a number in another query's result counts. */
  actors(query: ActorsStoreQuery, run: Budget): Promise<ActorRow[]>;
  page(query: EventPageQuery, run: Budget): Promise<unknown[][]>;
  /** Reads complete events in chronological order, starting after the given event, up to a limit in bytes. */
  list(query: EventListQuery & { maxBytes: number }, run: Budget): Promise<EventList>;
  /**
   * Finds the keys of events without reading the events. If the search runs out of time, returns the keys of the events
   * in the time ranges searched so far, if any.
   */
  keys(query: EventListQuery, run: Budget): Promise<FoundKeys>;
  /** Returns the approximate sizes of events in a response, in any order. Omits missing events. */
  sizes(query: EventsOfKeys, run: Budget): Promise<EventSize[]>;
  /** Reads events by key, in key order. Omits missing events. */
  read(query: EventsOfKeys, run: Budget): Promise<ListedEvent[]>;
  /** Returns a property's values in the latest events, most frequent first. */
  values(query: PropertyValuesQuery, run: Budget): Promise<string[]>;
  /** Counts, by day, which persons saw which variant of a flag, and whether they converted afterwards. */
  exposures(query: ExposuresQuery, run: Budget): Promise<ExposureRow[]>;
  rows(statement: Statement, run: Budget): Promise<unknown[][]>;
  /** Returns the time of each distinct ID's latest event. Omits IDs without events. */
  latest(ids: { projectId: number; distinctIds: readonly string[] }, run: Budget): Promise<LatestEvent[]>;
  /** Returns the time of the first event with one of these names, or null if no such event exists. */
  earliest(names: EventNames, run: Budget): Promise<number | null>;
}

export interface LatestEvent {
  distinctId: string;
  /** Milliseconds since the epoch. */
  time: number;
}

/** An SQL statement that is built outside of the event store. */
export interface Statement {
  projectId: number;
  print(engine: EngineName): Fragment;
  /** For an engine that does not follow indexes: two statements that find the same rows by the keys of their events. */
  page?: PageStatement;
}

/** Two statements for a page of events. One finds the events' keys, and the other reads the events in order. */
export interface PageStatement {
  keys(engine: EngineName): Fragment;
  print(engine: EngineName, keys: readonly EventKey[]): Fragment;
}

/** Limits a query's cost. All store functions throw OverBudget if a query exceeds a limit. */
export interface Budget {
  /** Aborts when the result is no longer needed, which makes the engine stop the query. */
  signal: AbortSignal;
  maxMs: number;
  /** Maximum size of the rows to read, in bytes. */
  maxBytes: number;
  /** Whether a user wrote the SQL. PostgreSQL runs such SQL with a role that can read only a few tables. */
  isUserSql?: boolean;
}

/**
 * Creates a time budget that consecutive queries share. Each query may use the time that the queries before it did not
 * use.
 */
export function withSharedDeadline({ maxMs, ...budget }: Budget): Budget {
  const deadline = performance.now() + maxMs;
  return {
    ...budget,
    get maxMs() {
      return Math.max(1, deadline - performance.now());
    },
  };
}

/** Thrown if a query has exceeded its budget and the engine has stopped it. */
export class OverBudget extends Error {
  readonly limit: 'time' | 'memory' | 'bytes';

  constructor(limit: 'time' | 'memory' | 'bytes', options?: ErrorOptions) {
    super(`The query exceeded its limit (${limit}).`, options);
    this.name = 'OverBudget';
    this.limit = limit;
  }
}
