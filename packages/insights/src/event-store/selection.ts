// The events that a query reads: their time range, their names, and conditions on properties, persons and cohorts.

import type { Fragment } from './sql.ts';

export type EngineName = 'postgres' | 'clickhouse';

export interface EventNames {
  projectId: number;
  /** Names of the events. Null selects all events, and an empty list selects none. */
  events: readonly string[] | null;
}

/** Selects events of a project by name, time and a condition. */
export interface Selection extends EventNames {
  from: number;
  /** End of the time range, exclusive. */
  to: number;
  where: Condition;
}

/** Type of actor that a query counts. Persons are the current ones, after merges. */
export type ActorType = { of: 'person' } | { of: 'group'; index: number } | { of: 'session' };

/**
 * A property in a condition. `person` is a property of the current person. `stored person` is one of the person
 * properties stored with the event. `shown person` is the former, or the latter if the current person does not exist.
 */
export type Property =
  | { of: 'event' | 'person' | 'stored person' | 'shown person'; key: string }
  | { of: 'group'; index: number; key: string }
  /** `person_id` is the ID of the current person, and `stored person_id` the one at ingestion. */
  | { of: 'column'; key: 'distinct_id' | 'event' | 'person_id' | 'stored person_id' | 'elements_chain' }
  /** Link of the innermost element that has one, or an empty text. */
  | { of: 'column'; key: 'first href' }
  /** Time of the event. As a number, it is in seconds since 1970. */
  | { of: 'column'; key: 'timestamp' }
  /** Value of an SQL expression as text. Empty if the value is null. */
  | { of: 'column'; key: 'expression'; expression: EventExpression };

/**
 * An SQL expression on an event or a person, or an aggregate over events. Code outside of the event store prints it.
 */
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
  /** Prints the value itself, a form that sorts in the same order on both engines, or the form for results. */
  print(engine: EngineName, form: 'value' | 'order' | 'result'): Fragment;
}

export type Comparison = '>' | '>=' | '<' | '<=';

/**
 * A test of a property. Its result is never null. A property that is missing or JSON null counts as not set, and fails
 * every test except inside `not`.
 */
export type Test =
  | { is: 'set' }
  /**
   * True if the property equals one of the values. Texts are compared as they are, numbers by value, and lists by
   * content.
   */
  | { is: 'equal'; values: readonly string[] }
  | { is: 'containing'; text: string }
  /**
   * True if the property matches a pattern. Patterns are limited to the subset that all engines interpret alike
   * (`patterns.ts`).
   */
  | { is: 'matching'; pattern: string }
  | { is: 'number'; than: Comparison; value: number }
  /** Compares versions as semver.org defines, by their sort key (`dialect.ts`). `release` excludes pre-releases. */
  | { is: 'version'; than: Comparison | '=' | '<>'; key: string }
  | { is: 'release' }
  /** Compares times. The time zone applies to texts without an offset. */
  | { is: 'time'; than: Comparison; value: number; zone: string };

export type Condition =
  | { all: readonly Condition[] }
  | { any: readonly Condition[] }
  | { not: Condition }
  | { property: Property; test: Test }
  /** True if the breakdown has this value. Null stands for a missing value. */
  | { breakdown: Breakdown; value: string | null }
  | { inStaticCohort: number }
  /** An expression that is true or false. */
  | { expression: EventExpression }
  /** True if any distinct ID of the current person passes the test. */
  | { anyDistinctId: Test };

/** A value by which results are broken down. */
export interface Breakdown {
  property: Property;
  /** Whether to remove a trailing `/`, `?` or `#`. */
  isUrl: boolean;
  /** Whether to show 1 and 0 as true and false, like boolean values. */
  isBoolean: boolean;
  /** Edges of the numeric bins. If set, the value is the index of the bin. */
  bins: readonly number[] | null;
}
