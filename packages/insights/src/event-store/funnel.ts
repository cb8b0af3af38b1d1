// SQL that selects a funnel's events by actor and time. `results/funnel-walk.ts` determines from these events how far
// each actor got.

import {
  buildBreakdownColumns,
  buildFirstTimesTable,
  buildFromClause,
  buildSelectionCondition,
  buildStepCondition,
} from './conditions.ts';
import type { Dialect } from './dialect.ts';
import type { FunnelStep, FunnelStoreQuery } from './queries.ts';
import { type Fragment, sql } from './sql.ts';

/**
 * Selects actor, time, steps, exclusions and breakdown values of each event. Steps and exclusions are strings of `0`
 * and `1`.
 */
export function buildFunnelSql(dialect: Dialect, query: FunnelStoreQuery): Fragment {
  const { select, steps, exclusions, breakdowns } = query;
  const { columns, list } = buildBreakdownColumns(dialect, breakdowns);
  // Only breakdown values depend on the order of simultaneous events. Without a breakdown, an index contains all
  // selected columns if the UUID is omitted.
  const uuid = breakdowns.length === 0 ? sql`` : sql`, ${dialect.uuidText(sql`e.uuid`)} AS uuid`;
  const inOrder = breakdowns.length === 0 ? sql`actor, at, steps, exclusions` : sql`actor, at, uuid`;
  const marks = (some: readonly FunnelStep[]) =>
    some.length === 0
      ? sql`''`
      : sql.join(
          some.map(
            (step, at) =>
              sql`CASE WHEN ${buildStepEventCondition(dialect, step, { at, select })} THEN '1' ELSE '0' END`,
          ),
          ' || ',
        );
  const selected = sql`${marks(steps)} AS steps, ${marks(exclusions)} AS exclusions${uuid}${columns}`;
  return sql`SELECT actor, at, steps, exclusions${list}
    FROM (${buildRelevantEventsSql(dialect, query, { actor: dialect.actorId(query.actorType), columns: selected })}) AS events
   ORDER BY ${inOrder}`;
}

/**
 * Selects the paths of actors. Each row contains a path, as JSON lists of times and of steps, and the number of actors
 * that share it. Steps are bits (1, 2, 4, …). With a breakdown, the path is the JSON of `Dialect.path`. Most actors do
 * not get past the first step, and these share rows without times. Actors that reached no step have no row. Returns
 * null if the engine cannot combine paths with breakdown values.
 */
export function buildFunnelPathsSql(dialect: Dialect, query: FunnelStoreQuery): Fragment | null {
  const { select, steps, second, breakdowns } = query;
  const { columns, names } = buildBreakdownColumns(dialect, breakdowns);
  if (names.length > 0 && dialect.path === null) return null;
  const taken = steps.map((step, at) => buildStepEventCondition(dialect, step, { at, select }));
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
  const path =
    names.length > 0 && dialect.path !== null
      ? dialect.path(names, gotFurther)
      : sql`CASE WHEN ${gotFurther} THEN ${dialect.lists(sql`at`, sql`steps`)} END`;
  const selected = sql`${sql.join(marks, ', ')}${uuid}${columns}`;
  return sql`SELECT count(*) AS actors, path
    FROM (SELECT ${path} AS path
            FROM (${buildRelevantEventsSql(dialect, query, { actor: dialect.actorKey(query.actorType), columns: selected })}) AS events
           GROUP BY actor HAVING ${gotSomewhere}) AS paths
   GROUP BY path`;
}

/** Builds a column that is 1 if the event matches a step in `taken`. */
function marked(taken: readonly Fragment[], name: Fragment): Fragment {
  return taken.length === 0
    ? sql`0 AS ${name}`
    : sql`CASE WHEN ${sql.join(
        taken.map((isIt) => sql`(${isIt})`),
        ' OR ',
      )} THEN 1 ELSE 0 END AS ${name}`;
}

/**
 * Selects the relevant events with their actor, their time and the given columns.
 * @param actor the actor's ID, or the actor's key if actors are only counted
 */
export function buildRelevantEventsSql(
  dialect: Dialect,
  { select, actorType, steps, exclusions, breakdowns }: FunnelStoreQuery,
  { actor, columns }: { actor: Fragment; columns: Fragment },
): Fragment {
  const from = buildFromClause(dialect, {
    projectId: select.projectId,
    actorTypes: [actorType],
    conditions: [select.where, ...[...steps, ...exclusions].map(({ where }) => where)],
    properties: breakdowns.map(({ property }) => property),
  });
  const id = dialect.actorId(actorType);
  const firsts = steps.map(({ first }, at) =>
    first === null
      ? sql``
      : sql`LEFT JOIN ${buildFirstTimesTable(dialect, first, actorType)} AS ${sql.numbered('f', at)} ON ${sql.numbered('f', at)}.actor = ${id}`,
  );
  return sql`SELECT ${actor} AS actor, ${dialect.millis(sql`e.timestamp`)} AS at, ${columns} ${from} ${sql.join(firsts, ' ')}
              WHERE ${buildSelectionCondition(dialect, select)}${actorType.of === 'person' ? sql`` : sql` AND ${id} IS NOT NULL`}`;
}

export function buildStepEventCondition(
  dialect: Dialect,
  step: FunnelStep,
  { at, select }: { at: number; select: FunnelStoreQuery['select'] },
): Fragment {
  const isFirst = step.first === null ? sql`` : sql` AND ${sql.numbered('f', at)}.first = e.timestamp`;
  return sql`${buildStepCondition(dialect, step, select.projectId)}${isFirst}`;
}
