// Counts a request's events that are dropped or changed, and creates warnings about them.

import { type CapturedWarning, cutToCodePoints, type GatewayWarningType } from '@millrace/contracts';
import type { Sender } from '../request-head.ts';

export const maxSamples = 10;
const maxNameCodePoints = 200;
const maxTimestampCodePoints = 64;

/** Identifies an event that was dropped or changed. Never contains its properties. */
export interface DropSample {
  index: number;
  uuid: string | null;
  event: string | null;
  /** The timestamp as the client sent it. Present if the warning is about the timestamp. */
  timestamp?: string | null;
  /** The request's `sent_at`. Present if the warning is about it. */
  sent_at?: string;
  /** The invalid field, or null if the event as a whole is invalid. */
  field?: string | null;
  reason?: string;
  distinct_id?: string;
  bytes?: number;
  max_bytes?: number;
  parts?: readonly string[];
}

/**
 * Why an event is dropped. `performance_event` is dropped intentionally, without a warning
 * (docs/wire-rules.md#dropped-events). For `blocked_token`, the project gets one warning for many requests
 * (limits/traffic-reports.ts).
 */
type DropReason = GatewayWarningType | 'performance_event';

/** Why the stored time of an event differs from the timestamp that the client sent. */
export type TimeFinding = 'ignored_invalid_timestamp' | 'event_timestamp_in_future';
type Finding = TimeFinding | 'part_left_out' | 'distinct_id_truncated';

/** Counts dropped events by reason, and events that were changed before they were stored. */
export interface DropTally {
  add(reason: DropReason, sample: DropSample): void;
  /** @param samples the first of the dropped events */
  addAll(reason: DropReason, count: number, samples: readonly DropSample[]): void;
  /** Adds a stored event that causes a warning. It does not count as dropped. */
  note(finding: Finding, sample: DropSample): void;
  counts(): ReadonlyMap<DropReason, number>;
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
  // Create the maps only when needed: few requests drop events, and the maps cost more than everything else here.
  let counts: Map<DropReason, number> | undefined;
  let findings: Map<DropReason, number> | undefined;
  let samples: Map<DropReason, DropSample[]> | undefined;

  function keep(tally: Map<DropReason, number>, reason: DropReason, sample: DropSample): void {
    tally.set(reason, (tally.get(reason) ?? 0) + 1);
    keepSample(reason, sample);
  }

  function keepSample(reason: DropReason, sample: DropSample): void {
    samples ??= new Map();
    const stored = samples.get(reason) ?? [];
    samples.set(reason, stored);
    if (stored.length >= maxSamples) return;
    const { event, timestamp, sent_at } = sample;
    stored.push({
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
