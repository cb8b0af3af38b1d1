// SQL of a trend: numbers over time.

import { firstTimes, fromEvents, labels, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { intervalBits, maskOf, numbersOf } from './interval-bits.ts';
import type { Aggregation, Measure, SeriesQuestion } from './queries.ts';
import type { Property, Unit } from './selection.ts';
import { type Fragment, sql } from './sql.ts';

/**
 * Selects rows of interval, number, whether it combines the values beyond the limit, and breakdown values.
 *
 * Three steps compute the number of each interval and value: select the relevant events, select what to count, and
 * compute the number. Finally, the largest values are kept and the others combined.
 */
export function seriesText(dialect: Dialect, question: SeriesQuestion): Fragment {
  const { names, list } = labels(dialect, question.breakdowns);
  const numbers = sql`WITH counted AS (${counted(dialect, question)}),
    numbers AS (SELECT bucket${list}, ${number(dialect, question)} AS number FROM counted GROUP BY bucket${list})`;
  if (names.length === 0)
    return sql`${numbers} SELECT bucket, number, 0 AS is_other FROM numbers WHERE number IS NOT NULL`;
  const isNull = sql.join(
    names.map((name) => sql`${name} IS NULL`),
    ' OR ',
  );
  const nullsLast = question.nullsLast ? sql`CASE WHEN ${isNull} THEN 1 ELSE 0 END, ` : sql``;
  const inOrder = sql.join(
    names.map((name) => dialect.inByteOrder(name)),
    ', ',
  );
  const rest = sql.numbered('b', 0);
  const kept = sql.join(
    names.map((name) => sql`, CASE WHEN place > ${sql.int(question.limit)} THEN NULL ELSE ${name} END AS ${name}`),
    ' ',
  );
  return sql`${numbers},
    totals AS (SELECT bucket${list}, number, sum(number) OVER (PARTITION BY ${sql.join(names, ', ')}) AS total
                 FROM numbers WHERE number IS NOT NULL),
    ranked AS (SELECT bucket${list}, number, dense_rank() OVER (ORDER BY ${nullsLast}total DESC, ${inOrder}) AS place FROM totals),
    cut AS (SELECT bucket, number, CASE WHEN place > ${sql.int(question.limit)} THEN 1 ELSE 0 END AS is_other${kept} FROM ranked)
    SELECT bucket, sum(number) AS number, is_other${list} FROM cut GROUP BY bucket, is_other${list}
     ORDER BY is_other, ${rest}, bucket`;
}

/** Returns whether the counted rows contain each actor once per interval and value. */
function isGrouped(dialect: Dialect, { measure }: SeriesQuestion): boolean {
  return dialect.groupsBeforeCounting || (measure.of === 'units' && measure.once);
}

/** Selects what to count: one row per event, one per actor, interval and value, or numbers of actors by window. */
function counted(dialect: Dialect, question: SeriesQuestion): Fragment {
  const { measure, windows } = question;
  const { list } = labels(dialect, question.breakdowns);
  const events = matching(dialect, question);
  switch (measure.of) {
    case 'events':
    case 'property':
    case 'expression':
      return events;
    case 'counts':
      return sql`SELECT bucket${list}, unit, count(*) AS x FROM (${events}) AS events GROUP BY bucket${list}, unit`;
    case 'sessions':
      return sql`SELECT bucket${list}, x FROM (SELECT bucket${list}, unit FROM (${events}) AS events GROUP BY bucket${list}, unit) AS units
                   JOIN (${sessionLengths(dialect, question.select)}) AS lengths ON lengths.session = units.unit`;
    case 'units': {
      if (windows !== null) return countedInWindows(dialect, question, windows);
      if (!isGrouped(dialect, question)) return events;
      if (measure.once)
        return sql`SELECT min(bucket) AS bucket${list}, unit FROM (${events}) AS events GROUP BY unit${list}`;
      return sql`SELECT bucket${list}, unit FROM (${events}) AS events GROUP BY bucket${list}, unit`;
    }
    default:
      return measure satisfies never;
  }
}

/**
 * Selects numbers of actors (`units`) by window and value. An actor has one bit per active interval, because a row per
 * window would multiply the actors by thirty.
 */
function countedInWindows(
  dialect: Dialect,
  question: SeriesQuestion,
  windows: NonNullable<SeriesQuestion['windows']>,
): Fragment {
  const { list } = labels(dialect, question.breakdowns);
  const intervals = question.edges.length;
  const numbers = numbersOf(intervals);
  const bits = sql.join(intervalBits(dialect, { intervals, name: 't', happened: sql`1 = 1` }), ', ');
  const names = sql.join(
    numbers.map((at) => sql.numbered('t', at)),
    ', ',
  );
  const masks = windows.map((window) => maskOf(window, intervals));
  const points = dialect.points(numbers.map((at) => masks.map((mask) => mask[at] ?? 0)));
  const isActive = sql.join(
    numbers.map((at) => dialect.haveCommonBit(sql.numbered('t', at), sql.numbered('s', at))),
    ' OR ',
  );
  return sql`SELECT w.point AS bucket${list}, units
    FROM (SELECT ${names}${list}, count(*) AS units
            FROM (SELECT unit${list}, ${bits} FROM (${matching(dialect, question)}) AS events GROUP BY unit${list}) AS lives
           GROUP BY ${names}${list}) AS alike CROSS JOIN ${points}
   WHERE ${isActive}`;
}

/** Selects the relevant events with their interval, values, actor and number. */
function matching(dialect: Dialect, question: SeriesQuestion): Fragment {
  const { edges, measure, breakdowns } = question;
  const unit = unitOf(measure);
  const property = measure.of === 'property' ? measure.property : null;
  const bucket = edges.length === 0 ? sql`0` : dialect.bucket(sql`e.timestamp`, edges);
  const columns = [
    sql`${bucket} AS bucket`,
    ...(unit === null ? [] : [sql`${dialect.unit(unit)} AS unit`]),
    ...(property === null ? [] : [sql`${dialect.number(property)} AS x`]),
    ...(measure.of === 'expression' ? measure.expression.columns(dialect.name) : []),
  ];
  return sql`SELECT ${sql.join(columns, ', ')}${labels(dialect, breakdowns).columns}
             ${whereMatching(dialect, question, unit, property === null ? [] : [property])}`;
}

/** A session lasts at most one day. */
export const longestSessionMs = 86_400_000;

/** Computes the durations of all sessions around the selected events, including their other events. */
function sessionLengths(dialect: Dialect, { projectId, from, to }: SeriesQuestion['select']): Fragment {
  const id = dialect.unit({ of: 'session' });
  const time = dialect.millis(sql`e.timestamp`);
  const around = {
    projectId,
    events: null,
    from: from - longestSessionMs,
    to: to + longestSessionMs,
    where: { all: [] },
  };
  return sql`SELECT ${id} AS session, (max(${time}) - min(${time})) / 1000.0 AS x ${fromEvents(dialect, { projectId })}
              WHERE ${selected(dialect, around)} AND ${id} IS NOT NULL GROUP BY 1`;
}

function unitOf(measure: Measure): Unit | null {
  if (measure.of === 'sessions') return { of: 'session' };
  return measure.of === 'units' || measure.of === 'counts' ? measure.unit : null;
}

function whereMatching(
  dialect: Dialect,
  question: SeriesQuestion,
  unit: Unit | null,
  properties: Property[],
): Fragment {
  const { select, measure, breakdowns } = question;
  const from = fromEvents(dialect, {
    projectId: select.projectId,
    units: unit === null ? [] : [unit],
    conditions: [select.where],
    properties: [
      ...properties,
      ...breakdowns.map((breakdown) => breakdown.property),
      ...(measure.of === 'expression' ? measure.expression.reads : []),
    ],
  });
  const first = measure.of === 'units' ? measure.first : null;
  const firsts =
    first === null || unit === null
      ? sql``
      : sql`JOIN ${firstTimes(dialect, first, unit)} AS f ON f.unit = ${dialect.unit(unit)} AND f.first = e.timestamp`;
  const isUnit = unit === null || unit.of === 'person' ? sql`` : sql` AND ${dialect.unit(unit)} IS NOT NULL`;
  return sql`${from} ${firsts} WHERE ${selected(dialect, select)}${isUnit}`;
}

function number(dialect: Dialect, question: SeriesQuestion): Fragment {
  const { measure } = question;
  switch (measure.of) {
    case 'events':
      return sql`count(*)`;
    case 'units':
      if (question.windows !== null) return sql`sum(units)`;
      return isGrouped(dialect, question) ? sql`count(*)` : sql`count(DISTINCT unit)`;
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

/** Selects all actors in a series, as rows of actor and number of events. */
export function unitsOfSeriesText(dialect: Dialect, question: SeriesQuestion, unit: Unit): Fragment {
  return sql`SELECT ${dialect.unit(unit)} AS unit, count(*) AS events ${whereMatching(dialect, question, unit, [])}
              GROUP BY 1`;
}
