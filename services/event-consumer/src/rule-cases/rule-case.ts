import type { JsonObject } from '@millrace/contracts';
import type { DropReason, EventRow } from '../model/event.ts';
import type { WarningType } from '../model/warning.ts';
import type { RuleWorld, SentEvent, WorldStart } from './rule-world.ts';

/** A person as it must be after the events. What is left out is not looked at. */
export interface ExpectedPerson {
  /** Exactly these ids. */
  ids: string[];
  /** The distinct id the person's uuid was made from. */
  uuidOf?: string;
  mainId?: string;
  /** Exactly these properties, `$creator_event_uuid` apart. */
  properties?: JsonObject;
  isIdentified?: boolean;
  version?: number;
  createdAt?: string;
}

/** What must become of one event. What is left out is not looked at, but warnings: none are expected then. */
export interface ExpectedOutcome {
  dropped?: DropReason;
  warnings?: WarningType[];
  /** Columns of the row; objects must match wholly. */
  row?: Partial<Omit<EventRow, 'properties'>> & { properties?: JsonObject };
  /** The distinct id the row's person uuid was made from. */
  personOf?: string;
  /** Some of the row's properties; `undefined` means the key is not there. */
  properties?: JsonObject;
  /** Some of the row's person properties. */
  personProperties?: JsonObject;
}

/**
 * One rule as an example. `no` are the numbers of docs/cases.md#ingestion; a case of our own has none.
 */
export interface RuleCase {
  no?: number[];
  is: string;
  start?: WorldStart;
  send: SentEvent[];
  /** All persons there are afterwards. */
  persons?: ExpectedPerson[];
  /** One for each event, or none. */
  outcomes?: ExpectedOutcome[];
  /** What the columns above cannot say. */
  also?: (world: RuleWorld) => void;
}
