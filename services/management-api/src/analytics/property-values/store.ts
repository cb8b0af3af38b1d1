import type { Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { budgetOf, lastMs, type StoreRead } from '../events/reads.ts';

interface WantedValues {
  /** Name of the property. */
  key: string;
  /** Only values that contain this, in any case. */
  value?: string;
}

interface WantedEventValues extends WantedValues {
  /** Only of events of this name. */
  event_name?: string;
  /** Only of later events. */
  after: Date;
}

/** Rows that are looked at, the latest ones. */
export const latestRows = 50_000;
export const mostValues = 100;
/** Longer values are no choices. */
export const longestValue = 400;

/** Values of a property of the latest events, the most frequent first. */
export function listEventValues(
  read: StoreRead,
  { key, value, event_name, after }: WantedEventValues,
): Promise<string[]> {
  return read.store.events.values(
    {
      select: {
        projectId: read.projectId,
        events: event_name === undefined ? null : [event_name],
        from: after.getTime() + 1,
        to: lastMs,
        where: { all: [] },
      },
      property: { of: 'event', key },
      containing: value === undefined || value === '' ? null : value,
      ...{ latest: latestRows, longest: longestValue, limit: mostValues },
    },
    budgetOf(read),
  );
}

/** Values of a property of the newest persons, the most frequent first. */
export async function listPersonValues(sql: Sql, projectId: number, { key, value }: WantedValues): Promise<string[]> {
  const where = createConditions();
  const [name, project] = [`${where.parameter(key)}::text`, where.parameter(projectId)];
  const search = value === undefined || value === '' ? null : `lower(${where.parameter(value)}::text)`;
  const rows = await sql.query<{ name: string }>(
    `SELECT name
       FROM (SELECT properties -> ${name} AS json, properties ->> ${name} AS name
               FROM (SELECT properties FROM person p WHERE p.project_id = ${project}
                      ORDER BY p.id DESC LIMIT ${latestRows}) AS latest) AS found
      WHERE jsonb_typeof(json) IN ('string', 'number', 'boolean') AND name <> '' AND length(name) <= ${longestValue}
        ${search === null ? '' : `AND strpos(lower(name), ${search}) > 0`}
      GROUP BY name ORDER BY count(*) DESC, name LIMIT ${mostValues}`,
    where.values,
  );
  return rows.map((row) => row.name);
}
