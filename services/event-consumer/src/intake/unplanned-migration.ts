import type { CapturedEvent } from '@millrace/contracts';
import type { RecordPosition } from './incoming-event.ts';

/**
 * Events of a migration that the plan of their project does not include. The gateway answers such requests with 402; it
 * lets them in, marked, only while it cannot ask anybody (contract/ingestion.md, historical rule 1).
 */
export interface UnplannedMigration {
  first: Pick<CapturedEvent, 'uuid' | 'now'>;
  position: RecordPosition;
  count: number;
}
