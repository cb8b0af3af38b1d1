import type { DeadLetter } from './dead-letter.ts';
import type { RecordOwner } from './record-owner.ts';

/** A record that is to become a dead letter, with what is known about its owner. */
export interface UnprocessableRecord {
  letter: DeadLetter;
  /** From the record, or from its key; null when neither tells. */
  owner: RecordOwner | null;
  eventUuid: string | null;
  /** What is wrong, without any value of the record. */
  message: string | null;
}
