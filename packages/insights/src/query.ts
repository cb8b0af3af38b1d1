// Schemas of the supported queries, for validation, types and the API description.

import { type Static, type TObject, Type } from 'typebox';
import {
  choiceSchema,
  commonFields,
  compareFilter,
  displayFieldSchemas,
  filters,
  flagSchema,
  groupIndex,
  interval,
  metadataFields,
  modifiers,
  objectSchema,
  placementFields,
  textSchema,
} from './query-parts.ts';
import { type AnySqlQuery, databaseSchemaQuery, sqlMetadata, sqlQuery } from './sql-query.ts';
import {
  type WebOverviewQuery,
  type WebStatsTableQuery,
  type WebTrendsQuery,
  webOverviewQuery,
  webStatsTableQuery,
  webTrendsQuery,
} from './web-query.ts';

export const aggregates = ['sum', 'avg', 'min', 'max', 'median', 'p75', 'p90', 'p95', 'p99'] as const;
export type Aggregate = (typeof aggregates)[number];
const perActor = ['avg', 'min', 'max', 'median', 'p75', 'p90', 'p95', 'p99'].map(
  (name) => `${name}_count_per_actor`,
) as `${Exclude<Aggregate, 'sum'>}_count_per_actor`[];
const counting = [
  ...(['total', 'dau', 'weekly_active', 'monthly_active', 'unique_session', 'unique_group'] as const),
  ...(['first_time_for_user', 'first_matching_event_for_user', 'first_time_for_user_with_filters'] as const),
];
export type Math = 'hogql' | (typeof counting)[number] | Aggregate | (typeof perActor)[number];

export const eventsNode = objectSchema('InsightEventsNode', {
  kind: Type.Literal('EventsNode'),
  event: textSchema('Name of the event. Absent or null means all events.'),
  name: textSchema('Name displayed by clients.'),
  custom_name: textSchema('Custom name, returned in the result.'),
  math: Type.Optional(
    Type.Enum([...counting, ...aggregates, ...perActor, 'hogql'] as Math[], { description: 'Defaults to `total`.' }),
  ),
  math_property: textSchema('Property to aggregate with `sum`, `avg`, `median` and so on.'),
  math_property_type: choiceSchema(
    ['event_properties', 'person_properties', 'session_properties'],
    'Type of the property. For sessions, only `$session_duration` is supported.',
  ),
  math_hogql: Type.Optional(
    Type.String({
      maxLength: 10_000,
      description: 'SQL expression with an aggregation, such as `sum(properties.amount) / count()`, for `hogql`.',
    }),
  ),
  math_group_type_index: groupIndex,
  math_multiplier: Type.Optional(Type.Number({ description: 'Factor by which each value is multiplied.' })),
  properties: filters,
  fixedProperties: filters,
  optionalInFunnel: flagSchema('Whether this funnel step is optional.'),
  ...displayFieldSchemas('response', 'version', 'limit', 'orderBy'),
});
export type EventsNode = Static<typeof eventsNode>;

const breakdownTypes = ['event', 'person', 'group', 'hogql'] as const;
const binCount = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, description: 'Number of bins for a numeric breakdown.' }),
);
const breakdownFilter = Type.Optional(
  objectSchema('InsightBreakdownFilter', {
    breakdown: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 3 })])),
    breakdown_type: choiceSchema(
      breakdownTypes,
      'Type of the property. Defaults to `event`. `hogql` means an SQL expression.',
    ),
    breakdown_group_type_index: groupIndex,
    breakdowns: Type.Optional(
      Type.Array(
        objectSchema('InsightBreakdown', {
          property: Type.String(),
          type: choiceSchema(
            breakdownTypes,
            'Type of the property. Defaults to `event`. `hogql` means an SQL expression.',
          ),
          group_type_index: groupIndex,
          normalize_url: flagSchema('Whether to strip trailing `/`, `?` and `#`.'),
          histogram_bin_count: binCount,
        }),
        { maxItems: 3 },
      ),
    ),
    breakdown_limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Defaults to 25.' })),
    breakdown_normalize_url: flagSchema('Whether to strip trailing `/`, `?` and `#`.'),
    breakdown_histogram_bin_count: binCount,
    breakdown_hide_other_aggregation: flagSchema('Whether to leave out values beyond the limit.'),
  }),
);
export type BreakdownFilter = Static<typeof breakdownFilter>;

const series = (maxItems: number) => Type.Array(eventsNode, { minItems: 1, maxItems });

export const displays = {
  series: [
    ...(['ActionsLineGraph', 'ActionsLineGraphCumulative', 'ActionsBar'] as const),
    ...(['ActionsUnstackedBar', 'ActionsAreaGraph', 'ActionsStackedBar'] as const),
  ],
  total: ['ActionsTable', 'ActionsPie', 'ActionsBarValue', 'BoldNumber', 'WorldMap', 'CalendarHeatmap'] as const,
};

export const trendsQuery = objectSchema('TrendsQuery', {
  kind: Type.Literal('TrendsQuery'),
  series: series(26),
  interval,
  ...commonFields,
  breakdownFilter,
  compareFilter,
  aggregation_group_type_index: groupIndex,
  trendsFilter: Type.Optional(
    objectSchema('InsightTrendsFilter', {
      display: choiceSchema([...displays.series, ...displays.total], 'Chart type. Defaults to `ActionsLineGraph`.'),
      formula: textSchema('Formula of the series `A`, `B` and so on, such as `A / B`.'),
      formulas: Type.Optional(Type.Array(Type.String())),
      formulaNodes: Type.Optional(
        Type.Array(
          objectSchema('InsightFormula', { formula: Type.String(), custom_name: textSchema('Label of the series.') }),
        ),
      ),
      smoothingIntervals: Type.Optional(
        Type.Integer({ minimum: 1, maximum: 1000, description: 'Number of intervals in the moving average.' }),
      ),
      isIncreaseBad: flagSchema('Whether clients show an increase as bad and a decrease as good. Defaults to false.'),
      ...displayFieldSchemas(
        'aggregationAxisFormat',
        'aggregationAxisPrefix',
        'aggregationAxisPostfix',
        'decimalPlaces',
      ),
      ...displayFieldSchemas(
        'minDecimalPlaces',
        'showLegend',
        'showValuesOnSeries',
        'showLabelsOnSeries',
        'showPercentStackView',
      ),
      ...displayFieldSchemas(
        'yAxisScaleType',
        'showMultipleYAxes',
        'hiddenLegendIndexes',
        'goalLines',
        'resultCustomizations',
      ),
      ...displayFieldSchemas('resultCustomizationBy', 'showConfidenceIntervals', 'confidenceLevel', 'showTrendLines'),
      ...displayFieldSchemas('showMovingAverage', 'movingAverageIntervals', 'showAlertThresholdLines'),
      ...displayFieldSchemas(
        'detailedResultsAggregationType',
        'excludeBoxPlotOutliers',
        'compare',
        'breakdown_histogram_bin_count',
      ),
      ...displayFieldSchemas(...placementFields),
    }),
  ),
});
export type TrendsQuery = Static<typeof trendsQuery>;

const step = Type.Optional(Type.Integer());
const funnelExclusion = objectSchema('InsightFunnelExclusion', {
  ...eventsNode.properties,
  funnelFromStep: Type.Integer(),
  funnelToStep: Type.Integer(),
});

export const funnelsQuery = objectSchema('FunnelsQuery', {
  kind: Type.Literal('FunnelsQuery'),
  series: series(32),
  interval,
  ...commonFields,
  breakdownFilter,
  // Clients send this field with every kind of insight, but funnels do not support comparisons.
  ...displayFieldSchemas('compareFilter'),
  aggregation_group_type_index: groupIndex,
  funnelsFilter: Type.Optional(
    objectSchema('InsightFunnelsFilter', {
      funnelVizType: choiceSchema(['steps', 'time_to_convert', 'trends'], 'Graph type. Defaults to `steps`.'),
      funnelOrderType: choiceSchema(['ordered', 'strict', 'unordered'], 'Step order. Defaults to `ordered`.'),
      funnelWindowInterval: Type.Optional(
        Type.Integer({ description: 'Length of the conversion window. Defaults to 14.' }),
      ),
      funnelWindowIntervalUnit: choiceSchema(
        ['second', 'minute', 'hour', 'day', 'week', 'month'],
        'Unit of the conversion window. Defaults to `day`.',
      ),
      funnelFromStep: step,
      funnelToStep: step,
      binCount: Type.Optional(Type.Integer({ minimum: 1, maximum: 90 })),
      exclusions: Type.Optional(Type.Array(funnelExclusion, { maxItems: 32 })),
      breakdownAttributionType: choiceSchema(
        ['first_touch', 'last_touch', 'all_events', 'step'],
        'Breakdown attribution. Defaults to `first_touch`.',
      ),
      breakdownAttributionValue: step,
      funnelAggregateByHogQL: Type.Optional(Type.Enum(['person_id'])),
      ...displayFieldSchemas(
        'funnelStepReference',
        'layout',
        'hiddenLegendBreakdowns',
        'resultCustomizations',
        'goalLines',
      ),
      ...displayFieldSchemas(
        'showValuesOnSeries',
        'useUdf',
        'showTrendLines',
        'showLegend',
        'display',
        'breakdownSorting',
      ),
      ...displayFieldSchemas(...placementFields, 'decimalPlaces', 'resultCustomizationBy', 'yAxisScaleType'),
    }),
  ),
});
export type FunnelsQuery = Static<typeof funnelsQuery>;

const retentionEntity = Type.Optional(
  objectSchema('InsightRetentionEntity', {
    id: textSchema('Name of the event. Null means all events.'),
    type: Type.Optional(Type.Enum(['events'])),
    kind: Type.Optional(Type.Enum(['EventsNode'])),
    properties: filters,
    ...displayFieldSchemas('name', 'order', 'custom_name', 'uuid'),
  }),
);

export const retentionQuery = objectSchema('RetentionQuery', {
  kind: Type.Literal('RetentionQuery'),
  ...commonFields,
  breakdownFilter,
  aggregation_group_type_index: groupIndex,
  retentionFilter: Type.Optional(
    objectSchema('InsightRetentionFilter', {
      retentionType: choiceSchema(
        ['retention_recurring', 'retention_first_time', 'retention_first_ever_occurrence'],
        'Retention type. Defaults to `retention_recurring`.',
      ),
      period: choiceSchema(['Hour', 'Day', 'Week', 'Month'], 'Length of an interval. Defaults to `Day`.'),
      totalIntervals: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: 'Defaults to 7.' })),
      targetEntity: retentionEntity,
      returningEntity: retentionEntity,
      cumulative: flagSchema('Whether to also count actors who return in a later interval.'),
      minimumOccurrences: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      timeWindowMode: choiceSchema(
        ['strict_calendar_dates', '24_hour_windows'],
        'Type of time window. Defaults to `strict_calendar_dates`. A 24-hour window starts with the first target ' +
          'event in the interval.',
      ),
      retentionCustomBrackets: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), {
          minItems: 1,
          maxItems: 100,
          description: 'Number of intervals that each column after the first covers.',
        }),
      ),
      aggregationType: choiceSchema(
        ['count', 'sum', 'avg'],
        '`count` (default) counts actors. The others aggregate a property.',
      ),
      aggregationProperty: textSchema(
        'Property to aggregate. The first column uses target events, and later columns use returning events.',
      ),
      aggregationPropertyType: choiceSchema(['event', 'person'], 'Type of the property. Defaults to `event`.'),
      ...displayFieldSchemas(
        'retentionReference',
        'meanRetentionCalculation',
        'display',
        'dashboardDisplay',
        'showTrendLines',
      ),
      ...displayFieldSchemas(
        'selectedInterval',
        'goalLines',
        ...placementFields,
        'showLegend',
        'showValuesOnSeries',
        'resultCustomizations',
      ),
    }),
  ),
});
export type RetentionQuery = Static<typeof retentionQuery>;

export const lifecycleQuery = objectSchema('LifecycleQuery', {
  kind: Type.Literal('LifecycleQuery'),
  series: series(1),
  interval,
  ...commonFields,
  aggregation_group_type_index: groupIndex,
  lifecycleFilter: Type.Optional(
    objectSchema(
      'InsightLifecycleFilter',
      displayFieldSchemas(
        'showValuesOnSeries',
        'toggledLifecycles',
        'showLegend',
        'stacked',
        'goalLines',
        ...placementFields,
      ),
    ),
  ),
});
export type LifecycleQuery = Static<typeof lifecycleQuery>;

const page = {
  select: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: 100 })),
  orderBy: Type.Optional(Type.Array(Type.String({ maxLength: 10_000 }), { maxItems: 10 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50_000, description: 'Row limit. Defaults to 100.' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
};

const insight = Type.Union([trendsQuery, retentionQuery, lifecycleQuery]);
const insightActors = objectSchema('InsightActorsQuery', {
  kind: Type.Literal('InsightActorsQuery'),
  source: insight,
  day: Type.Optional(Type.Union([Type.String(), Type.Number()], { description: 'Start of the interval.' })),
  status: choiceSchema(['new', 'returning', 'resurrecting', 'dormant'], 'Lifecycle status in a lifecycle query.'),
  interval: Type.Optional(Type.Integer({ minimum: 0, description: 'Index of a row in a retention query, from 0.' })),
  series: Type.Optional(Type.Integer({ minimum: 0, description: 'Index of the series, starting at 0.' })),
  breakdown: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Array(Type.Union([Type.String(), Type.Number()]))]),
  ),
  compare: choiceSchema(['current', 'previous'], 'Period that the data point belongs to.'),
  modifiers,
  ...displayFieldSchemas('includeRecordings', ...(['version', 'tags', 'response'] as const)),
});
const funnelsActors = objectSchema('FunnelsActorsQuery', {
  kind: Type.Literal('FunnelsActorsQuery'),
  source: funnelsQuery,
  funnelStep: Type.Optional(
    Type.Integer({ description: 'With k, actors who reached step k. With -k, actors who dropped off before step k.' }),
  ),
  funnelCustomSteps: Type.Optional(
    Type.Array(Type.Integer(), { description: 'Actors whose furthest step is one of these.' }),
  ),
  funnelStepBreakdown: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Array(Type.Union([Type.String(), Type.Number()]))]),
  ),
  funnelTrendsDropOff: flagSchema('Whether to return actors who did not convert.'),
  funnelTrendsEntrancePeriodStart: textSchema('Start of the interval in which the actors entered the funnel.'),
  modifiers,
  ...displayFieldSchemas('includeRecordings', ...(['version', 'tags', 'response'] as const)),
});
export const eventsQuery = objectSchema('EventsQuery', {
  kind: Type.Literal('EventsQuery'),
  ...page,
  event: textSchema('Returns only events with this name.'),
  events: Type.Optional(
    Type.Array(Type.String(), { maxItems: 200, description: 'Returns only events with these names. Empty means all.' }),
  ),
  where: Type.Optional(
    Type.Array(Type.String({ maxLength: 10_000 }), {
      maxItems: 50,
      description: 'SQL conditions on events, such as `properties.amount > 10`. All must be true.',
    }),
  ),
  properties: filters,
  fixedProperties: filters,
  filterTestAccounts: commonFields.filterTestAccounts,
  personId: Type.Optional(Type.String({ format: 'uuid', description: 'Returns only events of this person.' })),
  after: textSchema('Returns only events after this time. Defaults to `-24h`. `all` means no limit.'),
  before: textSchema('Returns only events before this time. Defaults to now.'),
  source: Type.Optional(insightActors),
  modifiers,
  ...metadataFields,
});
export type EventsQuery = Static<typeof eventsQuery>;

export const actorsQuery = objectSchema('ActorsQuery', {
  kind: Type.Literal('ActorsQuery'),
  ...page,
  source: Type.Optional(Type.Union([insightActors, funnelsActors])),
  search: Type.Optional(Type.String({ maxLength: 200 })),
  properties: filters,
  fixedProperties: filters,
  modifiers,
  ...metadataFields,
});
export type ActorsQuery = Static<typeof actorsQuery>;
export type InsightActorsQuery = Static<typeof insightActors>;
export type FunnelsActorsQuery = Static<typeof funnelsActors>;

export type Query =
  | (TrendsQuery | FunnelsQuery | RetentionQuery | LifecycleQuery | EventsQuery | ActorsQuery)
  | (WebOverviewQuery | WebStatsTableQuery | WebTrendsQuery)
  | AnySqlQuery;

export const queryKinds = {
  TrendsQuery: trendsQuery,
  FunnelsQuery: funnelsQuery,
  RetentionQuery: retentionQuery,
  LifecycleQuery: lifecycleQuery,
  EventsQuery: eventsQuery,
  ActorsQuery: actorsQuery,
  WebOverviewQuery: webOverviewQuery,
  WebStatsTableQuery: webStatsTableQuery,
  WebTrendsQuery: webTrendsQuery,
  HogQLQuery: sqlQuery,
  HogQLMetadata: sqlMetadata,
  DatabaseSchemaQuery: databaseSchemaQuery,
} satisfies Record<Query['kind'], TObject>;
