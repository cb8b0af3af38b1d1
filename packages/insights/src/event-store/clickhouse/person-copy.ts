// Copies persons and moved distinct IDs from PostgreSQL to ClickHouse, so that a query does not have to read all
// persons of a project over a single connection.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Sql, SqlDatabase } from '@millrace/db';
import { sleep } from '@millrace/runtime';
import {
  claimPersonCopy,
  finishPersonChanges,
  hasPersonTriggers,
  nextPersonVersion,
  type PersonCopyState,
  readPersonChanges,
  readPortionEnd,
  releasePersonCopy,
  savePersonCopy,
  startRecordingPersons,
} from './person-copy-store.ts';
import { copyPersons, createPersonCopyTables, hasPersonCopyTables, switchToCopiedPersons } from './person-tables.ts';
import type { ReadablePostgres } from './tables.ts';

interface PersonCopyDeps {
  database: Pick<SqlDatabase, 'sql' | 'transaction'>;
  client: ClickHouseClient;
  postgres: ReadablePostgres;
}

/** The lease lasts longer than it takes to copy a portion. */
const leaseSeconds = 600;
const portionSize = 20_000;
const pauseMs = 500;

interface PersonCopyStep {
  hasMore: boolean;
  /** The time before which all changes are in ClickHouse. Null while queries read persons from PostgreSQL. */
  copiedUntil: Date | null;
}

/**
 * Copies a portion of the persons that changed, and of all persons until the first pass is complete. Each portion has a
 * higher version than the portion before it, so ClickHouse keeps the newest state of a person that is copied twice.
 * Recorded changes are deleted only after they have been copied, so an interrupted portion is repeated.
 * @param onBegin a function that is called before anything is copied, with the time before which all changes are in
 * ClickHouse
 * @returns null while another process copies
 */
export async function copyPersonPortion(
  deps: PersonCopyDeps,
  { size = portionSize, onBegin = () => {} }: { size?: number; onBegin?: (copiedUntil: Date | null) => void } = {},
): Promise<PersonCopyStep | null> {
  const { sql } = deps.database;
  const claimed = await claimPersonCopy(sql, leaseSeconds);
  if (claimed === undefined) return null;
  try {
    onBegin(claimed.copiedUntil);
    const state = (await canContinue(deps, claimed)) ? claimed : await startOver(deps);
    const { ids, until } = await readPersonChanges(sql, size);
    if (ids.length > 0) {
      await copyPersons(deps, { ids }, await nextPersonVersion(sql));
      await finishPersonChanges(sql, ids);
    }
    if (state.copiedUntil === null) {
      const { filledUntil: after } = state;
      const end = await readPortionEnd(sql, after, size);
      await copyPersons(deps, { after, until: end }, await nextPersonVersion(sql));
      // The first pass has copied the last person. Persons created during the pass are among the recorded changes.
      await savePersonCopy(sql, { filledUntil: end, copiedUntil: end === null ? until : null });
      return { hasMore: true, copiedUntil: null };
    }
    await savePersonCopy(sql, { filledUntil: null, copiedUntil: until });
    if (ids.length === size) return { hasMore: true, copiedUntil: until };
    await switchToCopiedPersons(deps.client);
    return { hasMore: false, copiedUntil: until };
  } finally {
    await releasePersonCopy(sql);
  }
}

/** Returns true if all changes since this state have been recorded and the table of copied persons exists. */
async function canContinue({ database, client }: PersonCopyDeps, state: PersonCopyState): Promise<boolean> {
  if (state.filledUntil === null && state.copiedUntil === null) return false;
  return (await hasPersonTriggers(database.sql)) && (await hasPersonCopyTables(client));
}

/** Record changes before the first pass begins, so that no change is missed. */
async function startOver({ database, client, postgres }: PersonCopyDeps): Promise<PersonCopyState> {
  const state = { filledUntil: null, copiedUntil: null };
  await savePersonCopy(database.sql, state);
  await createPersonCopyTables(client, postgres);
  if (!(await hasPersonTriggers(database.sql))) await database.transaction(startRecordingPersons);
  return state;
}

/** Makes the delivery worker copy all persons again. Queries use PostgreSQL until the copy is complete. */
export async function restartPersonCopy(sql: Sql): Promise<void> {
  // Wait until no portion is being copied, because completing a portion would overwrite this state.
  while ((await claimPersonCopy(sql, leaseSeconds)) === undefined) await sleep(pauseMs);
  await savePersonCopy(sql, { filledUntil: null, copiedUntil: null });
  await releasePersonCopy(sql);
}
