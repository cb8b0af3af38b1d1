/** A span as others see it, and the header `traceparent` that carries it on. */

import type { SpanContext } from '@opentelemetry/api';

/** Values that identify nobody: no distinct ids, no names of events, no properties, no keys. */
export type TraceAttributes = Record<string, string | number | boolean>;

export interface TraceSpanStart {
  kind: 'server' | 'consumer' | 'internal';
  /** In whose trace it is; without one it begins a trace. */
  parent?: SpanContext | undefined;
  /** Others it has to do with. */
  links?: SpanContext[];
  attributes?: TraceAttributes;
}

export interface TraceSpan {
  context: SpanContext;
  /** The header under which others go on with the trace. */
  traceparent: string;
  set(attributes: TraceAttributes): void;
  /** @param ended why it failed, if it did. */
  end(ended?: { failure?: string }): void;
}

/** How long a step of a span's work took, in milliseconds: where a span of its own would cost more than it tells. */
export function stepAttribute(name: string, startedAt: number): TraceAttributes {
  return { [`millrace.step.${name}.ms`]: Math.round((performance.now() - startedAt) * 1000) / 1000 };
}

/** Version 00 of the W3C recommendation; all zeros mean that there is no trace. */
const traceparent = /^00-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/;
const sampledFlag = 1;

/** Null: it belongs to no trace, or says so in a way that nobody understands. */
export function parseTraceparent(text: string): SpanContext | null {
  const [, traceId, spanId, flags] = traceparent.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? '0', 16) & sampledFlag, isRemote: true };
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & sampledFlag}`;
}

/** Whether somebody before has decided that this trace is recorded. */
export const isSampled = ({ traceFlags }: SpanContext) => (traceFlags & sampledFlag) === sampledFlag;
