// Counts the actors of a lifecycle in ClickHouse, with the rules of `../lifecycle.ts`. The creation time of an actor is
// joined after its events have been combined into one number, because joining it to each event takes three times as long.

import { buildFromClause, buildSelectionCondition } from '../conditions.ts';
import type { Dialect } from '../dialect.ts';
import { bitsPerNumber, buildIntervalBits } from '../interval-bits.ts';
import type { LifecycleStoreQuery } from '../queries.ts';
import type { ActorType } from '../selection.ts';
import { type Fragment, sql } from '../sql.ts';

/**
 * Selects the number of actors by interval and status. Returns null if the bits of one number are not enough for all
 * intervals.
 */
export function buildLifecycleBitsSql(dialect: Dialect, query: LifecycleStoreQuery): Fragment | null {
  const { select, actorType, edges } = query;
  if (edges.length > bitsPerNumber) return null;
  const [active] = buildIntervalBits(dialect, { intervals: edges.length, name: 't', happened: sql`1 = 1` });
  if (active === undefined) throw new Error('There are no bits for the intervals.');
  const events = sql`SELECT ${dialect.actorKey(actorType)} AS actor, ${dialect.bucket(sql`e.timestamp`, edges)} AS bucket
    ${buildFromClause(dialect, { projectId: select.projectId, actorTypes: [actorType], conditions: [select.where] })}
    WHERE ${buildSelectionCondition(dialect, select)}`;
  const born = dialect.bucket(sql`fromUnixTimestamp64Milli(created_ms, 'UTC')`, edges);
  // Join the smaller of the two tables to the larger one, because ClickHouse keeps the joined table in memory.
  const actors = sql`SELECT t0, if(born = bitPositionsToArray(t0)[1], born, -1) AS newcomer
    FROM (${createdActors(actorType, { projectId: select.projectId, born })}) AS created
    ANY INNER JOIN (SELECT actor, ${active} FROM (${events}) GROUP BY actor ${dialect.settingsOfGroups}) AS active ON active.actor = created.actor`;
  const places = (status: Fragment, bits: Fragment) =>
    sql`arrayMap(place -> (toInt32(place), ${status}), bitPositionsToArray(${bits}))`;
  return sql`SELECT state.1 AS bucket, state.2 AS status, sum(actors) AS actors
    FROM (SELECT actors, arrayJoin(arrayConcat(
                   ${places(sql`'returning'`, sql`bitAnd(t0, before)`)},
                   ${places(sql`if(place = newcomer, 'new', 'resurrecting')`, sql`bitAnd(t0, bitNot(before))`)},
                   ${places(sql`'dormant'`, sql`bitAnd(before, bitNot(t0))`)})) AS state
            FROM (SELECT t0, newcomer, bitShiftLeft(t0, 1) AS before, count() AS actors FROM (${actors}) GROUP BY t0, newcomer))
   GROUP BY bucket, status`;
}

/** Selects the key of each actor with a record, and the interval in which the record was created. */
function createdActors(actorType: ActorType, { projectId, born }: { projectId: number; born: Fragment }): Fragment {
  const ofProject = sql`project_id = ${sql.int(projectId)}`;
  return actorType.of === 'group'
    ? sql`SELECT cityHash64(group_key) AS actor, ${born} AS born FROM "group"
           WHERE ${ofProject} AND group_type_index = ${sql.int(actorType.index)}`
    : sql`SELECT cityHash64(uuid) AS actor, ${born} AS born FROM person WHERE ${ofProject}`;
}
