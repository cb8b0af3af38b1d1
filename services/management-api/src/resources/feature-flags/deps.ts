import type { Database } from '@millrace/db';
import type { Searches } from '../../access/searches.ts';
import type { PayloadSecrets } from './payloads.ts';

/** What the routes of feature flags need. */
export interface FlagDeps extends Pick<Database, 'sql' | 'transaction'> {
  searches: Searches;
  payloadSecrets: PayloadSecrets;
}
