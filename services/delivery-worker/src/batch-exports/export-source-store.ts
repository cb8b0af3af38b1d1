import type { Transaction } from '@millrace/db';
import type { ClaimedRun } from './records/claimed-run.ts';
import type { EventRecord, PersonRecord } from './records/export-records.ts';

const cursorName = 'export_rows';

/**
 * Opens a cursor over what a run covers, in an order that is the same at every attempt. Runs of the schedule cover events
 * by the time they were stored, so that late ones are not missed; backfills of a range cover them by their own time. Persons are
 * always all of them, as they are now: when one last changed is not kept.
 */
export async function openCursor(tx: Transaction, run: ClaimedRun): Promise<void> {
  await tx.query('SET LOCAL cursor_tuple_fraction = 1');
  if (run.model === 'persons') return openPersons(tx, run.environment_id);
  const time = run.by_stored_time ? 'created_at' : 'timestamp';
  const { include_events: include = null, exclude_events: exclude = null } = run.destination_config;
  await tx.query(
    `DECLARE ${cursorName} NO SCROLL CURSOR FOR
     SELECT uuid, event, distinct_id, person_id, properties::text, person_properties::text, elements_chain, timestamp,
            created_at
       FROM event
      WHERE project_id = $1 AND ${time} >= $2 AND ${time} < $3
        AND ($4::text[] IS NULL OR event = ANY ($4)) AND ($5::text[] IS NULL OR event <> ALL ($5))
      ORDER BY ${time}, uuid`,
    [run.environment_id, run.data_interval_start, run.data_interval_end, listOrNull(include), listOrNull(exclude)],
  );
}

async function openPersons(tx: Transaction, environmentId: number): Promise<void> {
  await tx.query(
    `DECLARE ${cursorName} NO SCROLL CURSOR FOR
     SELECT d.distinct_id, p.uuid AS person_id, p.properties::text, p.is_identified, p.version,
            d.version AS person_distinct_id_version, p.created_at
       FROM person_distinct_id d JOIN person p ON p.project_id = d.project_id AND p.uuid = d.person_uuid
      WHERE d.project_id = $1
      ORDER BY d.distinct_id`,
    [environmentId],
  );
}

/** The next rows, fewer than asked for at the end. */
export async function fetchRows<Row extends EventRecord | PersonRecord>(
  tx: Transaction,
  count: number,
): Promise<Row[]> {
  return tx.query<Row & Record<string, unknown>>(`FETCH ${Math.trunc(count)} FROM ${cursorName}`);
}

/** An empty list means no filter, as if it were not there. */
function listOrNull(list: unknown): unknown {
  return Array.isArray(list) && list.length > 0 ? list : null;
}
