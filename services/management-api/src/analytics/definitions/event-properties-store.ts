// Which properties the events of some names have.

import type { Sql } from '@millrace/db';
import { budgetOf, type StoreRead } from '../events/reads.ts';

/** Events of each name that are looked into, the latest ones. */
export const latestOfName = 2000;
export const mostEventNames = 20;

/** Large events end what another store is asked for. */
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

/** The same where events are in another store. */
export async function listPropertiesOfStoredEvents(read: StoreRead, eventNames: string[]): Promise<string[]> {
  const names = new Set<string>();
  for (const eventName of eventNames) {
    const { events } = await read.store.events.list(
      {
        ...{ projectId: read.projectId, by: 'timestamp', events: [eventName], uuid: null, where: { all: [] } },
        ...{ from: null, to: null, behind: null, isOldestFirst: false, limit: latestOfName, maxBytes: mostBytes },
      },
      budgetOf(read),
    );
    for (const { properties } of events) for (const name of Object.keys(JSON.parse(properties))) names.add(name);
  }
  return [...names];
}
