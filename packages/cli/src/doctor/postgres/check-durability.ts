import type { Sql } from '@millrace/db';
import { type Finding, ok, warning } from '../finding.ts';
import { readUnsafeSettings } from './postgres-store.ts';

/** What was committed survives a crash of the server. */
export async function checkDurability(sql: Sql): Promise<Finding[]> {
  const off = await readUnsafeSettings(sql);
  if (off.length === 0) return [ok('what is committed survives a crash')];
  return [
    warning(
      `${off.join(', ')} off: a crash of PostgreSQL loses what was committed, and can leave a database that does not start`,
      `set ${off.join(', ')} on, except where everything may be lost, as for tests`,
    ),
  ];
}
