// SQL that counts the actors that start in an interval and those that return in later ones.

import { firstTimes, fromEvents, isStep, labels, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import { textOrNull } from './engine.ts';
import { bitsOfNumber, intervalBits, numbersOf } from './interval-bits.ts';
import type { RetentionQuestion, RetentionRow } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

/**
 * Returns whether only the calendar intervals in which an actor started and returned matter. Actors with the same
 * intervals can then be counted together, without an expensive self-join.
 */
export function isOfIntervals({ windowMs, brackets, aggregated }: RetentionQuestion): boolean {
  return windowMs === null && brackets === null && aggregated === null;
}

/**
 * Selects rows of the number of actors, the intervals in which they started and returned as bits, and breakdown values.
 */
export function intervalsText(dialect: Dialect, question: RetentionQuestion): Fragment {
  const { edges, least, breakdowns } = question;
  const { list } = labels(dialect, breakdowns);
  const numbers = numbersOf(edges.length);
  const bits = (name: 't' | 'r', happened: Fragment) =>
    intervalBits(dialect, { intervals: edges.length, name, happened });
  // A single returning event is enough, so events need not be counted per interval.
  const [marked, columns] =
    least > 1
      ? [sql`active`, [...bits('t', sql`begins > 0`), ...bits('r', sql`times >= ${sql.int(least)}`)]]
      : [sql`events`, [...bits('t', sql`began = 1`), ...bits('r', sql`returned = 1`)]];
  const names = sql.join(
    [...numbers.map((at) => sql.numbered('t', at)), ...numbers.map((at) => sql.numbered('r', at))],
    ', ',
  );
  return sql`WITH ${active(dialect, question)}
    SELECT count(*) AS units, ${names}${list}
      FROM (SELECT unit${list}, ${sql.join(columns, ', ')} FROM ${marked} GROUP BY unit${list}) AS lives
     GROUP BY ${names}${list}`;
}

/** Aggregates the rows of `intervalsText` into the result. */
export function gatherIntervals({ edges, columns, cumulative }: RetentionQuestion): {
  add(row: unknown[]): void;
  rows(): RetentionRow[];
} {
  const { length } = numbersOf(edges.length);
  /** For each breakdown value, the number of actors by start interval and column. */
  const tables = new Map<string, { values: RetentionRow['values']; counts: number[][] }>();
  return {
    add([count, ...row]) {
      const units = Number(count);
      const [begun, back] = [intervalsIn(row.slice(0, length)), intervalsIn(row.slice(length, 2 * length))];
      const values = row.slice(2 * length).map(textOrNull);
      const key = JSON.stringify(values);
      const { counts } = tables.get(key) ?? { counts: edges.map(() => []) };
      tables.set(key, { values, counts });
      for (const began of begun) {
        const cells = counts[began] ?? [];
        const add = (later: number) => {
          cells[later] = (cells[later] ?? 0) + units;
        };
        add(0);
        const last = back.at(-1) ?? 0;
        // An actor that last returned in an interval also counts for all intervals before it.
        if (cumulative && last > began) add(last - began);
        if (cumulative) continue;
        for (const interval of back) if (interval > began && interval < began + columns) add(interval - began);
      }
    },
    rows: () =>
      [...tables.values()].flatMap(({ values, counts }) =>
        counts.flatMap((cells, row) =>
          [...cells.entries()].flatMap(([later, count = 0]) =>
            count === 0 ? [] : [{ values, row, later, count, total: 0, numbers: 0 }],
          ),
        ),
      ),
  };
}

/** Returns the indexes of the bits that are set. */
function intervalsIn(numbers: unknown[]): number[] {
  return numbers.flatMap((number, at) =>
    [...Number(number).toString(2)].reverse().flatMap((bit, place) => (bit === '1' ? [at * bitsOfNumber + place] : [])),
  );
}

/** Selects rows of row, column, number of actors, sum and number of aggregated values, and breakdown values. */
export function retentionText(dialect: Dialect, question: RetentionQuestion): Fragment {
  const { list } = labels(dialect, question.breakdowns);
  const sums =
    question.aggregated === null ? sql`0 AS total, 0 AS numbers` : sql`sum(total) AS total, sum(numbers) AS numbers`;
  const counted = sql`count(*) AS units, ${sums}`;
  const later = question.cumulative
    ? sql`SELECT bucket, later${list}, ${counted}
            FROM (SELECT bucket, max(later) AS later, unit${list} FROM returns GROUP BY bucket, unit${list}) AS last
           GROUP BY bucket, later${list}`
    : sql`SELECT bucket, later${list}, ${counted} FROM returns GROUP BY bucket, later${list}`;
  return sql`WITH ${active(dialect, question)}, returns AS (${returns(dialect, question)})
    SELECT bucket, later, units, total, numbers${list} FROM (
      SELECT bucket, 0 AS later${list}, ${counted} FROM beginners GROUP BY bucket${list}
      UNION ALL ${later}) AS rows
     WHERE bucket < ${sql.int(question.rows)}`;
}

/** Selects the actors that started in an interval, with the number of their target events in it. */
export function unitsOfRetentionText(dialect: Dialect, question: RetentionQuestion, row: number): Fragment {
  return sql`WITH ${active(dialect, question)}
    SELECT unit, sum(began) AS events FROM beginners WHERE bucket = ${sql.int(row)} GROUP BY unit`;
}

/**
 * Builds the common tables: relevant `events`; `active` with the activity of each actor per interval; `beginners` with
 * the interval and time of each actor's start.
 */
function active(dialect: Dialect, question: RetentionQuestion): Fragment {
  const { select, unit, edges, target, returning, breakdowns, first, aggregated } = question;
  const { columns, list, names } = labels(dialect, breakdowns);
  const [isTarget, isReturn] = [target, returning].map((step) => isStep(dialect, step, select.projectId));
  if (isTarget === undefined || isReturn === undefined)
    throw new Error('A retention query has no target event or no returning event.');
  const conditions = [select.where, target.where, returning.where];
  const from = fromEvents(dialect, {
    projectId: select.projectId,
    units: [unit],
    conditions,
    properties: [...breakdowns.map(({ property }) => property), ...(aggregated === null ? [] : [aggregated])],
  });
  const id = dialect.unit(unit);
  const firsts = first === null ? sql`` : sql`LEFT JOIN ${firstTimes(dialect, first, unit)} AS f ON f.unit = ${id}`;
  const begins = first === null ? isTarget : sql`${isTarget} AND f.first = e.timestamp`;
  const together = sql.join([sql`bucket`, sql`unit`, ...names], ', ');
  const number = aggregated === null ? sql`` : sql`, ${dialect.number(aggregated)} AS x`;
  const sums = (mark: Fragment, total: Fragment, numbers: Fragment) =>
    aggregated === null
      ? sql``
      : sql`, sum(CASE WHEN ${mark} = 1 THEN x END) AS ${total}, sum(CASE WHEN ${mark} = 1 AND x IS NOT NULL THEN 1 ELSE 0 END) AS ${numbers}`;
  const ofReturns = sums(sql`returned`, sql`return_total`, sql`return_numbers`);
  const ofTargets = sums(sql`began`, sql`total`, sql`numbers`);
  // The sums need separate names, because some engines would resolve a name inside a sum to the sum itself.
  return sql`events AS (
      SELECT ${dialect.bucket(sql`e.timestamp`, edges)} AS bucket, ${id} AS unit, ${dialect.millis(sql`e.timestamp`)} AS at,
             CASE WHEN ${begins} THEN 1 ELSE 0 END AS began, CASE WHEN ${isReturn} THEN 1 ELSE 0 END AS returned${number}${columns}
        ${from} ${firsts}
       WHERE ${selected(dialect, select)} AND (${isTarget} OR ${isReturn})${unit.of === 'person' ? sql`` : sql` AND ${id} IS NOT NULL`}),
    active AS (SELECT ${together}, sum(began) AS begins, sum(returned) AS times, min(CASE WHEN began = 1 THEN at END) AS begun_at${ofTargets}${ofReturns}
                 FROM events GROUP BY ${together}),
    beginners AS (SELECT bucket, unit, begins AS began, begun_at${aggregated === null ? sql`` : sql`, total, numbers`}${list}
                    FROM active WHERE begins > 0)`;
}

/**
 * Selects rows of `bucket`, `unit` and `later`: actors that started in an interval and returned in the column `later`.
 */
function returns(dialect: Dialect, question: RetentionQuestion): Fragment {
  const { least, windowMs, brackets, breakdowns, aggregated, columns } = question;
  const { list, names } = labels(dialect, breakdowns);
  const same = names.map((name) => sql`AND coalesce(r.${name}, '') = coalesce(b.${name}, '')`);
  const ofBeginner = names.map((name) => sql`, b.${name} AS ${name}`);
  const rows = (passed: Fragment, more: Fragment) =>
    sql`SELECT b.bucket AS bucket, b.unit AS unit, ${passed} AS later${more}${sql.join(ofBeginner, ' ')} FROM beginners b`;
  const sameUnit = sql`r.unit = b.unit ${sql.join(same, ' ')}`;
  const sums = (total: Fragment, numbers: Fragment) =>
    aggregated === null ? sql`` : sql`, ${total} AS total, ${numbers} AS numbers`;
  const inIntervals = sql`JOIN active r ON ${sameUnit} AND r.bucket > b.bucket`;
  if (windowMs === null && brackets === null) {
    const found = rows(sql`r.bucket - b.bucket`, sums(sql`r.return_total`, sql`r.return_numbers`));
    return sql`${found} ${inIntervals} AND r.times >= ${sql.int(least)}`;
  }
  const longest = brackets === null ? columns - 1 : brackets.reduce((sum, one) => sum + one, 0);
  const pairs =
    windowMs === null
      ? sql`${rows(
          column(sql`(r.bucket - b.bucket)`, brackets),
          sql`, r.times AS returned${sums(sql`r.return_total`, sql`r.return_numbers`)}`,
        )} ${inIntervals} AND r.times > 0 AND r.bucket - b.bucket <= ${sql.int(longest)}`
      : sql`${rows(
          column(sql`floor((r.at - b.begun_at) / ${sql.float(windowMs)})`, brackets),
          sql`, r.returned AS returned${sums(sql`r.x`, sql`CASE WHEN r.x IS NULL THEN 0 ELSE 1 END`)}`,
        )} JOIN events r ON ${sameUnit} AND r.returned = 1
           AND r.at - b.begun_at >= ${sql.float(windowMs)} AND r.at - b.begun_at < ${sql.float(windowMs * (longest + 1))}`;
  return sql`SELECT bucket, unit, later${list}${sums(sql`sum(total)`, sql`sum(numbers)`)} FROM (${pairs}) AS pairs
              GROUP BY bucket, unit, later${list} HAVING sum(returned) >= ${sql.int(least)}`;
}

/** Returns the column for an activity this many intervals later: the same number, or the bracket that contains it. */
function column(later: Fragment, brackets: readonly number[] | null): Fragment {
  if (brackets === null) return later;
  let end = 0;
  const cases = brackets.map((length, at) => {
    end += length;
    return sql`WHEN ${later} <= ${sql.int(end)} THEN ${sql.int(at + 1)}`;
  });
  return sql`CASE ${sql.join(cases, ' ')} ELSE ${sql.int(brackets.length)} END`;
}
