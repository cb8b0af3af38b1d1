// Schemas that several kinds of queries share, such as filters and date ranges, and the error for an invalid query.

import { AppError } from '@millrace/runtime';
import { type TProperties, Type } from 'typebox';

const closed = { additionalProperties: false };
export const objectSchema = <P extends TProperties>(title: string, fields: P) =>
  Type.Object(fields, { ...closed, title });
export const textSchema = (description: string) => Type.Optional(Type.String({ description }));
export const flagSchema = (description: string) => Type.Optional(Type.Boolean({ description }));
export const choiceSchema = <T extends string>(values: readonly T[], description: string) =>
  Type.Optional(Type.Enum([...values], { description }));
/** Fields that only affect how clients draw a result. */
export const displayFieldSchemas = <N extends string>(...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Unknown())])) as Record<N, ReturnType<typeof any>>;
export const placementFields = ['legendPosition', 'hideWeekends', 'showAnnotations', 'showTrendLines'] as const;
const any = () => Type.Optional(Type.Unknown());

const intervals = ['minute', 'hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof intervals)[number];

/** Allows any combination of fields. `plan/conditions.ts` validates filters in detail. */
const filter = Type.Object(
  {
    key: textSchema('Name of the property. For the type `hogql`, an SQL condition such as `properties.amount > 10`.'),
    value: Type.Optional(Type.Unknown({ description: 'Value, or list of values, to compare the property with.' })),
    operator: textSchema('Comparison operator. Defaults to `exact`.'),
    type: textSchema('`event` (default), `person`, `group`, `cohort`, `element`, `event_metadata` or `hogql`.'),
    group_type_index: Type.Optional(Type.Integer({ minimum: 0, maximum: 4 })),
  },
  { title: 'InsightPropertyFilter' },
);
const filterGroup = Type.Object(
  { type: Type.Optional(Type.Enum(['AND', 'OR'])), values: Type.Array(Type.Object({})) },
  { title: 'InsightPropertyGroup' },
);
export const filters = Type.Optional(
  Type.Union([Type.Array(filter), filterGroup], {
    description: 'A list of filters that must all match, or a group of filters and groups combined with `AND` or `OR`.',
  }),
);

export const groupIndex = Type.Optional(
  Type.Integer({ minimum: 0, maximum: 4, description: 'Index of a group type.' }),
);

const dateRange = Type.Optional(
  objectSchema('InsightDateRange', {
    date_from: textSchema('ISO 8601, relative (`-7d`, `-1mStart`, `wStart`, `qStart`) or `all`. Defaults to `-7d`.'),
    date_to: textSchema('ISO 8601 or relative. Defaults to now.'),
    explicitDate: flagSchema('Whether to use the exact start and end times of the range, without rounding.'),
  }),
);

/** Fields that every query can have and that do not affect its result. */
export const metadataFields = displayFieldSchemas('version', 'tags', 'name', 'response', 'dataColorTheme');

export const personsModes = [
  'disabled',
  'person_id_override_properties_joined',
  'person_id_override_properties_on_events',
  'person_id_no_override_properties_on_events',
] as const;

export type PersonsMode = (typeof personsModes)[number];

/**
 * Modifiers without effect in Millrace. They choose between equivalent SQL statements, or concern data that Millrace
 * does not store.
 */
const withoutEffect = [
  ...(['debug', 'timings', 'personsArgMaxVersion', 'personsJoinMode', 'inCohortVia'] as const),
  ...(['inlineCohortCalculation', 'materializationMode', 'materializedColumnsOptimizationMode'] as const),
  ...(['optimizeJoinedFilters', 'optimizeProjections', 'propertyGroupsMode', 'sessionTableVersion'] as const),
  ...(['sessionsV2JoinMode', 's3TableUseInvalidColumns', 'formatCsvAllowDoubleQuotes'] as const),
  ...(['useMaterializedViews', 'usePresortedEventsTable', 'useWebAnalyticsPreAggregatedTables'] as const),
  ...(['usePreaggregatedTableTransforms', 'usePreaggregatedIntermediateResults'] as const),
  ...(['forceClickhouseDataSkippingIndexes', 'customChannelTypeRules'] as const),
];

export const modifiers = Type.Optional(
  objectSchema('InsightModifiers', {
    personsOnEventsMode: choiceSchema(
      personsModes,
      "Whether `person.properties` means the current properties of a person (`disabled` and `…_joined`) or those stored with the event (the others). Defaults to the project's mode.",
    ),
    bounceRatePageViewMode: Type.Optional(Type.Literal('count_pageviews', { description: 'Only the default.' })),
    bounceRateDurationSeconds: Type.Optional(Type.Literal(10, { description: 'Only the default.' })),
    convertToProjectTimezone: Type.Optional(Type.Literal(true, { description: 'Only the default.' })),
    dataWarehouseEventsModifiers: Type.Optional(
      Type.Array(Type.Unknown(), { maxItems: 0, description: 'Only an empty list.' }),
    ),
    ...displayFieldSchemas(...withoutEffect),
  }),
);

export const commonFields = {
  dateRange,
  properties: filters,
  filterTestAccounts: flagSchema("Whether to apply the project's `test_account_filters`."),
  samplingFactor: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'Accepted, but has no effect. All events are used.' }),
  ),
  modifiers,
  ...metadataFields,
};

export const interval = choiceSchema(intervals, 'Interval of the result. Defaults to `day`.');

export const compareFilter = Type.Optional(
  objectSchema('InsightCompareFilter', {
    compare: flagSchema('Whether to compare with the previous period.'),
    compare_to: textSchema(
      'How far back the compared period is, such as `-1w`. Defaults to the period directly before.',
    ),
  }),
);

/** Creates the error for an invalid query. @param path the invalid field, for example `series.1.math` */
export function createQueryError(path: string, detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', path === '' ? detail : `${path}: ${detail}`, { code, attr: 'query' });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
