// Schemas of web analytics queries: overview, table and chart.

import { type Static, Type } from 'typebox';
import { commonFields, compareFilter, displayFieldSchemas, flagSchema, interval, objectSchema } from './query-parts.ts';

/** Fields that may only be false. Clients send them with every query. */
const unsupported = <N extends string>(...names: N[]) =>
  Object.fromEntries(
    names.map((name) => [name, Type.Optional(Type.Literal(false, { description: 'Not supported. Must be false.' }))]),
  ) as Record<N, ReturnType<typeof literalFalse>>;
const literalFalse = () => Type.Optional(Type.Literal(false));

const web = {
  ...commonFields,
  interval,
  ...unsupported('doPathCleaning', 'includeRevenue'),
  // These fields have no effect, because every query uses all events and all sessions.
  ...displayFieldSchemas('sampling', 'useSessionsTable'),
};

export const webOverviewQuery = objectSchema('WebOverviewQuery', {
  kind: Type.Literal('WebOverviewQuery'),
  ...web,
  compareFilter,
});
export type WebOverviewQuery = Static<typeof webOverviewQuery>;

const webBreakdowns = [
  ...(['Page', 'InitialPage', 'ExitPage', 'ScreenName', 'InitialReferringDomain'] as const),
  ...(['InitialUTMSource', 'InitialUTMMedium', 'InitialUTMCampaign', 'InitialUTMTerm', 'InitialUTMContent'] as const),
  ...(['Browser', 'OS', 'DeviceType', 'Country'] as const),
] as const;
export type WebBreakdownName = (typeof webBreakdowns)[number];

const orders = ['Visitors', 'Views', 'BounceRate'] as const;

export const webStatsTableQuery = objectSchema('WebStatsTableQuery', {
  kind: Type.Literal('WebStatsTableQuery'),
  breakdownBy: Type.Enum([...webBreakdowns], {
    description:
      'Value of each row. `InitialPage`, `InitialReferringDomain` and the UTM values are those of the first page ' +
      'view of the session, and `ExitPage` is that of the last.',
  }),
  ...web,
  compareFilter,
  includeBounceRate: flagSchema('Whether to return the bounce rate of each row.'),
  ...unsupported('includeScrollDepth', 'includeAvgTimeOnPage'),
  orderBy: Type.Optional(
    Type.Array(Type.Enum([...orders, 'ASC', 'DESC']), {
      minItems: 2,
      maxItems: 2,
      description:
        '`Visitors`, `Views` or `BounceRate`, followed by `ASC` or `DESC`. Defaults to `["Visitors", "DESC"]`. ' +
        '`BounceRate` requires `includeBounceRate`.',
    }),
  ),
  limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: 'Row limit. Defaults to 100.' })),
  offset: Type.Optional(Type.Integer({ minimum: 0, maximum: 1_000_000 })),
});
export type WebStatsTableQuery = Static<typeof webStatsTableQuery>;

const webMetrics = ['UniqueUsers', 'PageViews', 'Sessions', 'Bounces', 'SessionDuration'] as const;
export type WebMetric = (typeof webMetrics)[number];

export const webTrendsQuery = objectSchema('WebTrendsQuery', {
  kind: Type.Literal('WebTrendsQuery'),
  ...web,
  metrics: Type.Array(Type.Enum([...webMetrics]), {
    minItems: 1,
    maxItems: webMetrics.length,
    description:
      'Numbers to return for each interval. `Bounces` is the bounce rate between 0 and 1, and `SessionDuration` is in ' +
      'seconds.',
  }),
});
export type WebTrendsQuery = Static<typeof webTrendsQuery>;

export type WebQuery = WebOverviewQuery | WebStatsTableQuery | WebTrendsQuery;
