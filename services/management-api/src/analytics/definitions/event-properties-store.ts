// Finds the properties that events with certain names have, in a sample of the latest events.

import type { Sql } from '@millrace/db';
import { createBudget, type StoreRead } from '../events/reads.ts';

/** The maximum number of events per name in the sample. The latest events are used. */
export const latestOfName = 2000;
export const maxEventNames = 20;

/**
 * Maximum sample size in bytes if events are stored outside PostgreSQL. If events are large, the sample contains fewer
 * of them.
 */
const mostBytes = 16 * 1024 * 1024;

export async function listPropertiesOfEvents(sql: Sql, projectId: number, events: string[]): Promise<string[]> {
  const rows = await sql.query<{ name: string }>(
    `SELECT DISTINCT property.name
       FROM unnest($2::text[]) AS wanted (event)
      CROSS JOIN LATERAL (
            SELECT e.properties FROM event e
             WHERE e.project_id = $1::int AND e.event = wanted.event
             ORDER BY e.timestamp DESC, e.uuid DESC LIMIT ${latestOfName}) AS latest
      CROSS JOIN LATERAL jsonb_object_keys(latest.properties) AS property (name)`,
    [projectId, events],
  );
  return rows.map(({ name }) => name);
}

/** Does the same as `listPropertiesOfEvents` for events that are not in PostgreSQL. */
export async function listPropertiesFromEventStore(read: StoreRead, eventNames: string[]): Promise<string[]> {
  const names = new Set<string>();
  for (const eventName of eventNames) {
    const { events } = await read.store.events.list(
      {
        projectId: read.projectId,
        by: 'timestamp',
        events: [eventName],
        uuid: null,
        where: { all: [] },
        from: null,
        to: null,
        after: null,
        isOldestFirst: false,
        limit: latestOfName,
        maxBytes: mostBytes,
      },
      createBudget(read),
    );
    for (const { properties } of events) for (const name of Object.keys(JSON.parse(properties))) names.add(name);
  }
  return [...names];
}
