import type { Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import type { FlagRow } from '../feature-flags/flag-row.ts';
import { listFlags } from '../feature-flags/flag-store.ts';
import type { FeatureRow } from './feature-store.ts';

/** The flags of some features, by id. */
export async function flagsOf(sql: Sql, environmentId: number, features: FeatureRow[]): Promise<Map<number, FlagRow>> {
  const flags = new Map<number, FlagRow>();
  let missing = [...new Set(features.map(({ feature_flag_id }) => feature_flag_id))];
  // A page of flags may end early because of its bytes.
  while (missing.length > 0) {
    const where = createConditions();
    where.add(`f.project_id = ${where.parameter(environmentId)}`);
    where.add(`f.id = ANY (${where.parameter(missing)}::int[])`);
    const { rows } = await listFlags(sql, where, { order: 'f.id', limit: missing.length, offset: 0 });
    for (const row of rows) flags.set(row.id, row);
    if (rows.length === 0) break;
    missing = missing.filter((id) => !flags.has(id));
  }
  return flags;
}
