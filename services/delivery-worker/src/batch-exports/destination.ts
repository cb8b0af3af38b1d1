// The interface of a batch export destination, and the runs and rows that it receives.

import type { ExportDestinationType, ExportModel } from '@millrace/contracts';
import type { Columns } from '@millrace/db';
import type { ExportColumn, ExportQuery } from '@millrace/insights';

/** Writes a run to its destination, where the rows become visible only when `commit` resolves. */
export interface DestinationWriter {
  write(rows: readonly ExportedRow[]): Promise<void>;
  commit(): Promise<void>;
  /**
   * Returns how many bytes have been sent so far: the size of the stored object for S3, and of the row values for
   * PostgreSQL.
   */
  bytes(): number;
  /** Discards uncommitted rows and closes all connections. Call it at the end of every run. Never throws. */
  close(): Promise<void>;
}

export interface OpenedRun extends ClaimedRun {
  /** The settings include secrets, so they must not be logged. */
  settings: Record<string, unknown>;
  /** The columns that the export's query selects, or null to export all fields. */
  columns: readonly ExportColumn[] | null;
}

export type ExportedRow = EventRecord | PersonRecord | readonly unknown[];

export interface DestinationOptions {
  mayBePrivate: boolean;
  /** The time limit for one request or statement to the destination, including retries. Defaults to five minutes. */
  responseTimeoutMs?: number;
}

export const defaultResponseTimeoutMs = 300_000;

/**
 * Thrown if the export's configuration is invalid, or if the destination rejects the rows or cannot be reached. The
 * export's owner sees the message, which contains no secrets.
 */
export class DestinationError extends Error {
  readonly isPermanent: boolean;

  constructor(message: string, options: { isPermanent?: boolean; cause: unknown }) {
    super(message, { cause: options.cause });
    this.isPermanent = options.isPermanent ?? false;
  }
}

export interface ClaimedRun
  extends Columns<'batch_export_run', 'id' | 'data_interval_start' | 'data_interval_end' | 'batch_export_id'> {
  /** The number of this attempt. It also identifies the claim. */
  attempts: number;
  /** Whether to select events by when they were stored instead of by their own timestamps. */
  by_stored_time: boolean;
  organization_id: string;
  environment_id: number;
  model: ExportModel;
  /** The export's filters. If null, all events are exported. */
  filters: unknown[] | null;
  /** The query that selects the columns. If null, all fields are exported. */
  query: ExportQuery | null;
  destination_type: ExportDestinationType;
  destination_config: Record<string, unknown>;
  destination_secrets: Record<string, unknown>;
}

/** An event to export. JSON columns contain unparsed text. */
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

export interface PersonRecord {
  distinct_id: string;
  person_id: string;
  properties: string;
  is_identified: boolean;
  version: string;
  person_distinct_id_version: string;
  created_at: Date;
}
