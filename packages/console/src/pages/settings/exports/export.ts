// Batch exports and their runs in the API's format, the URL parameters of the settings section, and an export's status.

import { useProject } from '../../../frame/project.ts';
import { matchingText, part, useUrlState } from '../../../parts/address.ts';
import { isValidTime, zones } from '../../../parts/span.tsx';
import { type DestinationType, destinationTypes } from './destinations.ts';
import type { ExportSchedule } from './schedule.ts';

export interface Run {
  id: string;
  backfill: string | null;
  status: 'Starting' | 'Running' | 'Completed' | 'Failed' | 'FailedRetryable' | 'Cancelled';
  records_completed: number | null;
  bytes_exported: number | null;
  latest_error: string | null;
  data_interval_start: string;
  data_interval_end: string;
  created_at: string;
  finished_at: string | null;
}

export interface Backfill {
  id: string;
  start_at: string;
  end_at: string;
  status: 'Running' | 'Completed' | 'Failed' | 'Cancelled';
  progress: { total_runs: number; finished_runs: number };
  created_at: string;
}

export const models = ['events', 'persons'] as const;

export interface BatchExport extends ExportSchedule {
  id: string;
  name: string;
  model: (typeof models)[number];
  destination: { type: DestinationType; config: Record<string, unknown> };
  filters: unknown[] | null;
  paused: boolean;
  created_at: string;
  last_paused_at: string | null;
  start_at: string | null;
  end_at: string | null;
  latest_runs: Run[];
}

/** `open` is the ID of the open export, `new`, or empty if no export is open. */
const address = {
  open: part.text(),
  edit: part.flag(),
  type: part.oneOf(['', ...destinationTypes], ''),
  after: matchingText(isValidTime, '-7d'),
  before: matchingText(isValidTime),
  zone: part.oneOf(zones, 'project'),
};
export const useExportsUrlState = () => useUrlState(address);
export type ExportsUrlState = ReturnType<typeof useExportsUrlState>;

/** Returns the query key of one cached export or, without an ID, of all exports. */
export const exportsKey = (projectId: number, id?: string) =>
  id === undefined ? ['exports', projectId] : ['exports', projectId, id];

export function useExportsPath() {
  const { id } = useProject();
  return `/api/projects/${id}/batch_exports`;
}

export type ExportState = 'paused' | 'ended' | 'failed' | 'retrying' | 'running' | 'working' | 'new';

/** Returns the status of an export, which depends on its latest run. */
export function toExportState({ paused, end_at, latest_runs: [last] }: BatchExport, now = Date.now()): ExportState {
  if (paused) return 'paused';
  switch (last?.status) {
    case 'Failed':
      return 'failed';
    case 'FailedRetryable':
      return 'retrying';
    case 'Running':
    case 'Starting':
      return 'running';
    default:
      if (end_at !== null && Date.parse(end_at) <= now) return 'ended';
      return last === undefined ? 'new' : 'working';
  }
}

export const isOpen = ({ status }: Pick<Run, 'status'>) =>
  status === 'Starting' || status === 'Running' || status === 'FailedRetryable';
