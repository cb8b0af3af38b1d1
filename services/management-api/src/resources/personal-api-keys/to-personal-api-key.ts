import { formatDateTime } from '@millrace/http';

/** A key as it is stored. */
export interface StoredKey {
  id: string;
  label: string;
  mask_value: string;
  created_at: Date;
  last_used_at: Date | null;
  last_rolled_at: Date | null;
  expires_at: Date | null;
  user_id: number;
  scopes: string[];
  scoped_teams: number[];
  scoped_organizations: string[];
}

/** @param value the key itself, right after it was made; null ever after. */
export function toPersonalApiKey(key: StoredKey, value: string | null) {
  return {
    ...key,
    value,
    created_at: formatDateTime(key.created_at),
    last_used_at: key.last_used_at && formatDateTime(key.last_used_at),
    last_rolled_at: key.last_rolled_at && formatDateTime(key.last_rolled_at),
    expires_at: key.expires_at && formatDateTime(key.expires_at),
  };
}
