import type { Sql } from '@millrace/db';
import { type Finding, ok, orOk, problem, warning } from '../finding.ts';
import { shownBytes } from '../shown-bytes.ts';
import { readServer, readStandbys, type Standby } from './postgres-store.ts';
import { readSlots, type Slot } from './storage-store.ts';

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
