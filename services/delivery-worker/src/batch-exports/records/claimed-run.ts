import type { ExportDestinationType, ExportModel } from '@millrace/contracts';

/** A run that was claimed, with where it writes to. */
export interface ClaimedRun {
  id: string;
  /** Counts this attempt; also tells whether the claim still holds. */
  attempts: number;
  /** Whether it covers events by when they were stored, not by their own time. */
  by_stored_time: boolean;
  data_interval_start: Date;
  data_interval_end: Date;
  batch_export_id: string;
  organization_id: string;
  environment_id: number;
  model: ExportModel;
  destination_type: ExportDestinationType;
  /** What may be shown of the settings. */
  destination_config: Record<string, unknown>;
  /** The rest of them, encrypted. */
  destination_secrets: Record<string, unknown>;
}
