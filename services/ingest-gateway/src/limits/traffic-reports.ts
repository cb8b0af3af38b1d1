import {
  type CapturedWarning,
  encodeCapturedRecord,
  type GatewayWarningType,
  type JsonObject,
} from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import { LRUCache } from 'lru-cache';
import { v7 as createUuid, v5 as uuidV5 } from 'uuid';

/** Something a project should be told about its traffic. */
export interface TrafficReport {
  token: string;
  environmentId: number | null;
  type: GatewayWarningType;
  /** Events concerned. */
  count: number;
  /** What else tells reports apart, beside token and type: a distinct id, a month. */
  subject: string;
  details: JsonObject;
  /**
   * What the id of the warning is derived from, so that the same finding of several gateways is stored once. Null: each
   * period has a warning of its own, with its own count.
   */
  identity: string | null;
}

export interface TrafficReports {
  add(report: TrafficReport): void;
  /** Sends what is gathered, if the log takes it. */
  stop(): Promise<void>;
}

export interface TrafficReportsOptions {
  log: Pick<EventLog, 'append'>;
  /** The live lane's; warnings need no order. */
  topic: string;
  now(): number;
  /** How long the first report of a subject is gathered. */
  firstAfterMs: number;
  /** How long further ones of the same subject are. */
  furtherAfterMs: number;
  onLost(warnings: number): void;
}

interface Gathered {
  report: TrafficReport;
  /** Stays the same over attempts, so that a warning whose acknowledgement was lost is stored once. */
  uuid: string;
  count: number;
  dueAtMs: number;
}

/** Namespace of warning ids that gateways derive. Never change it. */
const namespace = '0c4c2a1f-6b64-4a0e-9a43-5f6a3f1f7f0e';
const maxGathered = 10_000;
const maxPerAppend = 500;

/** Gathers reports and writes them as warnings: many dropped requests must not become many records in the log. */
export function createTrafficReports(options: TrafficReportsOptions): TrafficReports {
  const { log, topic, now, firstAfterMs, furtherAfterMs, onLost } = options;
  const gathered = new Map<string, Gathered>();
  /** When the last report of a subject was sent. Forgotten as soon as it makes no difference. */
  const sentAtMs = new Map<string, number>();
  /** Subjects with an id of their own that were reported. To report them again would make the same warning. */
  const told = new LRUCache<string, true>({ max: maxGathered });
  let timer: NodeJS.Timeout | undefined;
  let underWay: Promise<void> = Promise.resolve();

  function schedule(): void {
    timer ??= setTimeout(() => {
      underWay = send(false).finally(() => {
        timer = undefined;
        if (gathered.size > 0) schedule();
      });
    }, firstAfterMs).unref();
  }

  async function send(isLast: boolean): Promise<void> {
    const nowMs = performance.now();
    for (const [name, atMs] of sentAtMs) if (atMs + furtherAfterMs <= nowMs) sentAtMs.delete(name);
    const due = [...gathered].filter(([, { dueAtMs }]) => isLast || dueAtMs <= nowMs).slice(0, maxPerAppend);
    if (due.length === 0) return;
    for (const [name] of due) {
      gathered.delete(name);
      sentAtMs.set(name, nowMs);
    }
    try {
      await log.append(due.map(([, each]) => ({ topic, key: null, value: toRecord(each, now()) })));
      for (const [name, { report }] of due) if (report.identity !== null) told.set(name, true);
    } catch {
      // The log is away: the next attempt sends them too.
      for (const [name, each] of due) {
        sentAtMs.delete(name);
        const newer = gathered.get(name);
        if (newer === undefined) gathered.set(name, each);
        else newer.count += each.count;
      }
    }
  }

  function add(report: TrafficReport): void {
    const name = `${report.token}\n${report.type}\n${report.subject}`;
    if (told.has(name)) return;
    const known = gathered.get(name);
    if (known !== undefined) {
      known.count += report.count;
      return;
    }
    if (gathered.size >= maxGathered) {
      onLost(1);
      return;
    }
    const nowMs = performance.now();
    const dueAtMs = Math.max(nowMs + firstAfterMs, (sentAtMs.get(name) ?? Number.NEGATIVE_INFINITY) + furtherAfterMs);
    gathered.set(name, { report, uuid: uuidOf(report), count: report.count, dueAtMs });
    schedule();
  }

  return {
    add,
    async stop() {
      clearTimeout(timer);
      await underWay;
      clearTimeout(timer);
      for (let left = gathered.size; left > 0; left = gathered.size) {
        await send(true);
        if (gathered.size >= left) break;
      }
      clearTimeout(timer);
      if (gathered.size > 0) onLost(gathered.size);
    },
  };
}

function uuidOf({ token, type, identity }: TrafficReport): string {
  return identity === null ? createUuid() : uuidV5(`${token}:${type}:${identity}`, namespace);
}

function toRecord({ report, uuid, count }: Gathered, nowMs: number): Buffer {
  const { token, type, details } = report;
  const environment_id = report.environmentId ?? undefined;
  const now = new Date(nowMs).toISOString();
  const warning: CapturedWarning = { kind: 'warning', uuid, token, environment_id, type, count, now, details };
  return encodeCapturedRecord(warning);
}
