import type { Sql } from '@millrace/db';
import type { FlagRow } from './flag-row.ts';
import type { PayloadSecrets } from './payload-secrets.ts';
import { openedFilters, redactedFilters } from './shown-filters.ts';
import { toFeatureFlag } from './to-feature-flag.ts';
import { withNames } from './with-names.ts';

type FeatureFlag = ReturnType<typeof toFeatureFlag>;

/** Flags as a list shows them. */
export async function showFlags(sql: Sql, rows: readonly FlagRow[]): Promise<FeatureFlag[]> {
  const shown = await withNames(
    sql,
    rows.map((row) => ({ environmentId: row.environment_id, filters: redactedFilters(row) })),
  );
  return rows.map((row, index) => toFeatureFlag(row, shown[index] ?? {}));
}

/** A flag as it is shown on its own: with its payloads. */
export async function showFlag(sql: Sql, row: FlagRow, secrets: PayloadSecrets): Promise<FeatureFlag> {
  const filters = openedFilters(row, secrets);
  const [shown = filters] = await withNames(sql, [{ environmentId: row.environment_id, filters }]);
  return toFeatureFlag(row, shown);
}
