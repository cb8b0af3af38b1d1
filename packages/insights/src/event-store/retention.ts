// SQL that counts the actors that start in an interval, and the actors that return in later intervals.

import {
  buildBreakdownColumns,
  buildFirstTimesTable,
  buildFromClause,
  buildSelectionCondition,
  buildStepCondition,
} from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { type Engine, readRows, textOrNull } from './engine.ts';
import { bitNumberIndexes, bitsPerNumber, buildIntervalBits } from './interval-bits.ts';
import type { Budget } from './port.ts';
import type { RetentionRow, RetentionStoreQuery } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

export async function readRetention(engine: Engine, query: RetentionStoreQuery, run: Budget): Promise<RetentionRow[]> {
  const { dialect } = engine;
  if (query.edges.length === 0) return [];
  const cells = usesIntervalBits(query) ? buildIntervalCellsSql(dialect, query) : null;
  if (usesIntervalBits(query) && cells === null) {
    const { add, rows } = collectIntervalBits(query);
    await engine.read(buildIntervalBitsSql(dialect, query), run, add);
    return rows();
  }
  const text = cells ?? buildRetentionSql(dialect, query);
  const read = ([row, column, count, total, valueCount, ...values]: unknown[]): RetentionRow => ({
    row: Number(row),
    column: Number(column),
    count: Number(count),
    total: Number(total),
    valueCount: Number(valueCount),
    values: values.map(textOrNull),
  });
  return readRows(engine, { text, run, read });
}

/**
 * Returns whether the calendar intervals in which an actor started and returned are sufficient. Actors with the same
 * intervals can then be counted together, without an expensive self-join.
 */
function usesIntervalBits({ windowMs, brackets, aggregated }: RetentionStoreQuery): boolean {
  return windowMs === null && brackets === null && aggregated === null;
}

/**
 * Groups actors by the intervals in which they were active. Each row contains a number of actors, the bits of the
 * intervals in which they started and returned, and breakdown values.
 */
function buildIntervalBitsSql(dialect: Dialect, query: RetentionStoreQuery): Fragment {
  const { edges, minReturns, breakdowns } = query;
  const { list } = buildBreakdownColumns(dialect, breakdowns);
  const numbers = bitNumberIndexes(edges.length);
  const bits = (name: 't' | 'r', happened: Fragment) =>
    buildIntervalBits(dialect, { intervals: edges.length, name, happened });
  // One returning event is sufficient, so events do not have to be counted per interval.
  const [marked, columns] =
    minReturns > 1
      ? [sql`active`, [...bits('t', sql`begins > 0`), ...bits('r', sql`times >= ${sql.int(minReturns)}`)]]
      : [sql`events`, [...bits('t', sql`began = 1`), ...bits('r', sql`returned = 1`)]];
  const names = sql.join(
    [...numbers.map((at) => sql.numbered('t', at)), ...numbers.map((at) => sql.numbered('r', at))],
    ', ',
  );
  return sql`WITH ${active(dialect, query, dialect.actorKey(query.actorType))}
    SELECT count(*) AS actors, ${names}${list}
      FROM (SELECT actor${list}, ${sql.join(columns, ', ')} FROM ${marked} GROUP BY actor${list} ${dialect.settingsOfGroups}) AS paths
     GROUP BY ${names}${list}`;
}

/**
 * Selects the same rows as `buildRetentionSql`, from the rows of `buildIntervalBitsSql`. This is faster with many
 * intervals, because few actors then have the same intervals. Returns null if the engine does not support it.
 */
function buildIntervalCellsSql(dialect: Dialect, query: RetentionStoreQuery): Fragment | null {
  const { edges, columns, cumulative, breakdowns } = query;
  const { bitPlaces } = dialect;
  if (bitPlaces === null) return null;
  const { list } = buildBreakdownColumns(dialect, breakdowns);
  const intervals = (name: 't' | 'r') => {
    const lists = bitNumberIndexes(edges.length).map(
      (at) =>
        sql`arrayMap(place -> toInt32(place) + ${sql.literal(at * bitsPerNumber)}, ${bitPlaces(sql.numbered(name, at))})`,
    );
    return sql`arrayConcat(${sql.join(lists, ', ')})`;
  };
  // An actor also counts for all intervals before the interval in which it last returned.
  const columnIndexes = cumulative
    ? sql`if(notEmpty(back) AND back[-1] > began, [0, back[-1] - began], [0])`
    : sql`arrayConcat([0], arrayFilter(column_index -> column_index > 0 AND column_index < ${sql.int(columns)}, arrayMap(one -> one - began, back)))`;
  return sql`SELECT cell.1, cell.2, sum(actors), 0, 0${list}
    FROM (SELECT actors${list}, arrayJoin(arrayFlatten(arrayMap(began -> arrayMap(column_index -> (began, column_index), ${columnIndexes}), begun))) AS cell
            FROM (SELECT actors${list}, ${intervals('t')} AS begun, ${intervals('r')} AS back
                    FROM (${buildIntervalBitsSql(dialect, query)})))
   GROUP BY cell${list}`;
}

/** Aggregates the rows of `buildIntervalBitsSql` into the result. */
function collectIntervalBits({ edges, columns, cumulative }: RetentionStoreQuery): {
  add(row: unknown[]): void;
  rows(): RetentionRow[];
} {
  const { length } = bitNumberIndexes(edges.length);
  /** For each breakdown value, the number of actors by start interval and column. */
  const tables = new Map<string, { values: RetentionRow['values']; counts: number[][] }>();
  return {
    add([count, ...row]) {
      const actors = Number(count);
      const [begun, back] = [intervalsIn(row.slice(0, length)), intervalsIn(row.slice(length, 2 * length))];
      const values = row.slice(2 * length).map(textOrNull);
      const key = JSON.stringify(values);
      const { counts } = tables.get(key) ?? { counts: edges.map(() => []) };
      tables.set(key, { values, counts });
      for (const began of begun) {
        const cells = counts[began] ?? [];
        const add = (column: number) => {
          cells[column] = (cells[column] ?? 0) + actors;
        };
        add(0);
        const last = back.at(-1) ?? 0;
        if (cumulative && last > began) add(last - began);
        if (cumulative) continue;
        for (const interval of back) if (interval > began && interval < began + columns) add(interval - began);
      }
    },
    rows: () =>
      [...tables.values()].flatMap(({ values, counts }) =>
        counts.flatMap((cells, row) =>
          [...cells.entries()].flatMap(([column, count = 0]) =>
            count === 0 ? [] : [{ values, row, column, count, total: 0, valueCount: 0 }],
          ),
        ),
      ),
  };
}

/** Returns the indexes of the intervals whose bits are set. */
function intervalsIn(numbers: unknown[]): number[] {
  return numbers.flatMap((number, at) =>
    [...Number(number).toString(2)]
      .reverse()
      .flatMap((bit, place) => (bit === '1' ? [at * bitsPerNumber + place] : [])),
  );
}

/**
 * Selects the cells of the retention table. Each result row contains a cell's row and column, the number of actors, the
 * sum and number of aggregated values, and breakdown values.
 */
function buildRetentionSql(dialect: Dialect, query: RetentionStoreQuery): Fragment {
  const { list } = buildBreakdownColumns(dialect, query.breakdowns);
  const sums =
    query.aggregated === null
      ? sql`0 AS total, 0 AS value_count`
      : sql`sum(total) AS total, sum(value_count) AS value_count`;
  const counted = sql`count(*) AS actors, ${sums}`;
  const returning = query.cumulative
    ? sql`SELECT bucket, column_index${list}, ${counted}
            FROM (SELECT bucket, max(column_index) AS column_index, actor${list} FROM returns GROUP BY bucket, actor${list}) AS last
           GROUP BY bucket, column_index${list}`
    : sql`SELECT bucket, column_index${list}, ${counted} FROM returns GROUP BY bucket, column_index${list}`;
  return sql`WITH ${active(dialect, query, dialect.actorKey(query.actorType))}, returns AS (${returns(dialect, query)})
    SELECT bucket, column_index, actors, total, value_count${list} FROM (
      SELECT bucket, 0 AS column_index${list}, ${counted} FROM beginners GROUP BY bucket${list}
      UNION ALL ${returning}) AS rows
     WHERE bucket < ${sql.int(query.rows)}`;
}

/** Selects the actors that started in an interval, with each actor's number of target events in the interval. */
export function buildRetentionActorsSql(dialect: Dialect, query: RetentionStoreQuery, row: number): Fragment {
  return sql`WITH ${active(dialect, query, dialect.actorId(query.actorType))}
    SELECT actor, sum(began) AS events FROM beginners WHERE bucket = ${sql.int(row)} GROUP BY actor`;
}

/**
 * Builds common table expressions: `events` contains the relevant events, `active` the activity of each actor per
 * interval, and `beginners` the interval and time in which each actor started.
 */
function active(dialect: Dialect, query: RetentionStoreQuery, actor: Fragment): Fragment {
  const { select, actorType, edges, target, returning, breakdowns, first, aggregated } = query;
  const { columns, list, names } = buildBreakdownColumns(dialect, breakdowns);
  const [isTarget, isReturn] = [target, returning].map((step) => buildStepCondition(dialect, step, select.projectId));
  if (isTarget === undefined || isReturn === undefined)
    throw new Error('A retention query has no target event or no returning event.');
  const conditions = [select.where, target.where, returning.where];
  const from = buildFromClause(dialect, {
    projectId: select.projectId,
    actorTypes: [actorType],
    conditions,
    properties: [...breakdowns.map(({ property }) => property), ...(aggregated === null ? [] : [aggregated])],
  });
  const id = dialect.actorId(actorType);
  const firsts =
    first === null ? sql`` : sql`LEFT JOIN ${buildFirstTimesTable(dialect, first, actorType)} AS f ON f.actor = ${id}`;
  const begins = first === null ? isTarget : sql`${isTarget} AND f.first = e.timestamp`;
  const together = sql.join([sql`bucket`, sql`actor`, ...names], ', ');
  const number = aggregated === null ? sql`` : sql`, ${dialect.number(aggregated, { isMeasured: true })} AS x`;
  const sums = (mark: Fragment, total: Fragment, valueCount: Fragment) =>
    aggregated === null
      ? sql``
      : sql`, sum(CASE WHEN ${mark} = 1 THEN x END) AS ${total}, sum(CASE WHEN ${mark} = 1 AND x IS NOT NULL THEN 1 ELSE 0 END) AS ${valueCount}`;
  const ofReturns = sums(sql`returned`, sql`return_total`, sql`return_value_count`);
  const ofTargets = sums(sql`began`, sql`total`, sql`value_count`);
  // Each sum needs a name that no column has, because some engines would interpret an existing column's name inside the
  // sum as the sum itself.
  return sql`events AS (
      SELECT ${dialect.bucket(sql`e.timestamp`, edges)} AS bucket, ${actor} AS actor, ${dialect.millis(sql`e.timestamp`)} AS at,
             CASE WHEN ${begins} THEN 1 ELSE 0 END AS began, CASE WHEN ${isReturn} THEN 1 ELSE 0 END AS returned${number}${columns}
        ${from} ${firsts}
       WHERE ${buildSelectionCondition(dialect, select)} AND (${isTarget} OR ${isReturn})${actorType.of === 'person' ? sql`` : sql` AND ${id} IS NOT NULL`}),
    active AS (SELECT ${together}, sum(began) AS begins, sum(returned) AS times, min(CASE WHEN began = 1 THEN at END) AS begun_at${ofTargets}${ofReturns}
                 FROM events GROUP BY ${together}),
    beginners AS (SELECT bucket, actor, begins AS began, begun_at${aggregated === null ? sql`` : sql`, total, value_count`}${list}
                    FROM active WHERE begins > 0)`;
}

/**
 * Selects rows of `bucket`, `actor` and `column_index`: actors that started in an interval and returned in that column.
 */
function returns(dialect: Dialect, query: RetentionStoreQuery): Fragment {
  const { minReturns, windowMs, brackets, breakdowns, aggregated, columns } = query;
  const { list, names } = buildBreakdownColumns(dialect, breakdowns);
  const same = names.map((name) => sql`AND coalesce(r.${name}, '') = coalesce(b.${name}, '')`);
  const ofBeginner = names.map((name) => sql`, b.${name} AS ${name}`);
  const rows = (passed: Fragment, more: Fragment) =>
    sql`SELECT b.bucket AS bucket, b.actor AS actor, ${passed} AS column_index${more}${sql.join(ofBeginner, ' ')} FROM beginners b`;
  const sameActor = sql`r.actor = b.actor ${sql.join(same, ' ')}`;
  const sums = (total: Fragment, valueCount: Fragment) =>
    aggregated === null ? sql`` : sql`, ${total} AS total, ${valueCount} AS value_count`;
  const inIntervals = sql`JOIN active r ON ${sameActor} AND r.bucket > b.bucket`;
  if (windowMs === null && brackets === null) {
    const found = rows(sql`r.bucket - b.bucket`, sums(sql`r.return_total`, sql`r.return_value_count`));
    return sql`${found} ${inIntervals} AND r.times >= ${sql.int(minReturns)}`;
  }
  const longest = brackets === null ? columns - 1 : brackets.reduce((sum, one) => sum + one, 0);
  const pairs =
    windowMs === null
      ? sql`${rows(
          buildColumnIndex(sql`(r.bucket - b.bucket)`, brackets),
          sql`, r.times AS returned${sums(sql`r.return_total`, sql`r.return_value_count`)}`,
        )} ${inIntervals} AND r.times > 0 AND r.bucket - b.bucket <= ${sql.int(longest)}`
      : sql`${rows(
          buildColumnIndex(sql`floor((r.at - b.begun_at) / ${sql.float(windowMs)})`, brackets),
          sql`, r.returned AS returned${sums(sql`r.x`, sql`CASE WHEN r.x IS NULL THEN 0 ELSE 1 END`)}`,
        )} JOIN events r ON ${sameActor} AND r.returned = 1
           AND r.at - b.begun_at >= ${sql.float(windowMs)} AND r.at - b.begun_at < ${sql.float(windowMs * (longest + 1))}`;
  return sql`SELECT bucket, actor, column_index${list}${sums(sql`sum(total)`, sql`sum(value_count)`)} FROM (${pairs}) AS pairs
              GROUP BY bucket, actor, column_index${list} HAVING sum(returned) >= ${sql.int(minReturns)}`;
}

/**
 * Returns the column number of a return, from the number of intervals since the start. With brackets, this is the
 * number of the bracket that contains the interval.
 */
function buildColumnIndex(intervals: Fragment, brackets: readonly number[] | null): Fragment {
  if (brackets === null) return intervals;
  let end = 0;
  const cases = brackets.map((length, at) => {
    end += length;
    return sql`WHEN ${intervals} <= ${sql.int(end)} THEN ${sql.int(at + 1)}`;
  });
  return sql`CASE ${sql.join(cases, ' ')} ELSE ${sql.int(brackets.length)} END`;
}
