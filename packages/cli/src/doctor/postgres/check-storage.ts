import type { Sql } from '@millrace/db';
import { type Finding, ok, problem } from '../finding.ts';
import { shownBytes } from '../shown-bytes.ts';
import { readServer } from './postgres-store.ts';
import { type Archiver, readArchiver, readSizes } from './storage-store.ts';

/** How large the database is, and whether its archive takes the write-ahead log. The free space of disks no SQL tells. */
export async function checkStorage(sql: Sql): Promise<Finding[]> {
  const { databaseBytes, largest } = await readSizes(sql);
  const tables = largest.map(({ name, bytes }) => `${name} ${shownBytes(bytes)}`).join(', ');
  const size = ok(
    `the database has ${shownBytes(databaseBytes)} (${tables}); what is free on its disk only its host knows`,
  );
  // A standby hands over what it is told to, if anything.
  if ((await readServer(sql)).isStandby) return [size];
  return [size, ...judgeArchiver(await readArchiver(sql))];
}

export function judgeArchiver(archiver: Archiver | null): Finding[] {
  if (archiver === null) return [];
  const { failures, lastFailed, lastArchived } = archiver;
  if (lastFailed === null || (lastArchived !== null && lastArchived > lastFailed)) {
    return [ok(lastArchived === null ? 'nothing was archived yet' : `archived until ${lastArchived.toISOString()}`)];
  }
  const since = lastArchived === null ? 'has never succeeded' : `has not succeeded since ${lastArchived.toISOString()}`;
  return [
    problem(
      `archiving the write-ahead log ${since} (failures: ${failures}): it is kept, the disk fills up, and what is newer cannot be restored`,
      'see the log of PostgreSQL for what archive_command (or archive_library) says; is the archive reachable, and is it full',
    ),
  ];
}
