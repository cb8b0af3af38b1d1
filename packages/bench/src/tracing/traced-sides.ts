import type { OtlpSink } from './otlp-sink.ts';

/** The same build without traces and with them. */
const tracedSides = ['untraced', 'traced'] as const;
export type TracedSide = (typeof tracedSides)[number];

/** Part of the requests that are traced: the default. */
export const tracedPart = 0.01;

/** Longer than spans wait until they are exported, which is part of what they cost. */
export const settleMs = 3000;

export function tracingSettings(side: TracedSide, sink: OtlpSink): Record<string, string> {
  if (side === 'untraced') return {};
  return { OTEL_EXPORTER_OTLP_ENDPOINT: sink.url, TRACE_SAMPLE_RATIO: String(tracedPart) };
}

/** One side first in one pair, the other in the next: a machine that grows slower is nobody's fault. */
export function inTurn(pair: number): readonly TracedSide[] {
  return pair % 2 === 1 ? tracedSides : [...tracedSides].reverse();
}
