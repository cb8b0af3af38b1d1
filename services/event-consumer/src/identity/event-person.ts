import type { JsonObject } from '@millrace/contracts';
import type { PersonMode } from '../model/event-row.ts';

/** The person as the event's row shows it: as of ingestion, after this event. */
export interface EventPerson {
  uuid: string;
  /** Null for a made-up person of an event that has none. */
  createdAtMs: number | null;
  properties: JsonObject;
  /** About the size of the properties as JSON; 0 where they come from the event itself. */
  bytes: number;
  mode: PersonMode;
}
