// The text of a funnel: the events that matter, unit by unit in the order of time. Who got how far is decided by `answer/funnel-walk.ts`.

import { firstTimes, fromEvents, isStep, labels, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { FunnelQuestion, FunnelStep } from './port.ts';
import { type Fragment, sql } from './sql.ts';

/** Rows of unit, time, steps and exclusions as texts of `0` and `1`, and the values of breakdowns. */
export function funnelText(dialect: Dialect, question: FunnelQuestion): Fragment {
  const { select, steps, exclusions, breakdowns } = question;
  const { columns, list } = labels(dialect, breakdowns);
  // Events of one moment are told apart by their values only; without these no more is read than the index holds.
  const uuid = breakdowns.length === 0 ? sql`` : sql`, ${dialect.uuidText(sql`e.uuid`)} AS uuid`;
  const inOrder = breakdowns.length === 0 ? sql`unit, at, steps, exclusions` : sql`unit, at, uuid`;
  const marks = (some: readonly FunnelStep[]) =>
    some.length === 0
      ? sql`''`
      : sql.join(
          some.map((step, at) => sql`CASE WHEN ${isTaken(dialect, step, { at, select })} THEN '1' ELSE '0' END`),
          ' || ',
        );
  return sql`SELECT unit, at, steps, exclusions${list}
    FROM (${matching(dialect, question, sql`${marks(steps)} AS steps, ${marks(exclusions)} AS exclusions${uuid}${columns}`)}) AS events
   ORDER BY ${inOrder}`;
}

/**
 * Rows of the number of units and of what they did: a list of times and one of steps, as JSON, the first step being 1, the second 2, the third
 * 4. Most units get no further than one step: these are one row, without their times. No row for who took none.
 */
export function livesText(dialect: Dialect, question: FunnelQuestion): Fragment {
  const { select, steps, second } = question;
  const taken = steps.map((step, at) => isTaken(dialect, step, { at, select }));
  const bits = taken.map((isIt, at) => sql`CASE WHEN ${isIt} THEN ${sql.float(2 ** at)} ELSE 0 END`);
  const marks = [
    sql`${sql.join(bits, ' + ')} AS steps`,
    ...(second === null
      ? []
      : [
          marked(taken.slice(0, 1), sql`first`),
          marked(
            second.map((at) => taken[at] ?? sql`false`),
            sql`second`,
          ),
        ]),
  ];
  const [gotSomewhere, gotFurther] =
    second === null ? [sql`max(steps) > 0`, sql`max(steps) > 1`] : [sql`max(first) > 0`, sql`max(second) > 0`];
  return sql`SELECT count(*) AS units, life
    FROM (SELECT CASE WHEN ${gotFurther} THEN ${dialect.lists(sql`at`, sql`steps`)} END AS life
            FROM (${matching(dialect, question, sql.join(marks, ', '))}) AS events
           GROUP BY unit HAVING ${gotSomewhere}) AS lives
   GROUP BY life`;
}

/** 1 for events that are one of these steps, as a column. */
function marked(taken: readonly Fragment[], name: Fragment): Fragment {
  return taken.length === 0
    ? sql`0 AS ${name}`
    : sql`CASE WHEN ${sql.join(
        taken.map((isIt) => sql`(${isIt})`),
        ' OR ',
      )} THEN 1 ELSE 0 END AS ${name}`;
}

/** The events that matter, with their unit, time and some columns. */
function matching(
  dialect: Dialect,
  { select, unit, steps, exclusions, breakdowns }: FunnelQuestion,
  columns: Fragment,
): Fragment {
  const from = fromEvents(dialect, {
    projectId: select.projectId,
    units: [unit],
    conditions: [select.where, ...[...steps, ...exclusions].map(({ where }) => where)],
    properties: breakdowns.map(({ property }) => property),
  });
  const id = dialect.unit(unit);
  const firsts = steps.map(({ first }, at) =>
    first === null
      ? sql``
      : sql`LEFT JOIN ${firstTimes(dialect, first, unit)} AS ${sql.numbered('f', at)} ON ${sql.numbered('f', at)}.unit = ${id}`,
  );
  return sql`SELECT ${id} AS unit, ${dialect.millis(sql`e.timestamp`)} AS at, ${columns} ${from} ${sql.join(firsts, ' ')}
              WHERE ${selected(dialect, select)}${unit.of === 'person' ? sql`` : sql` AND ${id} IS NOT NULL`}`;
}

function isTaken(
  dialect: Dialect,
  step: FunnelStep,
  { at, select }: { at: number; select: FunnelQuestion['select'] },
): Fragment {
  const isFirst = step.first === null ? sql`` : sql` AND ${sql.numbered('f', at)}.first = e.timestamp`;
  return sql`${isStep(dialect, step, select.projectId)}${isFirst}`;
}
