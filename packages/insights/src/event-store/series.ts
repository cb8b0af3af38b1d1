// SQL for trends, which are numbers over time.

import { buildBreakdownColumns, buildFirstTimesTable, buildFromClause, buildSelectionCondition } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { bitNumberIndexes, buildIntervalBits, createIntervalMasks } from './interval-bits.ts';
import type { Aggregation, Measure, SeriesQuery } from './queries.ts';
import type { ActorType, Property } from './selection.ts';
import { type Fragment, sql } from './sql.ts';

/**
 * Selects the interval, the number, whether the row combines the values beyond the limit, and the breakdown values.
 *
 * The query selects the relevant events, selects the rows to count, and computes one number per interval and breakdown
 * value. Finally, it keeps the breakdown values with the largest numbers and combines the others.
 */
export function buildSeriesSql(dialect: Dialect, query: SeriesQuery): Fragment {
  const { names, list } = buildBreakdownColumns(dialect, query.breakdowns);
  const numbers = sql`WITH counted AS (${counted(dialect, query)}),
    numbers AS (SELECT bucket${list}, ${number(dialect, query)} AS number FROM counted GROUP BY bucket${list})`;
  if (names.length === 0)
    return sql`${numbers} SELECT bucket, number, 0 AS is_other FROM numbers WHERE number IS NOT NULL`;
  const isNull = sql.join(
    names.map((name) => sql`${name} IS NULL`),
    ' OR ',
  );
  const nullsLast = query.nullsLast ? sql`CASE WHEN ${isNull} THEN 1 ELSE 0 END, ` : sql``;
  const inOrder = sql.join(
    names.map((name) => dialect.inByteOrder(name)),
    ', ',
  );
  const rest = sql.numbered('b', 0);
  const kept = sql.join(
    names.map((name) => sql`, CASE WHEN place > ${sql.int(query.limit)} THEN NULL ELSE ${name} END AS ${name}`),
    ' ',
  );
  return sql`${numbers},
    totals AS (SELECT bucket${list}, number, sum(number) OVER (PARTITION BY ${sql.join(names, ', ')}) AS total
                 FROM numbers WHERE number IS NOT NULL),
    ranked AS (SELECT bucket${list}, number, dense_rank() OVER (ORDER BY ${nullsLast}total DESC, ${inOrder}) AS place FROM totals),
    cut AS (SELECT bucket, number, CASE WHEN place > ${sql.int(query.limit)} THEN 1 ELSE 0 END AS is_other${kept} FROM ranked)
    SELECT bucket, sum(number) AS number, is_other${list} FROM cut GROUP BY bucket, is_other${list}
     ORDER BY is_other, ${rest}, bucket`;
}

/** Returns true if the counted rows contain each actor once per interval and value. */
function isGrouped(dialect: Dialect, { measure }: SeriesQuery): boolean {
  return dialect.groupsBeforeCounting || (measure.of === 'actors' && measure.once);
}

/** Selects the rows to count: one per event, one per actor, interval and value, or numbers of actors by window. */
function counted(dialect: Dialect, query: SeriesQuery): Fragment {
  const { measure, windows } = query;
  const { list } = buildBreakdownColumns(dialect, query.breakdowns);
  const events = matching(dialect, query);
  switch (measure.of) {
    case 'events':
    case 'property':
    case 'expression':
      return events;
    case 'counts':
      return sql`SELECT bucket${list}, actor, count(*) AS x FROM (${events}) AS events GROUP BY bucket${list}, actor`;
    case 'sessions':
      return sql`SELECT bucket${list}, x FROM (SELECT bucket${list}, actor FROM (${events}) AS events GROUP BY bucket${list}, actor) AS actors
                   JOIN (${sessionLengths(dialect, query.select)}) AS lengths ON lengths.session = actors.actor`;
    case 'actors': {
      if (windows !== null) return countedInWindows(dialect, query, windows);
      if (!isGrouped(dialect, query)) return events;
      if (measure.once)
        return sql`SELECT min(bucket) AS bucket${list}, actor FROM (${events}) AS events GROUP BY actor${list}`;
      return sql`SELECT bucket${list}, actor FROM (${events}) AS events GROUP BY bucket${list}, actor`;
    }
    default:
      return measure satisfies never;
  }
}

/**
 * Selects the number of actors (`actors`) by window and breakdown value. Each actor has one bit per active interval,
 * because one row per window would multiply the rows by thirty.
 */
function countedInWindows(
  dialect: Dialect,
  query: SeriesQuery,
  windows: NonNullable<SeriesQuery['windows']>,
): Fragment {
  const { list } = buildBreakdownColumns(dialect, query.breakdowns);
  const intervals = query.edges.length;
  const numbers = bitNumberIndexes(intervals);
  const bits = sql.join(buildIntervalBits(dialect, { intervals, name: 't', happened: sql`1 = 1` }), ', ');
  const names = sql.join(
    numbers.map((at) => sql.numbered('t', at)),
    ', ',
  );
  const masks = windows.map((window) => createIntervalMasks(window, intervals));
  const points = dialect.points(numbers.map((at) => masks.map((mask) => mask[at] ?? 0)));
  const isActive = sql.join(
    numbers.map((at) => dialect.haveCommonBit(sql.numbered('t', at), sql.numbered('s', at))),
    ' OR ',
  );
  return sql`SELECT w.point AS bucket${list}, actors
    FROM (SELECT ${names}${list}, count(*) AS actors
            FROM (SELECT actor${list}, ${bits} FROM (${matching(dialect, query)}) AS events GROUP BY actor${list} ${dialect.settingsOfGroups}) AS paths
           GROUP BY ${names}${list}) AS alike CROSS JOIN ${points}
   WHERE ${isActive}`;
}

/** Selects the relevant events with their interval, breakdown values, actor and number. */
function matching(dialect: Dialect, query: SeriesQuery): Fragment {
  const { edges, measure, breakdowns } = query;
  const actorType = actorTypeOf(measure);
  const property = measure.of === 'property' ? measure.property : null;
  const bucket = edges.length === 0 ? sql`0` : dialect.bucket(sql`e.timestamp`, edges);
  const columns = [
    sql`${bucket} AS bucket`,
    ...(actorType === null ? [] : [sql`${dialect.actorKey(actorType)} AS actor`]),
    ...(property === null ? [] : [sql`${dialect.number(property, { isMeasured: true })} AS x`]),
    ...(measure.of === 'expression' ? measure.expression.columns(dialect.name) : []),
  ];
  return sql`SELECT ${sql.join(columns, ', ')}${buildBreakdownColumns(dialect, breakdowns).columns}
             ${whereMatching(dialect, query, actorType, property === null ? [] : [property])}`;
}

/** Maximum session duration: one day. */
export const longestSessionMs = 86_400_000;

/** Computes the durations of the sessions around the time range, from all events in each session. */
function sessionLengths(dialect: Dialect, { projectId, from, to }: SeriesQuery['select']): Fragment {
  const id = dialect.actorId({ of: 'session' });
  const time = dialect.millis(sql`e.timestamp`);
  const around = {
    projectId,
    events: null,
    from: from - longestSessionMs,
    to: to + longestSessionMs,
    where: { all: [] },
  };
  return sql`SELECT ${dialect.actorKey({ of: 'session' })} AS session, (max(${time}) - min(${time})) / 1000.0 AS x ${buildFromClause(dialect, { projectId })}
              WHERE ${buildSelectionCondition(dialect, around)} AND ${id} IS NOT NULL GROUP BY 1`;
}

function actorTypeOf(measure: Measure): ActorType | null {
  if (measure.of === 'sessions') return { of: 'session' };
  return measure.of === 'actors' || measure.of === 'counts' ? measure.actorType : null;
}

function whereMatching(
  dialect: Dialect,
  query: SeriesQuery,
  actorType: ActorType | null,
  properties: Property[],
): Fragment {
  const { select, measure, breakdowns } = query;
  const from = buildFromClause(dialect, {
    projectId: select.projectId,
    actorTypes: actorType === null ? [] : [actorType],
    conditions: [select.where],
    properties: [
      ...properties,
      ...breakdowns.map((breakdown) => breakdown.property),
      ...(measure.of === 'expression' ? measure.expression.reads : []),
    ],
  });
  const first = measure.of === 'actors' ? measure.first : null;
  const firsts =
    first === null || actorType === null
      ? sql``
      : sql`JOIN ${buildFirstTimesTable(dialect, first, actorType)} AS f ON f.actor = ${dialect.actorId(actorType)} AND f.first = e.timestamp`;
  const hasActor =
    actorType === null || actorType.of === 'person' ? sql`` : sql` AND ${dialect.actorId(actorType)} IS NOT NULL`;
  return sql`${from} ${firsts} WHERE ${buildSelectionCondition(dialect, select)}${hasActor}`;
}

function number(dialect: Dialect, query: SeriesQuery): Fragment {
  const { measure } = query;
  switch (measure.of) {
    case 'events':
      return sql`count(*)`;
    case 'actors':
      if (query.windows !== null) return sql`sum(actors)`;
      return isGrouped(dialect, query) ? sql`count(*)` : sql`count(DISTINCT actor)`;
    case 'sessions':
    case 'property':
      return aggregate(dialect, measure.aggregate, measure.times === 1 ? sql`x` : sql`x * ${sql.float(measure.times)}`);
    case 'counts':
      return aggregate(dialect, measure.aggregate, sql`x`);
    case 'expression':
      return measure.expression.print(dialect.name, 'value');
    default:
      return measure satisfies never;
  }
}

function aggregate(dialect: Dialect, how: Aggregation, x: Fragment): Fragment {
  if (typeof how === 'object') return dialect.percentile(how.percentile, x);
  switch (how) {
    case 'sum':
      return sql`sum(${x})`;
    case 'avg':
      return sql`avg(${x})`;
    case 'min':
      return sql`min(${x})`;
    case 'max':
      return sql`max(${x})`;
    default:
      return how satisfies never;
  }
}

/** Selects the actors that a series counts, with each actor's number of events. */
export function buildSeriesActorsSql(dialect: Dialect, query: SeriesQuery, actorType: ActorType): Fragment {
  return sql`SELECT ${dialect.actorId(actorType)} AS actor, count(*) AS events ${whereMatching(dialect, query, actorType, [])}
              GROUP BY 1`;
}
