// Reads a property's values from the latest events or persons, as suggestions for filters.

import type { Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { createBudget, lastMs, type StoreRead } from '../events/reads.ts';

interface WantedValues {
  key: string;
  /** A string that values must contain, ignoring case. */
  value?: string;
}

interface WantedEventValues extends WantedValues {
  /** Only values from events with this name are returned. */
  event_name?: string;
  /** Only values from events after this time are returned. */
  after: Date;
}

/** The number of latest events or persons to search for values. */
export const latestRows = 50_000;
export const maxValues = 100;
/** Maximum length of a value in characters. Longer values are not useful as suggestions, so they are omitted. */
export const longestValue = 400;

/** Returns a property's most frequent values in the latest events, most frequent first. */
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
      searchedEvents: latestRows,
      maxValueLength: longestValue,
      limit: maxValues,
    },
    createBudget(read),
  );
}

/** Returns a property's most frequent values in the newest persons, most frequent first. */
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
      GROUP BY name ORDER BY count(*) DESC, name LIMIT ${maxValues}`,
    where.values,
  );
  return rows.map((row) => row.name);
}
