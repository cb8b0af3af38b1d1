import type { FlagRow } from './flag-row.ts';

export type FlagStatus = 'active' | 'stale' | 'archived' | 'deleted';

type Judged = Pick<FlagRow, 'deleted' | 'archived' | 'is_stale'>;

/** Whether a flag is still of use. */
export function flagStatus({ deleted, archived, is_stale }: Judged): FlagStatus {
  if (deleted) return 'deleted';
  if (archived) return 'archived';
  return is_stale ? 'stale' : 'active';
}

/** Why it has its status, in a sentence. */
export function flagStatusReason(flag: Judged & Pick<FlagRow, 'active' | 'last_called_at'>): string {
  switch (flagStatus(flag)) {
    case 'deleted':
      return 'Flag has been deleted';
    case 'archived':
      return 'Flag has been archived';
    case 'stale':
      return flag.last_called_at === null
        ? 'Flag was never called, is older than 30 days and is on for everybody'
        : 'Flag has not been called for 30 days';
    case 'active':
      return flag.active ? 'Flag is in use' : 'Flag is disabled';
  }
}
