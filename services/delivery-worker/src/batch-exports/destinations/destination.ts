import type { ClaimedRun } from '../records/claimed-run.ts';
import type { EventRecord, PersonRecord } from '../records/export-records.ts';

/** One run's writing. What is written counts when `commit` has resolved, and not at all before. */
export interface DestinationWriter {
  writeEvents(rows: EventRecord[]): Promise<void>;
  writePersons(rows: PersonRecord[]): Promise<void>;
  commit(): Promise<void>;
  /** Drops what was not committed and closes everything. Never throws; always called last. */
  close(): Promise<void>;
}

/** A run with all that its destination needs to know. */
export interface OpenedRun extends ClaimedRun {
  /** Secrets among them: not to be logged. */
  settings: Record<string, unknown>;
}

export interface DestinationOptions {
  /** Whether it may lie in a private network. */
  mayBePrivate: boolean;
  /** How long an object storage may take for one answer; minutes unless told. */
  answerTimeoutMs?: number;
}

/** The destination refused or could not be reached. The sentence is for the export's owner and holds no secrets. */
export class DestinationError extends Error {
  /** The next attempt would end in the same way. */
  readonly isPermanent: boolean;

  constructor(message: string, options: { isPermanent?: boolean; cause: unknown }) {
    super(message, { cause: options.cause });
    this.isPermanent = options.isPermanent ?? false;
  }
}
