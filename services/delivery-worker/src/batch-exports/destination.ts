// The interface for batch export destinations, and the runs and rows that a destination receives.

import type { ExportDestinationType, ExportModel } from '@millrace/contracts';
import type { Columns } from '@millrace/db';
import type { ExportColumn, ExportQuery } from '@millrace/insights';

/** Writes a run to its destination. Data becomes visible at the destination only when `commit` resolves. */
export interface DestinationWriter {
  write(rows: readonly ExportedRow[]): Promise<void>;
  commit(): Promise<void>;
  /**
   * Returns the size of the data sent so far, in bytes. For S3, this is the size of the stored object. For PostgreSQL,
   * it is the size of the row values.
   */
  bytes(): number;
  /** Discards uncommitted data and closes all connections. Must always be called at the end. Never throws. */
  close(): Promise<void>;
}

export interface OpenedRun extends ClaimedRun {
  /** The destination's settings, which include secrets and must not be logged. */
  settings: Record<string, unknown>;
  /** The columns that the export's query selects, or null to export all fields. */
  columns: readonly ExportColumn[] | null;
}

/** A row of the model, or the values of the selected columns. */
export type ExportedRow = EventRecord | PersonRecord | readonly unknown[];

export interface DestinationOptions {
  mayBePrivate: boolean;
  /** The time limit for one request or statement to the destination, including retries. The default is five minutes. */
  responseTimeoutMs?: number;
}

export const defaultResponseTimeoutMs = 300_000;

/**
 * Thrown if the destination rejected the data or cannot be reached, or if the export's configuration is invalid. The
 * message is for the export's owner and contains no secrets.
 */
export class DestinationError extends Error {
  /** Whether another attempt would also fail. */
  readonly isPermanent: boolean;

  constructor(message: string, options: { isPermanent?: boolean; cause: unknown }) {
    super(message, { cause: options.cause });
    this.isPermanent = options.isPermanent ?? false;
  }
}

/** A claimed run, with its export's destination. */
export interface ClaimedRun
  extends Columns<'batch_export_run', 'id' | 'data_interval_start' | 'data_interval_end' | 'batch_export_id'> {
  /** The number of this attempt, which also identifies the claim. */
  attempts: number;
  /** Whether to select events by the time at which they were stored instead of their own timestamps. */
  by_stored_time: boolean;
  organization_id: string;
  environment_id: number;
  model: ExportModel;
  /** The export's filters, or null to export all events. */
  filters: unknown[] | null;
  /** The query that selects the columns, or null to export all fields. */
  query: ExportQuery | null;
  destination_type: ExportDestinationType;
  destination_config: Record<string, unknown>;
  /** The encrypted settings. */
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
