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
  /** Counts or other measures, over time or in total, by breakdown value. */
  series(query: SeriesQuery, run: Budget): Promise<SeriesRow[]>;
  /**
   * Computes the numbers of a funnel. Returns null if the engine cannot walk through this funnel and the caller must.
   */
  funnelTotals(plan: WalkedFunnel, run: Budget): Promise<FunnelTotals | null>;
  /** Lists the actors at a point of a funnel, or returns null as `funnelTotals` does. */
  funnelActors(plan: WalkedFunnel, page: FunnelPage, run: Budget): Promise<ActorRow[] | null>;
  /**
   * Reads the events of each actor that match a step or an exclusion. Calls `each` once per actor, with its events in
   * chronological order.
   */
  funnel(query: FunnelStoreQuery, run: Budget, each: (actor: FunnelActor) => void): Promise<void>;
  /**
   * Like `funnel`, but without the identities of actors. Actors with the same path are combined, because only their
   * number matters. The events of actors that reached only the first step have no times. Without a breakdown, such an
   * actor has a single event. The query must not have exclusions.
   */
  funnelPaths(query: FunnelStoreQuery, run: Budget, each: (path: FunnelPath, actors: number) => void): Promise<void>;
  /** Counts the actors that started in an interval, and how many of them returned in later ones. */
  retention(query: RetentionStoreQuery, run: Budget): Promise<RetentionRow[]>;
  lifecycle(query: LifecycleStoreQuery, run: Budget): Promise<LifecycleRow[]>;
  /** Counts visitors, views and sessions of a website, over time or by breakdown value. */
  web(query: WebStoreQuery, run: Budget): Promise<WebRow[]>;
  /** Lists the actors behind a number in the result of another query. */
  actors(query: ActorsStoreQuery, run: Budget): Promise<ActorRow[]>;
  /** Reads rows of event columns. */
  page(query: EventPageQuery, run: Budget): Promise<unknown[][]>;
  /** Reads complete events in chronological order after a position, up to a number of bytes. */
  list(query: EventListQuery & { maxBytes: number }, run: Budget): Promise<EventList>;
  /**
   * Finds events without reading them. If the search runs out of time, returns the events in the time ranges searched
   * so far, if there are any.
   */
  keys(query: EventListQuery, run: Budget): Promise<FoundKeys>;
  /** Returns the approximate sizes of events in a response, in any order. Omits missing events. */
  sizes(query: EventsOfKeys, run: Budget): Promise<EventSize[]>;
  /** Reads the events with the given keys, in the order of the keys. Omits missing events. */
  read(query: EventsOfKeys, run: Budget): Promise<ListedEvent[]>;
  /** Returns the values of a property in the latest events, the most frequent first. */
  values(query: PropertyValuesQuery, run: Budget): Promise<string[]>;
  /** Counts by day which persons saw which variant of a flag, and whether they converted afterwards. */
  exposures(query: ExposuresQuery, run: Budget): Promise<ExposureRow[]>;
  /** Returns the rows of a statement, in its order. */
  rows(statement: Statement, run: Budget): Promise<unknown[][]>;
  /** Returns when the latest event of each distinct ID happened. Omits IDs without events. */
  latest(ids: { projectId: number; distinctIds: readonly string[] }, run: Budget): Promise<LatestEvent[]>;
  /** Returns when the first event with one of these names happened, or null if none did. */
  earliest(names: EventNames, run: Budget): Promise<number | null>;
}

export interface LatestEvent {
  distinctId: string;
  /** Milliseconds since 1970. */
  time: number;
}

/** A statement that other code prints and the event store runs. */
export interface Statement {
  projectId: number;
  print(engine: EngineName): Fragment;
  /**
   * Statements that read the same rows in two steps, by the keys of their events. They are for an engine that does not
   * follow indexes.
   */
  page?: PageStatement;
}

/** Two statements for a page of events: one that finds their keys, and one that reads these events in their order. */
export interface PageStatement {
  keys(engine: EngineName): Fragment;
  print(engine: EngineName, keys: readonly EventKey[]): Fragment;
}

/** Limits the cost of a query. All functions of the store throw OverBudget when a query exceeds a limit. */
export interface Budget {
  /** Aborts when the result is no longer needed. The engine then stops the query. */
  signal: AbortSignal;
  maxMs: number;
  /** Maximum size of the rows that are read. */
  maxBytes: number;
  /** True for SQL that a user wrote, which PostgreSQL runs with a role that can read few tables. */
  isUserSql?: boolean;
}

/** Creates a budget for consecutive queries. Each one may take the time that the previous ones left. */
export function withSharedDeadline({ maxMs, ...budget }: Budget): Budget {
  const deadline = performance.now() + maxMs;
  return {
    ...budget,
    get maxMs() {
      return Math.max(1, deadline - performance.now());
    },
  };
}

/** Thrown when a query has exceeded its budget and the engine has stopped it. */
export class OverBudget extends Error {
  readonly limit: 'time' | 'memory' | 'bytes';

  constructor(limit: 'time' | 'memory' | 'bytes', options?: ErrorOptions) {
    super(`The query exceeded its limit (${limit}).`, options);
    this.name = 'OverBudget';
    this.limit = limit;
  }
}
