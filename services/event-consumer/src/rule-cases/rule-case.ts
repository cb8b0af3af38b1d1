import type { JsonObject } from '@millrace/contracts';
import type { DropReason, EventRow } from '../model/event.ts';
import type { WarningType } from '../model/warning.ts';
import type { InitialState, RuleWorld, SentEvent } from './rule-world.ts';

/** Formats a case number like in docs/cases.md#ingestion. */
export const caseNumber = (no: number) => `ingest-${String(no).padStart(3, '0')}`;

/** The expected state of a person after the events. Missing fields are not checked. */
export interface ExpectedPerson {
  /** The distinct IDs of the person. The person must have no other IDs. */
  ids: string[];
  /** The distinct ID from which the person's uuid was derived. */
  uuidOf?: string;
  mainId?: string;
  /** The properties of the person. It must have no other properties, except for `$creator_event_uuid`. */
  properties?: JsonObject;
  isIdentified?: boolean;
  version?: number;
  createdAt?: string;
}

/**
 * The expected outcome of one event. Missing fields are not checked, except that no warnings are expected by default.
 */
export interface ExpectedOutcome {
  dropped?: DropReason;
  warnings?: WarningType[];
  /** The columns of the row. Objects must match completely. */
  row?: Partial<Omit<EventRow, 'properties'>> & { properties?: JsonObject };
  /** The distinct ID from which the uuid of the person in the row was derived. */
  personOf?: string;
  /** Some of the properties in the row. `undefined` means that the key must not exist. */
  properties?: JsonObject;
  /** Some of the person properties in the row. */
  personProperties?: JsonObject;
}

/**
 * An example of one rule. `no` lists the numbers in docs/cases.md#ingestion that it covers. Cases without a number
 * exist only in Millrace.
 */
export interface RuleCase {
  no?: number[];
  is: string;
  start?: InitialState;
  send: SentEvent[];
  /** All persons that must exist afterwards. */
  persons?: ExpectedPerson[];
  /** The outcome of each event, if given. */
  outcomes?: ExpectedOutcome[];
  /** Further checks. */
  also?: (world: RuleWorld) => void;
}
