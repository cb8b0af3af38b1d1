// The events that a query reads: their time range, names, and conditions on properties, persons and cohorts.

import type { Fragment } from './sql.ts';

export type EngineName = 'postgres' | 'clickhouse';

export interface EventNames {
  projectId: number;
  /** The event names. Null selects all events, and an empty list selects no events. */
  events: readonly string[] | null;
}

export interface Selection extends EventNames {
  from: number;
  /** The end of the time range, exclusive. */
  to: number;
  where: Condition;
}

/** The type of actor that a query counts. Persons that were merged count as one person. */
export type ActorType = { of: 'person' } | { of: 'group'; index: number } | { of: 'session' };

/**
 * A property in a condition. `person` is a property of the current person. `stored person` is a person property stored
 * with the event. `shown person` is a property of the current person, or the stored property if the event has no
 * current person.
 */
export type Property =
  | { of: 'event' | 'person' | 'stored person' | 'shown person'; key: string }
  | { of: 'group'; index: number; key: string }
  /** `person_id` is the current person's ID, and `stored person_id` is the person's ID at ingestion. */
  | { of: 'column'; key: 'distinct_id' | 'event' | 'person_id' | 'stored person_id' | 'elements_chain' }
  /** The link of the innermost element that has a link, or an empty string. */
  | { of: 'column'; key: 'first href' }
  /** The event's time. As a number, it is in seconds since the epoch. */
  | { of: 'column'; key: 'timestamp' }
  /** The value of an SQL expression as text, or an empty string if the value is null. */
  | { of: 'column'; key: 'expression'; expression: EventExpression };

/**
 * An SQL expression on an event or a person, or an aggregate over events. Code outside of the event store generates the
 * SQL.
 */
export interface EventExpression {
  /** Equal expressions have equal keys. */
  key: string;
  isAggregate: boolean;
  /** The properties of other records that the expression reads in addition to the event. */
  reads: readonly Property[];
  /** Whether results contain the expression's value as text. */
  isShownAsText: boolean;
  /** Builds the event columns that an aggregate reads, with their names. */
  columns(engine: EngineName): Fragment[];
  /** Builds SQL for the value, for a sort key that has the same order on both engines, or for the value in results. */
  print(engine: EngineName, form: 'value' | 'order' | 'result'): Fragment;
}

export type Comparison = '>' | '>=' | '<' | '<=';

/**
 * A test of a property, whose result is never null. A property that is missing or JSON null is not set, and fails every
 * test except inside `not`.
 */
export type Test =
  | { is: 'set' }
  /**
   * True if the property equals one of the values. Strings are compared exactly, numbers by value, and lists by
   * content.
   */
  | { is: 'equal'; values: readonly string[] }
  | { is: 'containing'; text: string }
  /**
   * True if the property matches a pattern. Patterns are limited to the subset that all engines interpret in the same
   * way (`patterns.ts`).
   */
  | { is: 'matching'; pattern: string }
  | { is: 'number'; than: Comparison; value: number }
  /**
   * Compares versions in the order of semver.org, by their sort key (`dialect.ts`). `release` excludes pre-releases.
   */
  | { is: 'version'; than: Comparison | '=' | '<>'; key: string }
  | { is: 'release' }
  /** Compares times. Strings without an offset are in the time zone `zone`. */
  | { is: 'time'; than: Comparison; value: number; zone: string };

export type Condition =
  | { all: readonly Condition[] }
  | { any: readonly Condition[] }
  | { not: Condition }
  | { property: Property; test: Test }
  /** True if the breakdown has the value. Null means a missing value. */
  | { breakdown: Breakdown; value: string | null }
  | { inStaticCohort: number }
  | { expression: EventExpression }
  /** True if any of the current person's distinct IDs passes the test. */
  | { anyDistinctId: Test };

export interface Breakdown {
  property: Property;
  /** Whether to remove a trailing `/`, `?` or `#`. */
  isUrl: boolean;
  /** Whether to show 1 and 0 as true and false. */
  isBoolean: boolean;
  /** Edges of the numeric bins. If set, the value is the bin's index. */
  bins: readonly number[] | null;
}
