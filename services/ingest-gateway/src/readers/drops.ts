import { type CapturedWarning, cutToCodePoints, type GatewayWarningType } from '@millrace/contracts';
import type { Sender } from '../head.ts';

/** Samples kept for each reason. */
export const maxSamples = 10;
const maxNameCodePoints = 200;
const maxTimestampCodePoints = 64;

/** One event that was left out, or stored otherwise than it was sent. Only what a person needs to find it again, never its properties. */
export interface DropSample {
  /** Index in the request, from 0. */
  index: number;
  uuid: string | null;
  event: string | null;
  /** The time as it was sent, when the finding is about it. */
  timestamp?: string | null;
  /** What the request says about when it was sent, when that is what the finding is about. */
  sent_at?: string;
  /** The field that is at fault, null when the whole event is, and what is wrong with it. */
  field?: string | null;
  reason?: string;
  /** What was left of an id that is too long. */
  distinct_id?: string;
  /** How large its record would be, and may be at most. */
  bytes?: number;
  max_bytes?: number;
  /** Names of what is not stored of it, when that is what the finding is about. */
  parts?: readonly string[];
}

/**
 * `performance_event` is left out by design and not worth a warning (docs/wire-rules.md#dropped-events). Of
 * `blocked_token` the project is told once for many requests (limits/traffic-reports.ts).
 */
type DropReason = GatewayWarningType | 'performance_event';

/** What a stored event was changed by. */
export type TimeFinding = 'ignored_invalid_timestamp' | 'event_timestamp_in_future';
type Finding = TimeFinding | 'part_left_out' | 'distinct_id_truncated';

/** The events of one request that are not stored, by reason, and those that are stored changed. */
export interface DropTally {
  add(reason: DropReason, sample: DropSample): void;
  /** Events that were left out together. @param samples of the first of them. */
  addAll(reason: DropReason, count: number, samples: readonly DropSample[]): void;
  /** Remembers a stored event that its project should be told about. It does not count as dropped. */
  note(finding: Finding, sample: DropSample): void;
  /** Dropped events only. */
  counts(): ReadonlyMap<DropReason, number>;
  /** One warning for each reason or finding a person should know of. */
  toWarnings(facts: WarningFacts): CapturedWarning[];
}

interface WarningFacts {
  sender: Sender;
  token: string;
  environmentId: number | null;
  now: string;
  createUuid(): string;
}

const none: ReadonlyMap<DropReason, number> = new Map();

export function createDropTally(): DropTally {
  // Hardly any request drops events, and making the maps costs more than all the rest of a tally.
  let counts: Map<DropReason, number> | undefined;
  let findings: Map<DropReason, number> | undefined;
  let samples: Map<DropReason, DropSample[]> | undefined;

  function keep(tally: Map<DropReason, number>, reason: DropReason, sample: DropSample): void {
    tally.set(reason, (tally.get(reason) ?? 0) + 1);
    keepSample(reason, sample);
  }

  function keepSample(reason: DropReason, sample: DropSample): void {
    samples ??= new Map();
    const kept = samples.get(reason) ?? [];
    samples.set(reason, kept);
    if (kept.length >= maxSamples) return;
    const { event, timestamp, sent_at } = sample;
    kept.push({
      ...sample,
      event: event === null ? null : cutToCodePoints(event, maxNameCodePoints),
      ...(typeof timestamp === 'string' ? { timestamp: cutToCodePoints(timestamp, maxTimestampCodePoints) } : {}),
      ...(sent_at === undefined ? {} : { sent_at: cutToCodePoints(sent_at, maxTimestampCodePoints) }),
    });
  }

  return {
    add(reason, sample) {
      counts ??= new Map();
      keep(counts, reason, sample);
    },
    addAll(reason, count, firstSamples) {
      counts ??= new Map();
      counts.set(reason, (counts.get(reason) ?? 0) + count);
      for (const sample of firstSamples) keepSample(reason, sample);
    },
    note(finding, sample) {
      findings ??= new Map();
      keep(findings, finding, sample);
    },
    counts: () => counts ?? none,
    toWarnings({ sender, token, environmentId, now, createUuid }) {
      const owner = { token, environment_id: environmentId ?? undefined };
      if (counts === undefined && findings === undefined) return [];
      return [...(counts ?? none), ...(findings ?? none)].flatMap(([type, count]): CapturedWarning[] => {
        if (type === 'performance_event' || type === 'blocked_token') return [];
        const details = { ...sender, samples: samples?.get(type) ?? [] };
        return [{ kind: 'warning', uuid: createUuid(), ...owner, type, count, now, details }];
      });
    },
  };
}
