import type { Sql } from '@millrace/db';
import { type Finding, ok, orOk, warning } from '../finding.ts';
import { type IdleSlot, readIdleSlots, readServer, readStandbys, type Standby } from './postgres-store.ts';

const farBehindSeconds = 60;
const farBehindBytes = 1024 ** 3;

/** Standbys follow, and none that went away makes the primary keep its write-ahead log. */
export async function checkReplication(sql: Sql): Promise<Finding[]> {
  // A standby does not know of others; that it is one is said elsewhere.
  if ((await readServer(sql)).isStandby) return [];
  return judgeReplication(await readStandbys(sql), await readIdleSlots(sql));
}

export function judgeReplication(standbys: readonly Standby[], slots: readonly IdleSlot[]): Finding[] {
  const findings = [...standbys.flatMap(judgeStandby), ...slots.map(judgeSlot)];
  if (standbys.some(({ state }) => state === null)) {
    findings.push(ok('how far standbys are this role may not see: GRANT pg_read_all_stats TO it shows it'));
  }
  return orOk(findings, standbys.length === 0 ? 'no standby is connected' : `standbys that follow: ${standbys.length}`);
}

function judgeStandby({ name, secondsBehind, bytesBehind }: Standby): Finding[] {
  if ((secondsBehind ?? 0) < farBehindSeconds && (bytesBehind ?? 0) < farBehindBytes) return [];
  const behind = `${Math.round(secondsBehind ?? 0)} s and ${mebibytes(bytesBehind)} behind`;
  return [
    warning(
      `${name} is ${behind}: were it promoted now, that much would be processed again from the log`,
      'look at its disk, its network, and at long queries on it',
    ),
  ];
}

function judgeSlot({ name, keptBytes }: IdleSlot): Finding {
  return warning(
    `nobody reads the replication slot ${name}, for which ${mebibytes(keptBytes)} of write-ahead log are kept: the disk fills up`,
    'bring its standby back, or SELECT pg_drop_replication_slot(…)',
  );
}

function mebibytes(bytes: number | null): string {
  return `${Math.round((bytes ?? 0) / 1024 / 1024)} MiB`;
}
