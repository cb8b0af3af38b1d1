import type { ExportDestinationType, ExportModel } from '@millrace/contracts';
import type { Columns } from '@millrace/db';

/** One run's writing. What is written counts when `commit` has resolved, and not at all before. */
export interface DestinationWriter {
  writeEvents(rows: EventRecord[]): Promise<void>;
  writePersons(rows: PersonRecord[]): Promise<void>;
  commit(): Promise<void>;
  /** What was sent so far: of an object as it is stored, of rows their values. */
  bytes(): number;
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
  /** How long a destination may take for one request or statement, with its repetitions; by default five minutes. */
  answerTimeoutMs?: number;
}

export const usualAnswerTimeoutMs = 300_000;

/**
 * The destination refused or could not be reached, or the export cannot run as it is configured. The sentence is for the export's owner and
 * holds no secrets.
 */
export class DestinationError extends Error {
  /** The next attempt would end in the same way. */
  readonly isPermanent: boolean;

  constructor(message: string, options: { isPermanent?: boolean; cause: unknown }) {
    super(message, { cause: options.cause });
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** A run that was claimed, with where it writes to. */
export interface ClaimedRun
  extends Columns<'batch_export_run', 'id' | 'data_interval_start' | 'data_interval_end' | 'batch_export_id'> {
  /** Counts this attempt; also tells whether the claim still holds. */
  attempts: number;
  /** Whether it covers events by when they were stored, not by their own time. */
  by_stored_time: boolean;
  organization_id: string;
  environment_id: number;
  model: ExportModel;
  /** Null: every event is exported. */
  filters: unknown[] | null;
  destination_type: ExportDestinationType;
  /** What may be shown of the settings. */
  destination_config: Record<string, unknown>;
  /** The rest of them, encrypted. */
  destination_secrets: Record<string, unknown>;
}

/** One event to be exported; JSON columns as text, which nobody here looks into. */
export interface EventRecord {
  uuid: string;
  event: string;
  distinct_id: string;
  person_id: string;
  properties: string;
  person_properties: string;
  elements_chain: string;
  timestamp: Date;
  created_at: Date;
}

/** One distinct id with its person. */
export interface PersonRecord {
  distinct_id: string;
  person_id: string;
  properties: string;
  is_identified: boolean;
  version: string;
  person_distinct_id_version: string;
  created_at: Date;
}
