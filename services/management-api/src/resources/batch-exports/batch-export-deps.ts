import type { Database } from '@millrace/db';
import type { DestinationSecrets } from './destination-secrets.ts';

/** What the routes of batch exports need. */
export interface BatchExportDeps extends Pick<Database, 'sql' | 'transaction'> {
  destinationSecrets: DestinationSecrets;
}
