import { AppError } from '@millrace/errors';
import { formatDateTime } from '@millrace/http';
import type { FlagRow } from '../feature-flags/flag-row.ts';
import { toMinimalFlag } from '../feature-flags/to-feature-flag.ts';
import type { FeatureRow } from './feature-store.ts';

/** A row as the API shows it. */
export function toFeature(row: FeatureRow, flag: FlagRow | undefined) {
  if (flag === undefined) throw new AppError('not_found', 'Not found.');
  return { ...row, feature_flag: toMinimalFlag(flag), created_at: formatDateTime(row.created_at) };
}
