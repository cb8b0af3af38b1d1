// The text of a funnel: the events that matter, unit by unit in the order of time. Who got how far is decided by `answer/funnel-walk.ts`.

import { firstTimes, fromEvents, isStep, labels, selected } from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { FunnelQuestion, FunnelStep } from './port.ts';
import { type Fragment, sql } from './sql.ts';

/** Rows of unit, time, steps and exclusions as texts of `0` and `1`, and the values of breakdowns. */
export function funnelText(dialect: Dialect, question: FunnelQuestion): Fragment {
  const { select, unit, steps, exclusions, breakdowns } = question;
  const all = [...steps, ...exclusions];
  const from = fromEvents(dialect, {
    projectId: select.projectId,
    units: [unit],
    conditions: [select.where, ...all.map(({ where }) => where)],
    properties: breakdowns.map(({ property }) => property),
  });
  const firsts = steps.map(({ first }, at) =>
    first === null
      ? sql``
      : sql`LEFT JOIN ${firstTimes(dialect, first, unit)} AS ${sql.numbered('f', at)}
              ON ${sql.numbered('f', at)}.unit = ${dialect.unit(unit)}`,
  );
  const id = dialect.unit(unit);
  const { columns, list } = labels(dialect, breakdowns);
  // Events of one moment are told apart by their values only; without these no more is read than the index holds.
  const uuid = breakdowns.length === 0 ? sql`` : sql`, ${dialect.uuidText(sql`e.uuid`)} AS uuid`;
  const inOrder = breakdowns.length === 0 ? sql`unit, at, steps, exclusions` : sql`unit, at, uuid`;
  return sql`SELECT unit, at, steps, exclusions${list}
    FROM (SELECT ${id} AS unit, ${dialect.millis(sql`e.timestamp`)} AS at, ${marks(dialect, steps, select.projectId)} AS steps,
                 ${marks(dialect, exclusions, select.projectId)} AS exclusions${uuid}${columns}
            ${from} ${sql.join(firsts, ' ')}
           WHERE ${selected(dialect, select)}${unit.of === 'person' ? sql`` : sql` AND ${id} IS NOT NULL`}) AS events
   ORDER BY ${inOrder}`;
}

/** `101`: it is the first and the third. */
function marks(dialect: Dialect, steps: readonly FunnelStep[], projectId: number): Fragment {
  if (steps.length === 0) return sql`''`;
  const mark = (step: FunnelStep, at: number) => {
    const isIt = isStep(dialect, step, projectId);
    const isFirst = step.first === null ? sql`` : sql` AND ${sql.numbered('f', at)}.first = e.timestamp`;
    return sql`CASE WHEN ${isIt}${isFirst} THEN '1' ELSE '0' END`;
  };
  return sql.join(steps.map(mark), ' || ');
}
