import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type { Sql } from '@millrace/db';
import { type Finding, listed, orOk, problem, warning } from '../finding.ts';
import { readAppliedMigrations } from './postgres-store.ts';

/** The schema is the one this version was made for. @param prismaDirectory the folder with `migrations/`. */
export async function checkMigrations(sql: Sql, prismaDirectory: string): Promise<Finding[]> {
  const entries = await readdir(join(prismaDirectory, 'migrations'), { withFileTypes: true });
  const known = entries.filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const applied = await readAppliedMigrations(sql).catch((error: { code?: unknown }): string[] => {
    // There is no table yet.
    if (error.code === '42P01') return [];
    throw error;
  });
  const pending = known.filter((name) => !applied.includes(name)).sort();
  const newer = applied.filter((name) => !known.includes(name));
  const findings: Finding[] = [];
  if (pending.length > 0) {
    findings.push(problem(`not applied: ${listed(pending, 2)}`, 'run `millrace migrate`'));
  }
  if (newer.length > 0) {
    findings.push(
      warning(
        `the database has what this version does not know: ${listed(newer, 2)}`,
        'nothing when an upgrade was just taken back or is under way; else use the newer version of this command',
      ),
    );
  }
  return orOk(findings, `${known.length} applied, none pending`);
}
