import { useProject } from '../../../frame/project.ts';
import { matching, part, useAddress } from '../../../parts/address.ts';
import { isTime, zones } from '../../../parts/span.tsx';
import { fromLocal, localOf } from '../../../parts/time.ts';
import type { DestinationType } from './destinations.ts';

/** As the API has them. */
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

export type Interval = 'hour' | 'day' | 'week' | 'every 5 minutes' | 'every 15 minutes';
export const intervals: readonly Interval[] = ['every 5 minutes', 'every 15 minutes', 'hour', 'day', 'week'];
export const models = ['events', 'persons'] as const;

export interface BatchExport {
  id: string;
  name: string;
  model: (typeof models)[number];
  destination: { type: DestinationType; config: Record<string, unknown> };
  interval: Interval;
  paused: boolean;
  created_at: string;
  last_paused_at: string | null;
  start_at: string | null;
  end_at: string | null;
  latest_runs: Run[];
}

/** `open`: the id of the export that is shown, `new`, or nothing. */
const address = {
  open: part.text(),
  edit: part.flag(),
  after: matching(isTime, '-7d'),
  before: matching(isTime),
  zone: part.oneOf(zones, 'project'),
};
export const useExportsAddress = () => useAddress(address);
export type ExportsAddress = ReturnType<typeof useExportsAddress>;

/** Keys of what is kept of the answers: of all, or of one. */
export const exportsKey = (projectId: number, id?: string) =>
  id === undefined ? ['exports', projectId] : ['exports', projectId, id];

/** Path of the API. */
export function useExportsPath() {
  const { id } = useProject();
  return `/api/projects/${id}/batch_exports`;
}

export type ExportState = 'paused' | 'ended' | 'failed' | 'retrying' | 'running' | 'working' | 'new';

/** How it stands, by its last run. */
export function stateOf({ paused, end_at, latest_runs: [last] }: BatchExport, now = Date.now()): ExportState {
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

const minuteMs = 60_000;
const dayMs = 24 * 60 * minuteMs;
const fixedMs: Partial<Record<Interval, number>> = {
  'every 5 minutes': 5 * minuteMs,
  'every 15 minutes': 15 * minuteMs,
  hour: 60 * minuteMs,
};

/** The interval that has ended last, by the clocks of a zone. What its run covers the server says. */
export function lastFinished(interval: Interval, zone: string, now = new Date()): { start: string; end: string } {
  const length = fixedMs[interval];
  if (length !== undefined) {
    const end = Math.floor(now.getTime() / length) * length;
    return { start: new Date(end - length).toISOString(), end: new Date(end).toISOString() };
  }
  const today = Date.parse(`${localOf(now, zone).slice(0, 10)}T00:00:00Z`);
  const weekday = (new Date(today).getUTCDay() + 6) % 7;
  const [first, days] = interval === 'week' ? [today - weekday * dayMs, 7] : [today, 1];
  return { start: midnight(first - days * dayMs, zone), end: midnight(first, zone) };
}

/** The days before today, by the clocks of a zone. */
export function lastDays(count: number, zone: string, now = new Date()): { start: string; end: string } {
  const today = Date.parse(`${localOf(now, zone).slice(0, 10)}T00:00:00Z`);
  return { start: midnight(today - count * dayMs, zone), end: midnight(today, zone) };
}

const midnight = (day: number, zone: string) => fromLocal(new Date(day).toISOString().slice(0, 19), zone);
