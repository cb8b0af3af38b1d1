import type { Sql } from '@millrace/db';
import { type Finding, ok, problem, warning } from '../finding.ts';
import { readSetting, readUnfrozenTransactions } from './storage-store.ts';

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
