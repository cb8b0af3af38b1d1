// Which events a query reads: time range, event names, conditions on properties, persons and cohorts.

import type { Fragment } from './sql.ts';

export type EngineName = 'postgres' | 'clickhouse';

export interface EventNames {
  projectId: number;
  /** Null selects all events, and an empty list selects none. */
  events: readonly string[] | null;
}

/** Selects events. */
export interface Selection extends EventNames {
  from: number;
  /** End of the time range, exclusive. */
  to: number;
  where: Condition;
}

/** Type of actor that a query counts. Persons are the current ones, after merges. */
export type ActorType = { of: 'person' } | { of: 'group'; index: number } | { of: 'session' };

/**
 * `person` is the current person, `stored person` the properties stored with the event, and `shown person` the current
 * person or, if it does not exist, the stored properties.
 */
export type Property =
  | { of: 'event' | 'person' | 'stored person' | 'shown person'; key: string }
  | { of: 'group'; index: number; key: string }
  /** `person_id` is the current person, `stored person_id` the one at ingestion. */
  | { of: 'column'; key: 'distinct_id' | 'event' | 'person_id' | 'stored person_id' | 'elements_chain' }
  /** Link of the innermost element that has one, or an empty text. */
  | { of: 'column'; key: 'first href' }
  /** Time of the event; as a number, in seconds since 1970. */
  | { of: 'column'; key: 'timestamp' }
  /** The value of an SQL expression as text; empty if the value is null. */
  | { of: 'column'; key: 'expression'; expression: EventExpression };

/** An SQL expression over an event or a person, or an aggregate over events, that code outside of the event store prints. */
export interface EventExpression {
  /** Equal expressions have equal keys. */
  key: string;
  isAggregate: boolean;
  /** Records that the expression needs in addition to the event. */
  reads: readonly Property[];
  /** True if the form for results is a text. */
  isShownAsText: boolean;
  /** Prints the columns of the event that an aggregate reads, with their names. */
  columns(engine: EngineName): Fragment[];
  /** Prints the value itself, a form that both engines sort alike, or the form for results. */
  print(engine: EngineName, form: 'value' | 'order' | 'result'): Fragment;
}

export type Comparison = '>' | '>=' | '<' | '<=';

/**
 * A test of a property. Its result is never null. A property that is missing or JSON null counts as not set, and fails
 * every test except inside `not`.
 */
export type Test =
  | { is: 'set' }
  /** Equals one of the values: as text, numbers by value, and lists by content. */
  | { is: 'equal'; values: readonly string[] }
  | { is: 'containing'; text: string }
  /** Matches a pattern in the subset that all engines interpret alike (`patterns.ts`). */
  | { is: 'matching'; pattern: string }
  | { is: 'number'; than: Comparison; value: number }
  /** Compares versions of semver.org by their sort key (`dialect.ts`). `release` excludes pre-releases. */
  | { is: 'version'; than: Comparison | '=' | '<>'; key: string }
  | { is: 'release' }
  /** Compares times. A text without an offset is in this time zone. */
  | { is: 'time'; than: Comparison; value: number; zone: string };

export type Condition =
  | { all: readonly Condition[] }
  | { any: readonly Condition[] }
  | { not: Condition }
  | { property: Property; test: Test }
  /** Matches a breakdown value; null for a missing one. */
  | { breakdown: Breakdown; value: string | null }
  | { inStaticCohort: number }
  /** An expression that is true or false. */
  | { expression: EventExpression }
  /** Tests any distinct ID of the current person. */
  | { anyDistinctId: Test };

/** A value by which results are broken down. */
export interface Breakdown {
  property: Property;
  /** Removes a trailing `/`, `?` or `#`. */
  isUrl: boolean;
  /** Shows 1 and 0 as true and false, like boolean values. */
  isBoolean: boolean;
  /** Edges of numeric bins. The value is then the index of the bin. */
  bins: readonly number[] | null;
}
