import type { JsonObject } from '@millrace/contracts';
import type { Overlay } from '../values/overlay.ts';
import type { WrittenProperties } from '../values/written-properties.ts';

/** docs/ingestion-rules.md#the-event-row */
export const personMode = { full: 0, propertyless: 1, forceUpgrade: 2 } as const;
export type PersonMode = (typeof personMode)[keyof typeof personMode];

/** One row of the `event` table, as the rules decide it. */
export interface EventRow {
  projectId: number;
  uuid: string;
  event: string;
  distinctId: string;
  timestampMs: number;
  capturedAtMs: number;
  properties: Overlay;
  /** `properties.under` as it was written, where that can be stored. */
  written?: WrittenProperties;
  elementsChain: string;
  /** The person as of ingestion: uuid, creation time (null for a made-up person of a personless event), properties. */
  personUuid: string;
  personCreatedAtMs: number | null;
  personProperties: JsonObject;
  /** About their size as JSON, as far as they are not the event's own. */
  personBytes: number;
  personMode: PersonMode;
  isHistorical: boolean;
}
