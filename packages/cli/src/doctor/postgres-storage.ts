// Checks of `millrace doctor` for PostgreSQL replication, storage and vacuuming.

import type { Sql } from '@millrace/db';
import { type Finding, findingsOrOk, formatBytes, ok, problem, warning } from './checks.ts';
import {
  type Archiver,
  readArchiverStatistics,
  readReplicationSlots,
  readServerState,
  readSetting,
  readSizes,
  readStandbys,
  readUnfrozenTransactions,
  type Slot,
  type Standby,
} from './postgres-store.ts';

const farBehindSeconds = 60;
const farBehindBytes = 1024 ** 3;

/** Checks that standbys keep up, and that the server keeps no write-ahead log for a disconnected standby. */
export async function checkReplication(sql: Sql): Promise<Finding[]> {
  // A standby cannot list other standbys. `checkVersion` already reports that this server is a standby.
  if ((await readServerState(sql)).isStandby) return [];
  return judgeReplication(await readStandbys(sql), await readReplicationSlots(sql));
}

export function judgeReplication(standbys: readonly Standby[], slots: readonly Slot[]): Finding[] {
  const findings = [...standbys.flatMap(judgeStandby), ...slots.flatMap(judgeSlot)];
  if (standbys.some(({ state }) => state === null)) {
    findings.push(ok('this role cannot see how far behind the standbys are: grant it pg_read_all_stats'));
  }
  return findingsOrOk(
    findings,
    standbys.length === 0 ? 'no standby is connected' : `connected standbys, all up to date: ${standbys.length}`,
  );
}

function judgeStandby({ name, secondsBehind, bytesBehind }: Standby): Finding[] {
  if ((secondsBehind ?? 0) < farBehindSeconds && (bytesBehind ?? 0) < farBehindBytes) return [];
  const behind = `${Math.round(secondsBehind ?? 0)} s and ${formatBytes(bytesBehind ?? 0)} behind`;
  return [
    warning(
      `standby ${name} is ${behind}. After a failover now, consumers would have to process this much data again`,
      "Check the standby's disk, network and long-running queries.",
    ),
  ];
}

/**
 * Reports problems of a replication slot. PostgreSQL keeps little write-ahead log for a slot that is being read, unless
 * its reader is too slow.
 */
function judgeSlot({ name, isActive, keptBytes, status, safeBytes }: Slot): Finding[] {
  const keptText = `${formatBytes(keptBytes ?? 0)} of write-ahead log`;
  if (status === 'lost') {
    return [
      problem(
        `write-ahead log that the replication slot ${name} still needed was deleted: its standby can no longer catch up`,
        'Rebuild the standby from a base backup and run SELECT pg_drop_replication_slot(…).',
      ),
    ];
  }
  if (status === 'unreserved' || (safeBytes !== null && safeBytes < farBehindBytes)) {
    return [
      problem(
        `the replication slot ${name} keeps ${keptText}. After ${formatBytes(Math.max(0, safeBytes ?? 0))} more, PostgreSQL ` +
          'invalidates the slot',
        'Reconnect the standby now, or raise max_slot_wal_keep_size while the disk has room.',
      ),
    ];
  }
  if (!isActive) {
    return [
      warning(
        `no standby uses the replication slot ${name}, which keeps ${keptText}: the disk will fill up`,
        'Bring its standby back, or run SELECT pg_drop_replication_slot(…).',
      ),
    ];
  }
  if ((keptBytes ?? 0) < farBehindBytes) return [];
  return [
    warning(
      `the replication slot ${name} keeps ${keptText}, because its standby does not keep up`,
      "Check the standby's disk and network.",
    ),
  ];
}

/**
 * Reports the database size, and whether the write-ahead log is being archived. SQL cannot determine the free disk
 * space.
 */
export async function checkStorage(sql: Sql): Promise<Finding[]> {
  const { databaseBytes, largest } = await readSizes(sql);
  const tables = largest.map(({ name, bytes }) => `${name} ${formatBytes(bytes)}`).join(', ');
  const size = ok(
    `the database has ${formatBytes(databaseBytes)} (${tables}). PostgreSQL cannot report the free space on its disk`,
  );
  // A standby archives the write-ahead log only if it is configured to do so.
  if ((await readServerState(sql)).isStandby) return [size];
  return [size, ...judgeArchiver(await readArchiverStatistics(sql))];
}

export function judgeArchiver(archiver: Archiver | null): Finding[] {
  if (archiver === null) return [];
  const { failures, lastFailed, lastArchived } = archiver;
  if (lastFailed === null || (lastArchived !== null && lastArchived > lastFailed)) {
    return [
      ok(lastArchived === null ? 'nothing has been archived yet' : `archived until ${lastArchived.toISOString()}`),
    ];
  }
  const since = lastArchived === null ? 'has never succeeded' : `has not succeeded since ${lastArchived.toISOString()}`;
  return [
    problem(
      `archiving the write-ahead log ${since} (failures: ${failures}): the disk will fill up, and newer data cannot be restored`,
      'Look for errors from archive_command or archive_library in the PostgreSQL log. Check that the archive is reachable and has free space.',
    ),
  ];
}

const wornAt = 1_000_000_000;
const nearlyStopsAt = 1_800_000_000;

/** Checks that autovacuum keeps up. Otherwise, tables grow without limit, and PostgreSQL finally rejects all writes. */
export async function checkVacuum(sql: Sql): Promise<Finding[]> {
  const unfrozen = await readUnfrozenTransactions(sql);
  return judgeVacuum({ unfrozen, autovacuum: await readSetting(sql, 'autovacuum') });
}

export function judgeVacuum({ unfrozen, autovacuum }: { unfrozen: number; autovacuum: string }): Finding[] {
  const shown = `${Math.round(unfrozen / 1_000_000)} million transactions since the oldest row was frozen`;
  const advice =
    'End old transactions, drop unused replication slots, then run VACUUM (FREEZE) in the affected database.';
  const findings: Finding[] = [];
  if (autovacuum === 'off')
    findings.push(warning('autovacuum is off, so deleted rows keep using disk space', 'Turn autovacuum on.'));
  if (unfrozen >= nearlyStopsAt)
    findings.push(problem(`${shown}. At about 2 billion, PostgreSQL stops accepting writes`, advice));
  else if (unfrozen >= wornAt)
    findings.push(warning(`${shown}. At about 2 billion, PostgreSQL stops accepting writes`, advice));
  return findings.length > 0 ? findings : [ok(shown)];
}
