// SQL of a funnel: the relevant events by actor and time. `answer/funnel-walk.ts` determines the progress from them.

import { firstTimes, fromEvents, isStep, labels, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { FunnelQuestion, FunnelStep } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

/** Returns rows of actor, time, steps and exclusions as strings of `0` and `1`, and breakdown values. */
export function funnelText(dialect: Dialect, question: FunnelQuestion): Fragment {
  const { select, steps, exclusions, breakdowns } = question;
  const { columns, list } = labels(dialect, breakdowns);
  // The order of simultaneous events only matters for breakdown values. Without a breakdown, an index contains
  // everything that is read.
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
 * Returns rows of a number of actors and their path: JSON lists of times and of steps, where steps are bits (1, 2, 4,
 * …), or with a breakdown the JSON of `Dialect.path`. Most actors get no further than one step; they share rows without
 * times. Actors without a step have no row. Null if the engine does not combine paths with breakdown values.
 */
export function livesText(dialect: Dialect, question: FunnelQuestion): Fragment | null {
  const { select, steps, second, breakdowns } = question;
  const { columns, names } = labels(dialect, breakdowns);
  if (names.length > 0 && dialect.path === null) return null;
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
  const uuid = names.length === 0 ? sql`` : sql`, ${dialect.uuidText(sql`e.uuid`)} AS uuid`;
  const life =
    names.length > 0 && dialect.path !== null
      ? dialect.path(names, gotFurther)
      : sql`CASE WHEN ${gotFurther} THEN ${dialect.lists(sql`at`, sql`steps`)} END`;
  return sql`SELECT count(*) AS units, life
    FROM (SELECT ${life} AS life
            FROM (${matching(dialect, question, sql`${sql.join(marks, ', ')}${uuid}${columns}`)}) AS events
           GROUP BY unit HAVING ${gotSomewhere}) AS lives
   GROUP BY life`;
}

/** Builds a column that is 1 for events that are one of these steps. */
function marked(taken: readonly Fragment[], name: Fragment): Fragment {
  return taken.length === 0
    ? sql`0 AS ${name}`
    : sql`CASE WHEN ${sql.join(
        taken.map((isIt) => sql`(${isIt})`),
        ' OR ',
      )} THEN 1 ELSE 0 END AS ${name}`;
}

/** Selects the relevant events with their actor, their time and the given columns. */
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
