import type { JsonObject } from '@millrace/contracts';
import type { DropReason, EventRow } from '../model/event.ts';
import type { WarningType } from '../model/warning.ts';
import type { InitialState, RuleWorld, SentEvent } from './rule-world.ts';

export const caseNumber = (no: number) => `ingest-${String(no).padStart(3, '0')}`;

/** A person's expected state after the events. Missing fields are not checked. */
export interface ExpectedPerson {
  ids: string[];
  /** The distinct ID from which the person's UUID was derived. */
  uuidOf?: string;
  mainId?: string;
  /** All of the person's properties, except for `$creator_event_uuid`. */
  properties?: JsonObject;
  isIdentified?: boolean;
  version?: number;
  createdAt?: string;
}

/** The expected outcome of one event. Missing fields are not checked, except that a missing `warnings` means none. */
export interface ExpectedOutcome {
  dropped?: DropReason;
  warnings?: WarningType[];
  row?: Partial<Omit<EventRow, 'properties'>> & { properties?: JsonObject };
  /** The distinct ID from which the UUID of the row's person was derived. */
  personOf?: string;
  /** Some of the row's properties. `undefined` means that the key must not exist. */
  properties?: JsonObject;
  personProperties?: JsonObject;
}

/**
 * An example of one rule. `no` lists the numbers of the cases in docs/cases.md#ingestion that it covers. An example
 * without a number is about behavior that only Millrace has.
 */
export interface RuleCase {
  no?: number[];
  is: string;
  start?: InitialState;
  send: SentEvent[];
  persons?: ExpectedPerson[];
  outcomes?: ExpectedOutcome[];
  also?: (world: RuleWorld) => void;
}
