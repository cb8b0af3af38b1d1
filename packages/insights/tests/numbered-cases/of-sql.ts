// Cases sql-251 to sql-259 and sql-301 to sql-399: SQL expressions within other queries, on the data of sql-cases.json.

import { overrideFilters } from '../../src/override.ts';

export interface ExpressionCase {
  no: string;
  title: string;
  query: Record<string, unknown>;
  expect: Record<string, unknown>;
  testAccountFilters?: unknown[];
}

type Fields = Record<string, unknown>;

const row = (no: number, title: string, query: Fields, expect: Fields, more: Partial<ExpressionCase> = {}): ExpressionCase => ({ no: `sql-${no}`, title, query, expect, ...more });
const sqlError = (detail: string, code = 'hogql_query_error') => ({ code, detail });

const march = { date_from: '2026-03-01', date_to: '2026-03-31' };
const total = { display: 'BoldNumber' };
const sql = (key: string) => ({ type: 'hogql', key, value: null });
const node = (event: string | null, more: Fields = {}) => ({ kind: 'EventsNode', event, ...more });
const trends = (series: Fields[], more: Fields = {}) => ({ kind: 'TrendsQuery', dateRange: march, series, ...more });
const events = (select: string[], more: Fields = {}) => ({ kind: 'EventsQuery', select, after: '2026-01-01', ...more });
const orders = { where: ["event = 'order'"] };

export const eventsQueries: ExpressionCase[] = [
  row(255, 'selects expressions, and filters by conditions', events(['event', 'upper(event) -- Loud', 'properties.amount * 2'], { where: ["event = 'order'", 'properties.amount > 40'], orderBy: ['timestamp ASC'] }), {
    results: [
      ['order', 'ORDER', 99.8],
      ['order', 'ORDER', 199],
    ],
    columns: ['event', 'upper(event) -- Loud', 'properties.amount * 2'],
    types: ['String', 'String', 'Nullable(Float64)'],
    hasMore: false,
  }),
  row(256, 'groups by the other columns with an aggregate', events(['event', 'count()', 'uniq(person_id)'], { where: ["event in ('order', 'signup')"], orderBy: ['count() DESC'] }), {
    results: [
      ['order', 9, 5],
      ['signup', 4, 4],
    ],
    types: ['String', 'UInt64', 'UInt64'],
  }),
  row(301, 'orders by an expression, nulls last', events(['properties.amount * 1'], { ...orders, orderBy: ['properties.amount * 1 DESC'] }), { results: [[99.5], [49.9], [20.5], [20.5], [12], [10], [0], [null], [null]] }),
  row(302, 'orders by an aggregate that is not selected', events(['distinct_id', 'count()'], { ...orders, orderBy: ['sum(properties.amount) DESC'] }), {
    results: [
      ['eve', 1],
      ['ann', 3],
      ['bob', 2],
      ['cem', 1],
      ['dee', 2],
    ],
  }),
  row(303, 'orders by the alias of a column', events(['distinct_id', 'max(properties.amount) AS highest'], { ...orders, orderBy: ['highest'], limit: 2 }), {
    results: [
      ['cem', 0],
      ['bob', 12],
    ],
    columns: ['distinct_id', 'max(properties.amount) AS highest'],
    hasMore: true,
  }),
  row(304, 'orders by the first aggregate without orderBy', events(['distinct_id', 'sum(properties.amount)'], { ...orders, limit: 1 }), { results: [['eve', 99.5]] }),
  row(305, 'aggregates all events without other columns', events(['sum(properties.amount)', 'count()'], orders), { results: [[212.4, 9]] }),
  row(306, 'groups by an expression', events(["if(properties.amount > 15, 'high', 'low') AS size", 'count()'], { ...orders, orderBy: ['size'] }), {
    results: [
      ['high', 4],
      ['low', 5],
    ],
  }),
  row(307, 'combines expressions with columns that are shown in full', events(['*', 'person', 'length(distinct_id)'], { event: 'refund' }), { results: [[expect.objectContaining({ event: 'refund' }), expect.objectContaining({ distinct_id: 'cem' }), 3]] }),
  row(308, 'shows times, dates, UUIDs, lists and conditions', events(['toStartOfHour(timestamp)', 'toDate(timestamp)', 'uuid', '[event, distinct_id]', "event = 'refund'", 'properties.paid'], { event: 'refund' }), {
    results: [['2026-03-11T09:00:00+01:00', '2026-03-11', 'a0000000-0000-4000-8000-000000000013', ['refund', 'cem'], 1, null]],
    types: ["DateTime('Europe/Berlin')", 'Date', 'UUID', 'Array(String)', 'UInt8', 'Nullable(String)'],
  }),
  row(309, 'reads the properties of persons and groups', events(['person.properties.age + 1', 'group_0.properties.seats', 'lower(person.properties.name)'], { ...orders, orderBy: ['timestamp'], limit: 2 }), {
    results: [
      [35, 12, 'ann'],
      [42, 3, 'bob'],
    ],
  }),
  row(310, 'combines conditions with properties, a person and a time range', events(['properties.amount * 1'], { ...orders, properties: [{ key: 'currency', value: 'EUR', operator: 'exact' }], personId: '20000000-0000-4000-8000-000000000002', before: '2026-03-09' }), { results: [[10]] }),
  row(311, 'applies a filter of type hogql', events(['distinct_id'], { event: 'order', properties: [sql('properties.amount > 90')] }), { results: [['eve']] }),
  row(312, 'reads nested properties', events(['properties.address.city'], { event: 'order', properties: [sql("properties.address.city = 'Köln'")] }), { results: [['Köln']], types: ['Nullable(String)'] }),
  row(313, 'finds persons in a cohort, and by a subquery', events(['distinct_id'], { event: 'signup', where: ["person_id IN COHORT 'Free plan'", "person_id IN (SELECT person_id FROM events WHERE event = 'order')"], orderBy: ['distinct_id'] }), { results: [['bob'], ['eve']] }),
  row(314, 'skips rows with offset', events(['concat(distinct_id, event)'], { event: 'signup', orderBy: ['distinct_id DESC'], limit: 1, offset: 1 }), { results: [['evesignup']], hasMore: true, offset: 1 }),
  row(315, 'shows a quoted comment as a text', events(["'a -- b'"], { event: 'refund' }), { results: [['a -- b']] }),
  row(316, 'refuses an unknown column in its place', events(['event', 'evnt']), sqlError('select.1: Unable to resolve field: evnt')),
  row(317, 'refuses an aggregate in where', events(['event'], { where: ['count() > 1'] }), sqlError('where.0: Aggregations are not supported here.')),
  row(318, 'refuses a syntax error', events(['event'], { orderBy: ['event ASC, 1'] }), sqlError('orderBy.0: ', 'hogql_syntax_error')),
  row(319, 'refuses arrayJoin', events(['arrayJoin([1, 2])']), sqlError('select.0: arrayJoin is not supported here.')),
  row(320, 'refuses window functions', events(['row_number() OVER (ORDER BY timestamp)']), sqlError('select.0: Window functions are not supported here.')),
  row(321, 'refuses placeholders', events(['event'], { where: ['event = {name}'] }), sqlError('where.0: Unresolved placeholder: {name}')),
  row(322, 'refuses all columns of a table', events(['events.*']), sqlError('select.0: Columns must be listed by name here.')),
  row(323, 'refuses to order groups by another column', events(['event', 'uniq(person_id)'], { orderBy: ['timestamp'] }), sqlError('orderBy.0: With', 'invalid_input')),
  row(324, 'refuses to order by a list', events(['event'], { orderBy: ['[event]'] }), sqlError('orderBy.0: Results cannot be ordered by an array.')),
  row(325, 'refuses two expressions in one place', events(['event, distinct_id']), sqlError('select.0: ', 'hogql_syntax_error')),
  row(326, 'refuses a division by zero', events(['intDiv(1, 0 * length(event))'], { event: 'refund' }), sqlError('Division by zero.')),
  row(327, 'refuses an alias in where', events(['event'], { where: ["event = 'order' AS x"] }), sqlError('where.0: An alias is not supported here.')),
];

const isUsd = sql("properties.currency = 'USD'");
const behindOrders = (series: Fields, more: Fields = {}) => ({ kind: 'ActorsQuery', select: ['id'], orderBy: ['id'], source: { kind: 'InsightActorsQuery', source: trends([series]), ...more } });
const ids = (...numbers: number[]) => ({ results: numbers.map((number) => [expect.stringMatching(new RegExp(`^.0000000-0000-4000-8000-00000000000${number}$`))]) });

export const filters: ExpressionCase[] = [
  row(254, 'filters a query by an expression', trends([node('order')], { properties: [sql("properties.amount > 10 and person.properties.plan != 'free'")], trendsFilter: total }), { results: [{ aggregated_value: 1 }] }),
  row(257, 'filters a step of a funnel', { kind: 'FunnelsQuery', dateRange: { date_from: '2026-03-01', date_to: '2026-04-01' }, series: [node('$pageview'), node('order', { properties: [isUsd] })] }, { results: [{ count: 7 }, { count: 2 }] }),
  row(330, 'filters a series', trends([node('order', { properties: [isUsd] }), node('order')], { trendsFilter: { display: 'ActionsBarValue' } }), { results: [{ aggregated_value: 2 }, { aggregated_value: 7 }] }),
  row(
    331,
    'combines expressions in a group',
    trends([node('order')], {
      properties: {
        type: 'OR',
        values: [
          { type: 'AND', values: [sql('properties.amount = 0')] },
          { type: 'AND', values: [sql('properties.amount = 10')] },
        ],
      },
      trendsFilter: total,
    }),
    { results: [{ aggregated_value: 2 }] },
  ),
  row(332, 'accepts a number that is not 0', trends([node('order')], { properties: [sql('properties.amount')], trendsFilter: total }), { results: [{ aggregated_value: 4 }] }),
  row(333, 'applies an expression in the filters of test accounts', trends([node('order')], { filterTestAccounts: true, trendsFilter: total }), { results: [{ aggregated_value: 4 }] }, { testAccountFilters: [sql("person.properties.plan != 'free'")] }),
  row(
    334,
    'filters the events of a retention query',
    { kind: 'RetentionQuery', dateRange: { date_to: '2026-03-31' }, retentionFilter: { period: 'Month', totalIntervals: 1, targetEntity: { id: 'order', type: 'events', properties: [isUsd] }, returningEntity: { id: 'order', type: 'events' } } },
    { results: [{ values: [{ count: 2 }] }] },
  ),
  row(335, 'filters a lifecycle query', { kind: 'LifecycleQuery', interval: 'month', dateRange: march, series: [node('order', { properties: [isUsd] })] }, { results: expect.arrayContaining([expect.objectContaining({ status: 'new', data: [1] }), expect.objectContaining({ status: 'resurrecting', data: [1] })]) }),
  row(336, 'filters a query on web traffic', { kind: 'WebOverviewQuery', dateRange: march, properties: [sql("properties.$pathname = '/pricing'")] }, { results: expect.arrayContaining([expect.objectContaining({ key: 'visitors', value: 4 }), expect.objectContaining({ key: 'views', value: 5 })]) }),
  row(337, 'applies a filter of a dashboard', overrideFilters(trends([node('order')], { trendsFilter: total }), { properties: [isUsd] }) as Fields, { results: [{ aggregated_value: 2 }] }),
  row(338, 'applies an expression within {filters} of SQL', { kind: 'HogQLQuery', query: 'SELECT count() FROM events WHERE {filters}', filters: { properties: [isUsd] } }, { results: [[2]] }),
  row(339, 'reads the properties of a group', trends([node('order')], { properties: [sql('group_0.properties.seats > 5')], trendsFilter: total }), { results: [{ aggregated_value: 2 }] }),
  row(340, 'finds persons in a cohort', trends([node('order')], { properties: [sql("person_id IN COHORT 'Key accounts'")], trendsFilter: total }), { results: [{ aggregated_value: 2 }] }),
  row(341, 'finds events by a subquery', trends([node('order')], { properties: [sql("distinct_id IN (SELECT distinct_id FROM events WHERE event = 'refund')")], trendsFilter: total }), { results: [{ aggregated_value: 1 }] }),
  row(342, 'reads the person properties stored with events', trends([node('order')], { properties: [sql("person.properties.plan = 'free'")], modifiers: { personsOnEventsMode: 'person_id_override_properties_on_events' }, trendsFilter: total }), { results: [{ aggregated_value: 1 }] }),
  row(343, 'lists the persons behind a filtered point', behindOrders(node('order', { properties: [isUsd] }), { day: '2026-03-10' }), ids(2)),
  row(344, 'refuses a value', trends([node('order')], { properties: [{ type: 'hogql', key: '1 = 1', value: 5 }] }), sqlError('properties.0.value: Filters of the type "hogql" consist only of `key`.', 'invalid_input')),
  row(345, 'refuses an aggregate', trends([node('order', { properties: [sql('count() > 1')] })]), sqlError('series.0.properties.0.key: Aggregations are not supported here.')),
  row(346, 'refuses a column of events in a filter of persons', { kind: 'ActorsQuery', properties: [sql("event = 'order'")] }, sqlError('properties.0.key: Unable to resolve field: event')),
  row(347, 'refuses a list', trends([node('order')], { properties: [sql('[1, 2]')] }), sqlError('properties.0.key: Expected a condition, found an array.')),
  row(348, 'refuses more than 100 expressions', trends([node('order')], { properties: Array.from({ length: 101 }, (_, at) => sql(`properties.amount = ${at}`)) }), sqlError('properties.100.key: A query can contain at most 100 SQL expressions.', 'invalid_input')),
  row(349, 'refuses a cohort that does not exist', trends([node('order')], { properties: [sql("person_id IN COHORT 'None'")] }), sqlError('properties.0.key: ')),
];

const byValue = { display: 'ActionsBarValue' };
const by = (breakdownFilter: Fields, more: Fields = {}) => trends([node('order')], { breakdownFilter, trendsFilter: byValue, ...more });
const missing = '$$_posthog_breakdown_null_$$';
const values = (...pairs: [unknown, number][]) => ({ results: pairs.map(([breakdown_value, aggregated_value]) => ({ breakdown_value, aggregated_value })) });

export const breakdowns: ExpressionCase[] = [
  row(253, 'breaks down by an expression', trends([node('$pageview')], { breakdownFilter: { breakdown_type: 'hogql', breakdown: "if(startsWith(properties.$pathname, '/blog'), 'blog', 'shop')" }, trendsFilter: byValue }), values(['shop', 11], ['blog', 4])),
  row(
    350,
    'breaks down by an expression and a property',
    by({
      breakdowns: [
        { type: 'hogql', property: 'lower(properties.currency)' },
        { type: 'event', property: 'currency' },
      ],
    }),
    values([['eur', 'EUR'], 5], [['usd', 'USD'], 2]),
  ),
  row(351, 'treats null as a missing value', by({ breakdown_type: 'hogql', breakdown: 'upper(properties.note)' }), values(['FÜR KÖLN', 1], [missing, 6])),
  row(352, 'shows conditions as 1 and 0', by({ breakdown_type: 'hogql', breakdown: 'properties.amount > 10' }), values(['0', 4], ['1', 3])),
  row(353, 'groups numbers into bins', by({ breakdowns: [{ type: 'hogql', property: 'properties.amount * 1', histogram_bin_count: 2 }] }), values([['[0,49.75]'], 3], [['[49.75,99.51]'], 2], [[missing], 2])),
  row(
    354,
    'breaks down a funnel',
    { kind: 'FunnelsQuery', dateRange: march, series: [node('order'), node('refund')], breakdownFilter: { breakdown_type: 'hogql', breakdown: "ifNull(person.properties.plan, 'none')" } },
    { results: expect.arrayContaining([[expect.objectContaining({ count: 2, breakdown_value: ['pro'] }), expect.objectContaining({ count: 1, breakdown_value: ['pro'] })]]) },
  ),
  row(
    355,
    'breaks down a retention query',
    {
      kind: 'RetentionQuery',
      dateRange: { date_to: '2026-03-31' },
      breakdownFilter: { breakdowns: [{ type: 'hogql', property: "concat('in ', properties.currency)" }] },
      retentionFilter: { period: 'Month', totalIntervals: 1, targetEntity: { id: 'order', type: 'events' }, returningEntity: { id: 'order', type: 'events' } },
    },
    { results: expect.arrayContaining([expect.objectContaining({ breakdown_value: 'in USD', values: [expect.objectContaining({ count: 2 })] })]) },
  ),
  row(356, 'lists the persons behind a value', { kind: 'ActorsQuery', select: ['id'], orderBy: ['id'], source: { kind: 'InsightActorsQuery', source: by({ breakdown_type: 'hogql', breakdown: 'properties.amount > 10' }), breakdown: '1' } }, ids(2, 1, 5)),
  row(357, 'refuses an aggregate', by({ breakdown_type: 'hogql', breakdown: 'count()' }), sqlError('breakdownFilter.breakdown: Aggregations are not supported here.')),
  row(358, 'refuses a list', by({ breakdowns: [{ type: 'hogql', property: '[event]' }] }), sqlError('breakdownFilter.breakdowns.0.property: Expected a text, a number, a time or a condition, found an array.')),
];

const measured = (math_hogql: string, more: Fields = {}) => trends([node('order', { math: 'hogql', math_hogql })], { trendsFilter: total, ...more });

export const measures: ExpressionCase[] = [
  row(251, 'computes an aggregate of its own', measured('sum(properties.amount) / count()'), { results: [{ aggregated_value: expect.closeTo(24.485714285714288, 9) }] }),
  row(252, 'shows empty days as 0', measured('max(properties.amount)', { dateRange: { date_from: '2026-03-09', date_to: '2026-03-11' }, trendsFilter: {} }), { results: [{ data: [0, 12, 0], days: ['2026-03-09', '2026-03-10', '2026-03-11'] }] }),
  row(258, 'refuses an unknown function in its place', measured('summ(properties.amount)'), sqlError("series.0.math_hogql: Unsupported function call 'summ(...)'. Perhaps you meant 'sum(...)'?")),
  row(259, 'refuses an expression without an aggregate', measured('properties.amount'), sqlError('series.0.math_hogql: Expected an expression with an aggregation')),
  row(360, 'computes an aggregate for each value of a breakdown', measured('avg(properties.amount)', { breakdownFilter: { breakdown: 'currency' }, trendsFilter: byValue }), {
    results: [
      { breakdown_value: 'USD', aggregated_value: 55.75 },
      { breakdown_value: 'EUR', aggregated_value: expect.closeTo(59.9 / 3, 9) },
    ],
  }),
  row(361, 'is part of a formula', trends([node('order', { math: 'hogql', math_hogql: 'sum(properties.amount)' }), node('order')], { trendsFilter: { ...total, formula: 'A / B' } }), { results: [{ aggregated_value: expect.closeTo(24.485714285714288, 9) }] }),
  row(362, 'shows null as 0', measured('max(properties.tokens)'), { results: [{ aggregated_value: 0 }] }),
  row(363, 'shows infinity as 0', measured('sum(properties.amount) / 0'), { results: [{ aggregated_value: 0 }] }),
  row(364, 'reads the properties of persons', measured('uniq(person.properties.plan)'), { results: [{ aggregated_value: 2 }] }),
  row(365, 'counts conditions', measured('countIf(properties.paid) / count()'), { results: [{ aggregated_value: expect.closeTo(4 / 7, 9) }] }),
  row(366, 'breaks down by an expression', measured('sum(properties.amount)', { breakdownFilter: { breakdown_type: 'hogql', breakdown: 'lower(properties.currency)' }, trendsFilter: byValue }), {
    results: [
      { breakdown_value: 'usd', aggregated_value: 111.5 },
      { breakdown_value: 'eur', aggregated_value: expect.closeTo(59.9, 9) },
    ],
  }),
  row(367, 'returns the expression with the series', measured('count()'), { results: [{ action: { math: 'hogql', math_hogql: 'count()' }, aggregated_value: 7 }] }),
  row(368, 'lists the persons of all events of a point', behindOrders(node('order', { math: 'hogql', math_hogql: 'max(properties.amount)' }), { day: '2026-03-10' }), ids(3, 2)),
  row(369, 'requires an expression', trends([node('order', { math: 'hogql' })]), sqlError('series.0.math_hogql: This field is required for hogql.', 'invalid_input')),
  row(370, 'refuses a text', measured('any(event)'), sqlError('series.0.math_hogql: Expected a number, found a text.')),
  row(371, 'refuses a property outside of the aggregate', measured('sum(properties.amount) + properties.amount'), sqlError("series.0.math_hogql: The column 'properties.amount' must be in GROUP BY or in an aggregate.")),
  row(372, 'refuses it in a funnel', { kind: 'FunnelsQuery', dateRange: march, series: [node('order'), node('refund', { math: 'hogql', math_hogql: 'count()' })] }, sqlError('series.1.math: `hogql` is only supported in a TrendsQuery.', 'invalid_input')),
];

const persons = (select: string[], more: Fields = {}) => ({ kind: 'ActorsQuery', select, orderBy: ['id'], ...more });
const onDay = (event: string, day: string) => ({ source: { kind: 'InsightActorsQuery', source: trends([node(event)]), day } });

export const actors: ExpressionCase[] = [
  row(380, 'selects expressions over persons', persons(['lower(properties.name)', 'properties.age + 1 AS next_age', 'id'], { limit: 2 }), {
    results: [
      ['cem öztürk', null, '10000000-0000-4000-8000-000000000003'],
      ['bob', 42, '20000000-0000-4000-8000-000000000002'],
    ],
    columns: ['lower(properties.name)', 'properties.age + 1 AS next_age', 'id'],
    types: ['Nullable(String)', 'Nullable(Float64)', 'UUID'],
    hasMore: true,
  }),
  row(381, 'orders by an expression, nulls last', persons(['properties.name'], { orderBy: ['properties.age DESC'] }), { results: [['Gus'], ['Bob'], ['Ann'], ['Eve'], ['Cem Öztürk'], ['Dee'], [null]] }),
  row(382, 'filters by an expression', persons(['id'], { properties: [sql("properties.plan = 'pro' AND is_identified")] }), ids(3, 1)),
  row(383, 'orders by the name of a column', persons(['properties.age AS age'], { orderBy: ['age'], limit: 1, offset: 1 }), { results: [[34]] }),
  row(384, 'shows expressions over the persons behind a point', persons(['properties.plan', 'event_count', 'toDate(created_at)'], { ...onDay('order', '2026-03-10'), orderBy: ['properties.plan DESC'] }), {
    results: [
      ['pro', 1, '2026-03-09'],
      ['free', 1, '2026-02-01'],
    ],
    types: ['Nullable(String)', 'UInt64', 'Date'],
  }),
  row(385, 'filters the persons behind a point', persons(['id'], { ...onDay('order', '2026-03-10'), properties: [sql("properties.plan = 'free'")] }), ids(2)),
  row(386, 'shows null for an actor without a record', persons(["coalesce(properties.plan, 'none')", 'is_identified'], onDay('$pageview', '2026-03-31')), { results: [['none', null]] }),
  row(387, 'finds persons by a subquery', persons(['id'], { properties: [sql("id IN (SELECT person_id FROM events WHERE event = 'refund')")] }), ids(3)),
  row(388, 'finds persons in a cohort', persons(['id'], { properties: [sql("id IN COHORT 'Free plan'")] }), ids(2, 5)),
  row(389, 'refuses an aggregate', persons(['count()']), sqlError('select.0: Aggregations are not supported here.')),
  row(390, 'refuses distinct IDs', persons(['pdi.distinct_id']), sqlError('select.0: Distinct IDs are not supported here.')),
  row(391, 'refuses an unknown column', persons(['id'], { orderBy: ['nope'] }), sqlError('orderBy.0: Unable to resolve field: nope')),
  row(
    392,
    'refuses expressions over the actors of a funnel',
    persons(['upper(properties.name)'], { source: { kind: 'FunnelsActorsQuery', funnelStep: 1, source: { kind: 'FunnelsQuery', dateRange: march, series: [node('order'), node('refund')] } } }),
    sqlError('select.0: SQL expressions are not supported for funnel actors.', 'invalid_input'),
  ),
  row(393, 'refuses expressions over groups', persons(['upper(key)'], { source: { kind: 'InsightActorsQuery', source: trends([node('order', { math: 'unique_group', math_group_type_index: 0 })]), day: '2026-03-10' } }), sqlError('select.0: SQL expressions are not supported for groups.', 'invalid_input')),
];

const onEvents = { personsOnEventsMode: 'person_id_override_properties_on_events' };
const ofFreePlan = (modifiers?: Fields) => trends([node('order', { properties: [sql("person.properties.plan = 'free'")] })], { ...(modifiers && { modifiers }), trendsFilter: total });
const behindFreePlan = (ofSource?: Fields) => ({ source: { kind: 'InsightActorsQuery', source: ofFreePlan(ofSource) } });
const query = (text: string, more: Fields = {}) => ({ kind: 'HogQLQuery', query: text, ...more });

export const modifiers: ExpressionCase[] = [
  row(394, 'lists persons with the modifiers of the insight', persons(['id'], behindFreePlan(onEvents)), ids(1)),
  row(395, 'prefers the modifiers of the list', persons(['id'], { ...behindFreePlan(onEvents), modifiers: { personsOnEventsMode: 'disabled' } }), ids(2, 5)),
  row(396, 'refuses an unknown mode', query('SELECT 1', { modifiers: { personsOnEventsMode: 'joined' } }), sqlError('modifiers.personsOnEventsMode: Choose one of: disabled, ', 'invalid_input')),
  row(397, 'refuses a modifier that would change the result', query('SELECT 1', { modifiers: { debug: true, convertToProjectTimezone: false } }), sqlError('modifiers.convertToProjectTimezone: Only true is supported here.', 'invalid_input')),
  row(398, 'refuses an unknown field of the filters', query('SELECT 1', { filters: { dates: {} } }), sqlError('filters.dates: Unknown field.', 'invalid_input')),
  row(
    399,
    'checks an expression with the filters of its metadata query',
    { kind: 'HogQLMetadata', language: 'hogQLExpr', query: '1', sourceQuery: query('SELECT 1 FROM events WHERE {filters}'), filters: { dateRange: { date_from: 'soon' } } },
    { isValid: false, errors: [{ message: "sourceQuery: filters.dateRange.date_from: 'soon' is not a date." }] },
  ),
];
