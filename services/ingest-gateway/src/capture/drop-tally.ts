import type { CapturedWarning, GatewayWarningType } from '@millrace/contracts';
import { cutToCodePoints } from './cut-text.ts';

const maxSamples = 10;
const maxNameCodePoints = 200;

/** One event that was left out. Only what a person needs to find it again, never its properties. */
export interface DropSample {
  /** Place in the request, from 0. */
  index: number;
  uuid: string | null;
  event: string | null;
}

/**
 * `performance_event` is left out by design and not worth a warning (reference/ingest-wire.md section 8.2). Of
 * `blocked_token` the project is told once for many requests (limits/traffic-reports.ts).
 */
export type DropReason = GatewayWarningType | 'performance_event';

/** The events of one request that are not stored, by reason. */
export interface DropTally {
  add(reason: DropReason, sample: DropSample): void;
  counts(): ReadonlyMap<DropReason, number>;
  /** One warning for each reason a person should know of. */
  toWarnings(facts: { token: string; now: string; createUuid: () => string }): CapturedWarning[];
}

export function createDropTally(): DropTally {
  const counts = new Map<DropReason, number>();
  const samples = new Map<DropReason, DropSample[]>();
  return {
    add(reason, sample) {
      counts.set(reason, (counts.get(reason) ?? 0) + 1);
      const kept = samples.get(reason) ?? [];
      samples.set(reason, kept);
      if (kept.length < maxSamples) {
        kept.push({
          ...sample,
          event: sample.event === null ? null : cutToCodePoints(sample.event, maxNameCodePoints),
        });
      }
    },
    counts: () => counts,
    toWarnings({ token, now, createUuid }) {
      return [...counts].flatMap(([type, count]): CapturedWarning[] => {
        if (type === 'performance_event' || type === 'blocked_token') return [];
        const details = { samples: samples.get(type) ?? [] };
        return [{ kind: 'warning', uuid: createUuid(), token, type, count, now, details }];
      });
    },
  };
}
