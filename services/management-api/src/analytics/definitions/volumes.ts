// Counts how often events and properties occurred in the last 30 days, and how many insights use them.

import type { Sql } from '@millrace/db';
import { createBudget, type StoreRead } from '../events/reads.ts';

/**
 * Usage of a definition. A field is null if the request did not include `volumes=true`, or if definitions of this kind
 * are not counted.
 */
export interface Volume {
  volume_30_day: number | null;
  /** Whether the count is extrapolated from the latest events. */
  volume_is_estimated: boolean;
  query_usage_30_day: number | null;
}

export const noVolume: Volume = { volume_30_day: null, volume_is_estimated: false, query_usage_30_day: null };

/** JSONPath that selects all objects in a query, at any depth. */
const objects = 'strict $.** ? (@.type() == "object")';
const namesOfProperties = `${objects}.keyvalue()
  ? (@.key == "key" || @.key == "breakdown" || @.key == "property" || @.key == "math_property").value`;

/** SQL condition for events `e` from the last 30 days. */
const recent = `e.project_id = $1 AND e.timestamp > now() - interval '30 days' AND e.timestamp <= now()`;

export async function countEventVolumes(read: StoreRead, names: readonly string[]): Promise<Map<string, Volume>> {
  const { sql, projectId } = read;
  const counts = await countNames(read, names);
  const usage = await usageOf(sql, projectId, { names, path: `${objects}.keyvalue() ? (@.key == "event").value` });
  return volumes(names, { counts, usage, share: 1 });
}

interface NameCount {
  name: string;
  count: number;
}

const recentMs = 30 * 24 * 60 * 60 * 1000;

async function countNames(read: StoreRead, names: readonly string[]): Promise<NameCount[]> {
  if (names.length === 0) return [];
  const now = Date.now();
  const rows = await read.store.events.series(
    {
      select: { projectId: read.projectId, events: names, from: now - recentMs + 1, to: now + 1, where: { all: [] } },
      edges: [],
      windows: null,
      measure: { of: 'events' },
      limit: names.length,
      nullsLast: false,
      breakdowns: [{ property: { of: 'column', key: 'event' }, isUrl: false, isBoolean: false, bins: null }],
    },
    createBudget(read),
  );
  return rows.map(({ values: [name], number: count }) => ({ name: name ?? '', count }));
}

/** Maximum number of events to search for properties. Searching all events would take too long. */
const maxLookedInto = 50_000;

/**
 * Counts the events that have each property. If there are more than `maxLookedInto` events, the count is an estimate.
 */
export async function countPropertyVolumes(
  sql: Sql,
  projectId: number,
  names: readonly string[],
): Promise<Map<string, Volume>> {
  const counts = await sql.query<{ name: string; count: number }>(
    `WITH latest AS (SELECT e.properties FROM event e WHERE ${recent} ORDER BY e.timestamp DESC LIMIT ${maxLookedInto})
     SELECT named.name, count(*)::float8 AS count
       FROM latest JOIN unnest($2::text[]) AS named (name) ON latest.properties ? named.name GROUP BY named.name`,
    [projectId, names],
  );
  const [all] = await sql.query<{ count: number }>(`SELECT count(*)::float8 AS count FROM event e WHERE ${recent}`, [
    projectId,
  ]);
  const usage = await usageOf(sql, projectId, { names, path: namesOfProperties });
  return volumes(names, { counts, usage, share: Math.min(1, maxLookedInto / (all?.count ?? 1)) });
}

/**
 * For each name, counts the insights that use it and were opened or changed in the last 30 days.
 * @param path the JSONPath of the names in a query
 */
function usageOf(sql: Sql, projectId: number, { names, path }: { names: readonly string[]; path: string }) {
  return sql.query<{ name: string; count: number }>(
    `SELECT named.value #>> '{}' AS name, count(DISTINCT i.id)::int AS count
       FROM insight i CROSS JOIN LATERAL jsonb_path_query(i.query::jsonb, $3::jsonpath) AS named (value)
      WHERE i.project_id = $1 AND NOT i.deleted
        AND (i.last_modified_at > now() - interval '30 days'
             OR EXISTS (SELECT FROM insight_view v
                         WHERE v.insight_id = i.id AND v.last_viewed_at > now() - interval '30 days'))
        AND jsonb_typeof(named.value) = 'string' AND named.value #>> '{}' = ANY ($2::text[])
      GROUP BY 1`,
    [projectId, names, path],
  );
}

function volumes(
  names: readonly string[],
  {
    counts,
    usage,
    share,
  }: { counts: { name: string; count: number }[]; usage: { name: string; count: number }[]; share: number },
): Map<string, Volume> {
  const count = new Map(counts.map((row) => [row.name, row.count]));
  const used = new Map(usage.map((row) => [row.name, row.count]));
  return new Map(
    names.map((name) => [
      name,
      {
        volume_30_day: Math.round((count.get(name) ?? 0) / share),
        volume_is_estimated: share < 1,
        query_usage_30_day: used.get(name) ?? 0,
      },
    ]),
  );
}
