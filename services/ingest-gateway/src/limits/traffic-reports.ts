import {
  type CapturedWarning,
  encodeCapturedRecord,
  type GatewayWarningType,
  type JsonObject,
} from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import { LRUCache } from 'lru-cache';
import { v7 as createUuid, v5 as uuidV5 } from 'uuid';
import type { TrafficSpike } from './spikes.ts';
import type { TrafficMetrics } from './traffic-metrics.ts';

interface Environment {
  token: string;
  /** The environment of the API key, or null if the key could not be looked up. */
  environmentId: number | null;
}

/** Warns projects about problems with their traffic. */
export interface TrafficReports {
  /**
   * Reports a spike or a hot key.
   * @param found.distinctId the hot key, or null if the spike is in the traffic of the whole project
   */
  spike(environment: Environment, found: { distinctId: string | null; spike: TrafficSpike }): void;
  /** Reports that a month's quota is used up. @param found.period the month, such as `2026-11` */
  quotaUsedUp(environment: Environment, found: { events: number; period: string; eventsPerMonth: number | null }): void;
  rateLimited(environment: Environment, found: { events: number; eventsPerSecond: number | null }): void;
  blocked(environment: Environment, events: number): void;
  /** Sends the pending warnings if the event log is available. */
  stop(): Promise<void>;
}

interface TrafficReport extends Environment {
  type: GatewayWarningType;
  count: number;
  /** Distinguishes reports with the same token and type, for example by a distinct ID or a month. */
  subject: string;
  details: JsonObject;
  /**
   * The string from which the warning's ID is derived, so that a problem that several gateways report is stored once.
   * If null, each period has a separate warning with its own count.
   */
  identity: string | null;
}

export interface TrafficReportsOptions {
  log: Pick<EventLog, 'append'>;
  /** The live topic, because the order of warnings is not significant. */
  topic: string;
  now(): number;
  /** How long reports about a subject are collected before the first warning, in milliseconds. */
  firstAfterMs: number;
  /** How long reports about a subject are collected before each further warning, in milliseconds. */
  furtherAfterMs: number;
  metrics: Pick<TrafficMetrics, 'spike' | 'reportsLost'>;
}

interface PendingWarning {
  report: TrafficReport;
  /** The warning's ID, the same for all attempts, so that it is stored once even if an acknowledgement was lost. */
  uuid: string;
  count: number;
  dueAtMs: number;
}

/** The UUID namespace of derived warning IDs. Never change it. */
const namespace = '0c4c2a1f-6b64-4a0e-9a43-5f6a3f1f7f0e';
const maxPending = 10_000;
const maxPerAppend = 500;

/** Combines reports into warnings, so that many rejected requests do not cause many log records. */
export function createTrafficReports(options: TrafficReportsOptions): TrafficReports {
  const { log, topic, now, firstAfterMs, furtherAfterMs, metrics } = options;
  const pending = new Map<string, PendingWarning>();
  /** When the last warning about each subject was sent. Entries are deleted after `furtherAfterMs`. */
  const sentAtMs = new Map<string, number>();
  /** Subjects with a derived warning ID that were already reported. Another report would result in the same warning. */
  const reported = new LRUCache<string, true>({ max: maxPending });
  let timer: NodeJS.Timeout | undefined;
  let sending: Promise<void> = Promise.resolve();

  function schedule(): void {
    timer ??= setTimeout(() => {
      sending = send(false).finally(() => {
        timer = undefined;
        if (pending.size > 0) schedule();
      });
    }, firstAfterMs).unref();
  }

  async function send(isLast: boolean): Promise<void> {
    const nowMs = performance.now();
    for (const [name, atMs] of sentAtMs) if (atMs + furtherAfterMs <= nowMs) sentAtMs.delete(name);
    const due = [...pending].filter(([, { dueAtMs }]) => isLast || dueAtMs <= nowMs).slice(0, maxPerAppend);
    if (due.length === 0) return;
    for (const [name] of due) {
      pending.delete(name);
      sentAtMs.set(name, nowMs);
    }
    try {
      await log.append(due.map(([, each]) => ({ topic, key: null, value: toRecord(each, now()) })));
      for (const [name, { report }] of due) if (report.identity !== null) reported.set(name, true);
    } catch {
      // The event log is unavailable. Include the warnings in the next attempt.
      for (const [name, each] of due) {
        sentAtMs.delete(name);
        const newer = pending.get(name);
        if (newer === undefined) pending.set(name, each);
        else newer.count += each.count;
      }
    }
  }

  function add(report: TrafficReport): void {
    const name = `${report.token}\n${report.type}\n${report.subject}`;
    if (reported.has(name)) return;
    const known = pending.get(name);
    if (known !== undefined) {
      known.count += report.count;
      return;
    }
    if (pending.size >= maxPending) {
      metrics.reportsLost(1);
      return;
    }
    const nowMs = performance.now();
    const dueAtMs = Math.max(nowMs + firstAfterMs, (sentAtMs.get(name) ?? Number.NEGATIVE_INFINITY) + furtherAfterMs);
    pending.set(name, { report, uuid: uuidOf(report), count: report.count, dueAtMs });
    schedule();
  }

  return {
    spike({ token, environmentId }, { distinctId, spike: { window, ...numbers } }) {
      const scope = distinctId === null ? 'project' : 'distinct_id';
      metrics.spike(scope);
      add({
        token,
        environmentId,
        type: 'traffic_spike',
        count: numbers.events,
        subject: `${distinctId ?? ''}:${window}`,
        details: { scope, ...(distinctId === null ? {} : { distinctId, reroutedToOverflow: true }), ...numbers },
        identity: `${scope}:${distinctId ?? ''}:${window}`,
      });
    },
    quotaUsedUp({ token, environmentId }, { events: count, period, eventsPerMonth }) {
      const details = { period, eventsPerMonth };
      add({ token, environmentId, type: 'quota_limited', count, subject: period, details, identity: period });
    },
    rateLimited({ token, environmentId }, { events: count, eventsPerSecond }) {
      const details = { eventsPerSecond };
      add({ token, environmentId, type: 'rate_limited', count, subject: '', details, identity: null });
    },
    blocked({ token, environmentId }, count) {
      add({ token, environmentId, type: 'blocked_token', count, subject: '', details: {}, identity: null });
    },
    async stop() {
      clearTimeout(timer);
      await sending;
      clearTimeout(timer);
      for (let left = pending.size; left > 0; left = pending.size) {
        await send(true);
        if (pending.size >= left) break;
      }
      clearTimeout(timer);
      if (pending.size > 0) metrics.reportsLost(pending.size);
    },
  };
}

function uuidOf({ token, type, identity }: TrafficReport): string {
  return identity === null ? createUuid() : uuidV5(`${token}:${type}:${identity}`, namespace);
}

function toRecord({ report, uuid, count }: PendingWarning, nowMs: number): Buffer {
  const { token, type, details } = report;
  const environment_id = report.environmentId ?? undefined;
  const now = new Date(nowMs).toISOString();
  const warning: CapturedWarning = { kind: 'warning', uuid, token, environment_id, type, count, now, details };
  return encodeCapturedRecord(warning);
}
