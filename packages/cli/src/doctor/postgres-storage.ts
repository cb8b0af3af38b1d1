import type { Sql } from '@millrace/db';
import { type Finding, ok, orOk, problem, shownBytes, warning } from './checks.ts';
import {
  type Archiver,
  readArchiver,
  readServer,
  readSetting,
  readSizes,
  readSlots,
  readStandbys,
  readUnfrozenTransactions,
  type Slot,
  type Standby,
} from './postgres-store.ts';

const farBehindSeconds = 60;
const farBehindBytes = 1024 ** 3;

/** Standbys follow, and none that went away makes the primary keep its write-ahead log. */
export async function checkReplication(sql: Sql): Promise<Finding[]> {
  // A standby does not know of others; that it is one is said elsewhere.
  if ((await readServer(sql)).isStandby) return [];
  return judgeReplication(await readStandbys(sql), await readSlots(sql));
}

export function judgeReplication(standbys: readonly Standby[], slots: readonly Slot[]): Finding[] {
  const findings = [...standbys.flatMap(judgeStandby), ...slots.flatMap(judgeSlot)];
  if (standbys.some(({ state }) => state === null)) {
    findings.push(ok('how far standbys are this role may not see: GRANT pg_read_all_stats TO it shows it'));
  }
  return orOk(findings, standbys.length === 0 ? 'no standby is connected' : `standbys that follow: ${standbys.length}`);
}

function judgeStandby({ name, secondsBehind, bytesBehind }: Standby): Finding[] {
  if ((secondsBehind ?? 0) < farBehindSeconds && (bytesBehind ?? 0) < farBehindBytes) return [];
  const behind = `${Math.round(secondsBehind ?? 0)} s and ${shownBytes(bytesBehind ?? 0)} behind`;
  return [
    warning(
      `${name} is ${behind}: were it promoted now, that much would be processed again from the log`,
      'look at its disk, its network, and at long queries on it',
    ),
  ];
}

/** A slot that is read keeps little, unless its reader cannot follow. */
function judgeSlot({ name, isActive, keptBytes, status, safeBytes }: Slot): Finding[] {
  const kept = `${shownBytes(keptBytes ?? 0)} of write-ahead log are kept`;
  if (status === 'lost') {
    return [
      problem(
        `what the replication slot ${name} still had to read is deleted: its standby cannot follow any more`,
        'make the standby anew from a base backup, and SELECT pg_drop_replication_slot(…)',
      ),
    ];
  }
  if (status === 'unreserved' || (safeBytes !== null && safeBytes < farBehindBytes)) {
    return [
      problem(
        `${kept} for the replication slot ${name}, and ${shownBytes(Math.max(0, safeBytes ?? 0))} more will be before it is cut off`,
        'bring its standby back now, or raise max_slot_wal_keep_size while the disk has room',
      ),
    ];
  }
  if (!isActive) {
    return [
      warning(
        `nobody reads the replication slot ${name}, for which ${kept}: the disk fills up`,
        'bring its standby back, or SELECT pg_drop_replication_slot(…)',
      ),
    ];
  }
  if ((keptBytes ?? 0) < farBehindBytes) return [];
  return [
    warning(
      `${kept} for the replication slot ${name}, whose reader does not keep up`,
      'look at the disk and the network of its standby',
    ),
  ];
}

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

const wornAt = 1_000_000_000;
const nearlyStopsAt = 1_800_000_000;

/** Cleaning keeps up: without it tables grow for ever, and in the end PostgreSQL takes no writes. */
export async function checkCleaning(sql: Sql): Promise<Finding[]> {
  const unfrozen = await readUnfrozenTransactions(sql);
  return judgeCleaning({ unfrozen, autovacuum: await readSetting(sql, 'autovacuum') });
}

export function judgeCleaning({ unfrozen, autovacuum }: { unfrozen: number; autovacuum: string }): Finding[] {
  const shown = `${Math.round(unfrozen / 1_000_000)} million transactions since the oldest row was frozen`;
  const advice = 'end old transactions, drop slots nobody reads, then VACUUM (FREEZE) the database that is behind';
  const findings: Finding[] = [];
  if (autovacuum === 'off') findings.push(warning('autovacuum is off: deleted rows keep their space', 'set it on'));
  if (unfrozen >= nearlyStopsAt) findings.push(problem(`${shown}: at 2,000 PostgreSQL takes no writes`, advice));
  else if (unfrozen >= wornAt) findings.push(warning(`${shown}: at 2,000 PostgreSQL takes no writes`, advice));
  return findings.length > 0 ? findings : [ok(shown)];
}
