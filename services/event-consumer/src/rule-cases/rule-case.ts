import type { JsonObject } from '@millrace/contracts';
import type { DropReason, EventRow } from '../model/event.ts';
import type { WarningType } from '../model/warning.ts';
import type { RuleWorld, SentEvent, WorldStart } from './rule-world.ts';

/** Formats a case number as in docs/cases.md#ingestion. */
export const caseNumber = (no: number) => `ingest-${String(no).padStart(3, '0')}`;

/** Expected state of a person after the events. Missing fields are not checked. */
export interface ExpectedPerson {
  /** The person must have exactly these IDs. */
  ids: string[];
  /** Distinct ID from which the person's uuid was derived. */
  uuidOf?: string;
  mainId?: string;
  /** The person must have exactly these properties, except for `$creator_event_uuid`. */
  properties?: JsonObject;
  isIdentified?: boolean;
  version?: number;
  createdAt?: string;
}

/** Expected outcome of one event. Missing fields are not checked, except that no warnings are expected by default. */
export interface ExpectedOutcome {
  dropped?: DropReason;
  warnings?: WarningType[];
  /** Expected columns of the row. Objects must match completely. */
  row?: Partial<Omit<EventRow, 'properties'>> & { properties?: JsonObject };
  /** Distinct ID from which the row's person uuid was derived. */
  personOf?: string;
  /** Some of the row's properties. `undefined` means that the key must not exist. */
  properties?: JsonObject;
  /** Some of the row's person properties. */
  personProperties?: JsonObject;
}

/**
 * One rule as an example. `no` lists the numbers of docs/cases.md#ingestion that it covers. Cases without a number are
 * our own.
 */
export interface RuleCase {
  no?: number[];
  is: string;
  start?: WorldStart;
  send: SentEvent[];
  /** All persons that must exist afterwards. */
  persons?: ExpectedPerson[];
  /** One outcome per event, if given. */
  outcomes?: ExpectedOutcome[];
  /** Further checks. */
  also?: (world: RuleWorld) => void;
}
