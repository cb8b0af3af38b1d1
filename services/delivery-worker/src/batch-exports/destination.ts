// The interface of a batch export's destination, and the runs and rows that it receives.

import type { ExportDestinationType, ExportModel } from '@millrace/contracts';
import type { Columns } from '@millrace/db';
import type { ExportColumn, ExportQuery } from '@millrace/insights';

/** Writes a run to its destination. Nothing takes effect before `commit` resolves. */
export interface DestinationWriter {
  write(rows: readonly ExportedRow[]): Promise<void>;
  commit(): Promise<void>;
  /**
   * Size of the data sent so far, in bytes. For an object this is its stored size, for a table the size of the row
   * values.
   */
  bytes(): number;
  /** Discards uncommitted data and closes everything. Never throws, and must always be called last. */
  close(): Promise<void>;
}

/** A run with its decrypted settings. */
export interface OpenedRun extends ClaimedRun {
  /** Includes secrets, so it must not be logged. */
  settings: Record<string, unknown>;
  /** The columns that the query of the export selects. Null for all fields. */
  columns: readonly ExportColumn[] | null;
}

/** A row of the model, or the values of the columns. */
export type ExportedRow = EventRecord | PersonRecord | readonly unknown[];

export interface DestinationOptions {
  /** True if the destination may be in a private network. */
  mayBePrivate: boolean;
  /** Time limit of a request or statement to the destination, including retries. Default: five minutes. */
  responseTimeoutMs?: number;
}

export const defaultResponseTimeoutMs = 300_000;

/**
 * The destination rejected the data or is unreachable, or the export's configuration is invalid. The message is for the
 * export's owner and contains no secrets.
 */
export class DestinationError extends Error {
  /** True if retrying is useless. */
  readonly isPermanent: boolean;

  constructor(message: string, options: { isPermanent?: boolean; cause: unknown }) {
    super(message, { cause: options.cause });
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** A claimed run with its export's destination. */
export interface ClaimedRun
  extends Columns<'batch_export_run', 'id' | 'data_interval_start' | 'data_interval_end' | 'batch_export_id'> {
  /** Number of this attempt, which also identifies the claim. */
  attempts: number;
  /** True to select events by the time they were stored, false to select them by their own timestamps. */
  by_stored_time: boolean;
  organization_id: string;
  environment_id: number;
  model: ExportModel;
  /** Null to export every event. */
  filters: unknown[] | null;
  /** Null if all fields are exported. */
  query: ExportQuery | null;
  destination_type: ExportDestinationType;
  /** Settings that are not secret. */
  destination_config: Record<string, unknown>;
  /** Encrypted settings. */
  destination_secrets: Record<string, unknown>;
}

/** An event to export, with JSON columns as unparsed text. */
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

/** A distinct ID and its person. */
export interface PersonRecord {
  distinct_id: string;
  person_id: string;
  properties: string;
  is_identified: boolean;
  version: string;
  person_distinct_id_version: string;
  created_at: Date;
}
