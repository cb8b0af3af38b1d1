// Who begins in an interval, and who comes back in later ones.

import { firstTimes, fromEvents, isStep, labels, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { RetentionQuestion } from './port.ts';
import { type Fragment, sql } from './sql.ts';

/** Rows of the row, how many intervals later, number of units, and the values of breakdowns. */
export function retentionText(dialect: Dialect, question: RetentionQuestion): Fragment {
  const { list } = labels(dialect, question.breakdowns);
  const later = question.cumulative
    ? sql`SELECT bucket, later${list}, count(*) AS units
            FROM (SELECT b.bucket AS bucket, max(r.bucket) - b.bucket AS later, b.unit AS unit${ofBeginner(dialect, question)} ${returning(dialect, question)}
                   GROUP BY b.bucket, b.unit${ofBeginner(dialect, question)}) AS last
           GROUP BY bucket, later${list}`
    : sql`SELECT b.bucket AS bucket, r.bucket - b.bucket AS later${ofBeginner(dialect, question)}, count(*) AS units ${returning(dialect, question)}
           GROUP BY b.bucket, r.bucket - b.bucket${ofBeginner(dialect, question)}`;
  return sql`WITH ${active(dialect, question)}
    SELECT bucket, later, units${list} FROM (
      SELECT bucket, 0 AS later${list}, count(*) AS units FROM beginners GROUP BY bucket${list}
      UNION ALL ${later}) AS rows
     WHERE bucket < ${sql.int(question.rows)}`;
}

/** Units that began in an interval, with the number of their target events in it. */
export function unitsOfRetentionText(dialect: Dialect, question: RetentionQuestion, row: number): Fragment {
  return sql`WITH ${active(dialect, question)}
    SELECT unit, sum(began) AS events FROM beginners WHERE bucket = ${sql.int(row)} GROUP BY unit`;
}

/** `active`: what each unit did in each interval; `beginners`: in which it began. */
function active(dialect: Dialect, question: RetentionQuestion): Fragment {
  const { select, unit, edges, target, returning, breakdowns, first } = question;
  const { columns, list, names } = labels(dialect, breakdowns);
  const [isTarget, isReturn] = [target, returning].map((step) => isStep(dialect, step, select.projectId));
  if (isTarget === undefined || isReturn === undefined)
    throw new Error('A retention has a target and a returning event.');
  const conditions = [select.where, target.where, returning.where];
  const from = fromEvents(dialect, {
    projectId: select.projectId,
    units: [unit],
    conditions,
    properties: breakdowns.map(({ property }) => property),
  });
  const id = dialect.unit(unit);
  const firsts = first === null ? sql`` : sql`LEFT JOIN ${firstTimes(dialect, first, unit)} AS f ON f.unit = ${id}`;
  const begins = first === null ? isTarget : sql`${isTarget} AND f.first = e.timestamp`;
  const together = sql.join([sql`bucket`, sql`unit`, ...names], ', ');
  return sql`events AS (
      SELECT ${dialect.bucket(sql`e.timestamp`, edges)} AS bucket, ${id} AS unit,
             CASE WHEN ${begins} THEN 1 ELSE 0 END AS began, CASE WHEN ${isReturn} THEN 1 ELSE 0 END AS returned${columns}
        ${from} ${firsts}
       WHERE ${selected(dialect, select)} AND (${isTarget} OR ${isReturn})${unit.of === 'person' ? sql`` : sql` AND ${id} IS NOT NULL`}),
    active AS (SELECT ${together}, sum(began) AS began, sum(returned) AS returned FROM events GROUP BY ${together}),
    beginners AS (SELECT bucket, unit, began${list} FROM active WHERE began > 0)`;
}

function ofBeginner(dialect: Dialect, { breakdowns }: RetentionQuestion): Fragment {
  return sql.join(
    labels(dialect, breakdowns).names.map((name) => sql`, b.${name}`),
    ' ',
  );
}

function returning(dialect: Dialect, { breakdowns, least }: RetentionQuestion): Fragment {
  const same = labels(dialect, breakdowns).names.map(
    (name) => sql`AND coalesce(r.${name}, '') = coalesce(b.${name}, '')`,
  );
  return sql`FROM beginners b JOIN active r ON r.unit = b.unit AND r.bucket > b.bucket AND r.returned >= ${sql.int(least)}
             ${sql.join(same, ' ')}`;
}
