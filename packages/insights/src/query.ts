// What may be asked: one schema per kind of query, for validation, types and the API's description.

import { AppError } from '@millrace/runtime';
import { type Static, type TObject, type TProperties, Type } from 'typebox';

const closed = { additionalProperties: false };
const object = <P extends TProperties>(title: string, fields: P) => Type.Object(fields, { ...closed, title });
const text = (description: string) => Type.Optional(Type.String({ description }));
const flag = (description: string) => Type.Optional(Type.Boolean({ description }));
const choice = <T extends string>(values: readonly T[], description: string) =>
  Type.Optional(Type.Enum([...values], { description }));
/** Fields by which clients draw; they change no number. */
const drawing = <N extends string>(...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, Type.Optional(Type.Unknown())])) as Record<N, ReturnType<typeof any>>;
const placing = ['legendPosition', 'hideWeekends', 'showAnnotations', 'showTrendLines'] as const;
const any = () => Type.Optional(Type.Unknown());

export const intervals = ['minute', 'hour', 'day', 'week', 'month'] as const;
export type Interval = (typeof intervals)[number];

export const aggregates = ['sum', 'avg', 'min', 'max', 'median', 'p75', 'p90', 'p95', 'p99'] as const;
export type Aggregate = (typeof aggregates)[number];
const perActor = ['avg', 'min', 'max', 'median', 'p75', 'p90', 'p95', 'p99'].map(
  (name) => `${name}_count_per_actor`,
) as `${Exclude<Aggregate, 'sum'>}_count_per_actor`[];
const counting = [
  ...(['total', 'dau', 'weekly_active', 'monthly_active', 'unique_session', 'unique_group'] as const),
  ...(['first_time_for_user', 'first_matching_event_for_user', 'first_time_for_user_with_filters'] as const),
];
export type Math = (typeof counting)[number] | Aggregate | (typeof perActor)[number];

/** Read by `plan/conditions.ts`, which names what is wrong with it. */
const filter = Type.Object(
  {
    key: text('Name of the property.'),
    value: Type.Optional(Type.Unknown({ description: 'What it is compared with: a value, or a list of them.' })),
    operator: text('`exact` if absent.'),
    type: text('`event` if absent; `person`, `group`, `cohort`, `element` or `event_metadata`.'),
    group_type_index: Type.Optional(Type.Integer({ minimum: 0, maximum: 4 })),
  },
  { title: 'InsightPropertyFilter' },
);
const filterGroup = Type.Object(
  { type: Type.Optional(Type.Enum(['AND', 'OR'])), values: Type.Array(Type.Object({})) },
  { title: 'InsightPropertyGroup' },
);
const filters = Type.Optional(
  Type.Union([Type.Array(filter), filterGroup], {
    description: 'A list of filters that all hold, or a group of filters and groups joined by `AND` or `OR`.',
  }),
);

const groupIndex = Type.Optional(Type.Integer({ minimum: 0, maximum: 4, description: 'Index of a type of groups.' }));

const dateRange = Type.Optional(
  object('InsightDateRange', {
    date_from: text('ISO 8601, relative (`-7d`, `-1mStart`, `wStart`, `qStart`) or `all`; `-7d` if absent.'),
    date_to: text('ISO 8601 or relative; now if absent.'),
    explicitDate: flag('Takes both ends literally.'),
  }),
);

/** What every query may have beside what it asks. */
const marks = drawing('version', 'tags', 'name', 'response', 'dataColorTheme');
const modifiers = Type.Optional(
  Type.Object(
    {
      personsOnEventsMode: text(
        'Which properties of persons are looked at: those of now, or those stored with the event.',
      ),
    },
    { title: 'InsightModifiers' },
  ),
);

export const eventsNode = object('InsightEventsNode', {
  kind: Type.Literal('EventsNode'),
  event: text('Name of the event; every event if absent or null.'),
  name: text('Shown by clients.'),
  custom_name: text('Comes back in the answer.'),
  math: Type.Optional(
    Type.Enum([...counting, ...aggregates, ...perActor] as Math[], { description: '`total` if absent.' }),
  ),
  math_property: text('Property of which `sum`, `avg`, `median` … are taken.'),
  math_property_type: choice(
    ['event_properties', 'person_properties', 'session_properties'],
    'Whose property it is; of sessions `$session_duration` only.',
  ),
  math_group_type_index: groupIndex,
  math_multiplier: Type.Optional(Type.Number({ description: 'Each value is multiplied by it.' })),
  properties: filters,
  fixedProperties: filters,
  optionalInFunnel: flag('A step that may be left out.'),
  ...drawing('response', 'version', 'limit', 'orderBy'),
});
export type EventsNode = Static<typeof eventsNode>;

const breakdownTypes = ['event', 'person', 'group'] as const;
const binCount = Type.Optional(
  Type.Integer({ minimum: 1, maximum: 100, description: 'Number of buckets of numbers.' }),
);
const breakdownFilter = Type.Optional(
  object('InsightBreakdownFilter', {
    breakdown: Type.Optional(Type.Union([Type.String(), Type.Array(Type.String(), { minItems: 1, maxItems: 3 })])),
    breakdown_type: choice(breakdownTypes, '`event` if absent.'),
    breakdown_group_type_index: groupIndex,
    breakdowns: Type.Optional(
      Type.Array(
        object('InsightBreakdown', {
          property: Type.String(),
          type: choice(breakdownTypes, '`event` if absent.'),
          group_type_index: groupIndex,
          normalize_url: flag('Leaves out `/`, `?` and `#` at the end.'),
          histogram_bin_count: binCount,
        }),
        { maxItems: 3 },
      ),
    ),
    breakdown_limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: '25 if absent.' })),
    breakdown_normalize_url: flag('Leaves out `/`, `?` and `#` at the end.'),
    breakdown_histogram_bin_count: binCount,
    breakdown_hide_other_aggregation: flag('Leaves out what is beyond the limit.'),
  }),
);
export type BreakdownFilter = Static<typeof breakdownFilter>;

const common = {
  dateRange,
  properties: filters,
  filterTestAccounts: flag("Adds the project's `test_account_filters`."),
  samplingFactor: Type.Optional(
    Type.Number({ exclusiveMinimum: 0, maximum: 1, description: 'Accepted; the answer is always of all events.' }),
  ),
  modifiers,
  ...marks,
};
const series = (maxItems: number) => Type.Array(eventsNode, { minItems: 1, maxItems });
const interval = choice(intervals, '`day` if absent.');

const compareFilter = Type.Optional(
  object('InsightCompareFilter', {
    compare: flag('Adds the period before.'),
    compare_to: text('How far back it lies, `-1w`; by default right before.'),
  }),
);

export const displays = {
  series: [
    ...(['ActionsLineGraph', 'ActionsLineGraphCumulative', 'ActionsBar'] as const),
    ...(['ActionsUnstackedBar', 'ActionsAreaGraph', 'ActionsStackedBar'] as const),
  ],
  total: ['ActionsTable', 'ActionsPie', 'ActionsBarValue', 'BoldNumber', 'WorldMap', 'CalendarHeatmap'] as const,
};

export const trendsQuery = object('TrendsQuery', {
  kind: Type.Literal('TrendsQuery'),
  series: series(26),
  interval,
  ...common,
  breakdownFilter,
  compareFilter,
  aggregation_group_type_index: groupIndex,
  trendsFilter: Type.Optional(
    object('InsightTrendsFilter', {
      display: choice([...displays.series, ...displays.total], '`ActionsLineGraph` if absent.'),
      formula: text('Of the series `A`, `B` …: `A / B`.'),
      formulas: Type.Optional(Type.Array(Type.String())),
      formulaNodes: Type.Optional(
        Type.Array(object('InsightFormula', { formula: Type.String(), custom_name: text('Label of its series.') })),
      ),
      smoothingIntervals: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Moving average.' })),
      ...drawing('aggregationAxisFormat', 'aggregationAxisPrefix', 'aggregationAxisPostfix', 'decimalPlaces'),
      ...drawing('minDecimalPlaces', 'showLegend', 'showValuesOnSeries', 'showLabelsOnSeries', 'showPercentStackView'),
      ...drawing('yAxisScaleType', 'showMultipleYAxes', 'hiddenLegendIndexes', 'goalLines', 'resultCustomizations'),
      ...drawing('resultCustomizationBy', 'showConfidenceIntervals', 'confidenceLevel', 'showTrendLines'),
      ...drawing('showMovingAverage', 'movingAverageIntervals', 'showAlertThresholdLines'),
      ...drawing(
        'detailedResultsAggregationType',
        'excludeBoxPlotOutliers',
        'compare',
        'breakdown_histogram_bin_count',
      ),
      ...drawing(...placing),
    }),
  ),
});
export type TrendsQuery = Static<typeof trendsQuery>;

const step = Type.Optional(Type.Integer());
const funnelExclusion = object('InsightFunnelExclusion', {
  ...eventsNode.properties,
  funnelFromStep: Type.Integer(),
  funnelToStep: Type.Integer(),
});

export const funnelsQuery = object('FunnelsQuery', {
  kind: Type.Literal('FunnelsQuery'),
  series: series(32),
  interval,
  ...common,
  breakdownFilter,
  // Clients send it with every kind of insight. Funnels are not compared.
  ...drawing('compareFilter'),
  aggregation_group_type_index: groupIndex,
  funnelsFilter: Type.Optional(
    object('InsightFunnelsFilter', {
      funnelVizType: choice(['steps', 'time_to_convert', 'trends'], '`steps` if absent.'),
      funnelOrderType: choice(['ordered', 'strict', 'unordered'], '`ordered` if absent.'),
      funnelWindowInterval: Type.Optional(Type.Integer({ description: 'Time to convert in, 14 if absent.' })),
      funnelWindowIntervalUnit: choice(['second', 'minute', 'hour', 'day', 'week', 'month'], '`day` if absent.'),
      funnelFromStep: step,
      funnelToStep: step,
      binCount: Type.Optional(Type.Integer({ minimum: 1, maximum: 90 })),
      exclusions: Type.Optional(Type.Array(funnelExclusion, { maxItems: 32 })),
      breakdownAttributionType: choice(['first_touch', 'last_touch', 'all_events', 'step'], '`first_touch` if absent.'),
      breakdownAttributionValue: step,
      funnelAggregateByHogQL: Type.Optional(Type.Enum(['person_id'])),
      ...drawing('funnelStepReference', 'layout', 'hiddenLegendBreakdowns', 'resultCustomizations', 'goalLines'),
      ...drawing('showValuesOnSeries', 'useUdf', 'showTrendLines', 'showLegend', 'display', 'breakdownSorting'),
      ...drawing(...placing, 'decimalPlaces', 'resultCustomizationBy', 'yAxisScaleType'),
    }),
  ),
});
export type FunnelsQuery = Static<typeof funnelsQuery>;

const retentionEntity = Type.Optional(
  object('InsightRetentionEntity', {
    id: text('Name of the event; every event if null.'),
    type: Type.Optional(Type.Enum(['events'])),
    kind: Type.Optional(Type.Enum(['EventsNode'])),
    properties: filters,
    ...drawing('name', 'order', 'custom_name', 'uuid'),
  }),
);

export const retentionQuery = object('RetentionQuery', {
  kind: Type.Literal('RetentionQuery'),
  ...common,
  breakdownFilter,
  aggregation_group_type_index: groupIndex,
  retentionFilter: Type.Optional(
    object('InsightRetentionFilter', {
      retentionType: choice(
        ['retention_recurring', 'retention_first_time', 'retention_first_ever_occurrence'],
        '`retention_recurring` if absent.',
      ),
      period: choice(['Hour', 'Day', 'Week', 'Month'], '`Day` if absent.'),
      totalIntervals: Type.Optional(Type.Integer({ minimum: 1, maximum: 100, description: '7 if absent.' })),
      targetEntity: retentionEntity,
      returningEntity: retentionEntity,
      cumulative: flag('Counts whoever returns then or later.'),
      minimumOccurrences: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000 })),
      timeWindowMode: choice(
        ['strict_calendar_dates', '24_hour_windows'],
        '`strict_calendar_dates` if absent; windows begin with the first target event of the interval.',
      ),
      retentionCustomBrackets: Type.Optional(
        Type.Array(Type.Integer({ minimum: 1, maximum: 1000 }), {
          minItems: 1,
          maxItems: 100,
          description: 'How many intervals each later column covers.',
        }),
      ),
      aggregationType: choice(['count', 'sum', 'avg'], '`count` if absent: of units; else of a property.'),
      aggregationProperty: text('Whose numbers are summed up: of target events, and later of returning ones.'),
      aggregationPropertyType: choice(['event', 'person'], '`event` if absent.'),
      ...drawing('retentionReference', 'meanRetentionCalculation', 'display', 'dashboardDisplay', 'showTrendLines'),
      ...drawing(
        'selectedInterval',
        'goalLines',
        ...placing,
        'showLegend',
        'showValuesOnSeries',
        'resultCustomizations',
      ),
    }),
  ),
});
export type RetentionQuery = Static<typeof retentionQuery>;

export const lifecycleQuery = object('LifecycleQuery', {
  kind: Type.Literal('LifecycleQuery'),
  series: series(1),
  interval,
  ...common,
  aggregation_group_type_index: groupIndex,
  lifecycleFilter: Type.Optional(
    object(
      'InsightLifecycleFilter',
      drawing('showValuesOnSeries', 'toggledLifecycles', 'showLegend', 'stacked', 'goalLines', ...placing),
    ),
  ),
});
export type LifecycleQuery = Static<typeof lifecycleQuery>;

const page = {
  select: Type.Optional(Type.Array(Type.String({ maxLength: 500 }), { maxItems: 100 })),
  orderBy: Type.Optional(Type.Array(Type.String({ maxLength: 500 }), { maxItems: 10 })),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 50_000, description: '100 if absent.' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
};

const insight = Type.Union([trendsQuery, retentionQuery, lifecycleQuery]);
const insightActors = object('InsightActorsQuery', {
  kind: Type.Literal('InsightActorsQuery'),
  source: insight,
  day: Type.Optional(Type.Union([Type.String(), Type.Number()], { description: 'Beginning of the bucket.' })),
  status: choice(['new', 'returning', 'resurrecting', 'dormant'], 'Of a lifecycle.'),
  interval: Type.Optional(Type.Integer({ minimum: 0, description: 'Row of a retention.' })),
  series: Type.Optional(Type.Integer({ minimum: 0, description: 'Index of the series.' })),
  breakdown: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Array(Type.Union([Type.String(), Type.Number()]))]),
  ),
  compare: choice(['current', 'previous'], 'Which period.'),
  ...drawing('includeRecordings', 'modifiers', ...(['version', 'tags', 'response'] as const)),
});
const funnelsActors = object('FunnelsActorsQuery', {
  kind: Type.Literal('FunnelsActorsQuery'),
  source: funnelsQuery,
  funnelStep: Type.Optional(
    Type.Integer({ description: 'Who reached step k; with `-k` who reached the one before only.' }),
  ),
  funnelCustomSteps: Type.Optional(Type.Array(Type.Integer(), { description: 'Whose furthest step is one of these.' })),
  funnelStepBreakdown: Type.Optional(
    Type.Union([Type.String(), Type.Number(), Type.Array(Type.Union([Type.String(), Type.Number()]))]),
  ),
  funnelTrendsDropOff: flag('Who did not convert.'),
  funnelTrendsEntrancePeriodStart: text('Beginning of the bucket in which they entered.'),
  ...drawing('includeRecordings', 'modifiers', ...(['version', 'tags', 'response'] as const)),
});
export const eventsQuery = object('EventsQuery', {
  kind: Type.Literal('EventsQuery'),
  ...page,
  event: text('Only events of this name.'),
  events: Type.Optional(
    Type.Array(Type.String(), { maxItems: 200, description: 'Only events of these names; all if empty.' }),
  ),
  where: Type.Optional(Type.Unknown({ description: 'SQL, which is not supported: an empty list.' })),
  properties: filters,
  fixedProperties: filters,
  filterTestAccounts: common.filterTestAccounts,
  personId: Type.Optional(Type.String({ format: 'uuid', description: 'Only events of this person.' })),
  after: text('Later than this; `-24h` if absent, `all` for no bound.'),
  before: text('Earlier than this; now if absent.'),
  source: Type.Optional(insightActors),
  modifiers,
  ...marks,
});
export type EventsQuery = Static<typeof eventsQuery>;

export const actorsQuery = object('ActorsQuery', {
  kind: Type.Literal('ActorsQuery'),
  ...page,
  source: Type.Optional(Type.Union([insightActors, funnelsActors])),
  search: Type.Optional(Type.String({ maxLength: 200 })),
  properties: filters,
  fixedProperties: filters,
  ...marks,
  ...drawing('modifiers'),
});
export type ActorsQuery = Static<typeof actorsQuery>;
export type InsightActorsQuery = Static<typeof insightActors>;
export type FunnelsActorsQuery = Static<typeof funnelsActors>;

export type Query = TrendsQuery | FunnelsQuery | RetentionQuery | LifecycleQuery | EventsQuery | ActorsQuery;

/** The kinds that can be run, by their name. */
export const queryKinds = {
  TrendsQuery: trendsQuery,
  FunnelsQuery: funnelsQuery,
  RetentionQuery: retentionQuery,
  LifecycleQuery: lifecycleQuery,
  EventsQuery: eventsQuery,
  ActorsQuery: actorsQuery,
} satisfies Record<Query['kind'], TObject>;

/** What cannot be answered, with the part of the query that is to blame: `series.1.math`. */
export function queryError(path: string, detail: string, code = 'invalid_input'): AppError {
  return new AppError('invalid', path === '' ? detail : `${path}: ${detail}`, { code, attr: 'query' });
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
