import type { Database } from '@millrace/db';
import type { PayloadSecrets } from './payload-secrets.ts';

/** What the routes of feature flags need. */
export interface FlagDeps extends Pick<Database, 'sql' | 'transaction'> {
  payloadSecrets: PayloadSecrets;
}
