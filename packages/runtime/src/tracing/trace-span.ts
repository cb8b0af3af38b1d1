/** The interface of a span, and the `traceparent` header, which lets another program continue a trace. */

import type { SpanContext } from '@opentelemetry/api';

/** Attribute values, which must not identify a person or contain distinct IDs, event names, properties or keys. */
export type TraceAttributes = Record<string, string | number | boolean>;

export interface TraceSpanStart {
  kind: 'server' | 'consumer' | 'internal';
  /** If absent, the span starts a new trace. */
  parent?: SpanContext | undefined;
  links?: SpanContext[];
  attributes?: TraceAttributes;
}

export interface TraceSpan {
  context: SpanContext;
  traceparent: string;
  set(attributes: TraceAttributes): void;
  end(ended?: { failure?: string }): void;
}

/**
 * Returns the duration of a step in milliseconds as an attribute, for steps that are too frequent for their own span.
 */
export function createStepAttribute(name: string, startedAt: number): TraceAttributes {
  return { [`millrace.step.${name}.ms`]: Math.round((performance.now() - startedAt) * 1000) / 1000 };
}

/** Matches version 00 of the W3C Trace Context recommendation. An ID of all zeros is invalid. */
const traceparent = /^00-((?!0{32})[0-9a-f]{32})-((?!0{16})[0-9a-f]{16})-([0-9a-f]{2})$/;
const sampledFlag = 1;

/** Returns null if the header is missing or invalid. */
export function parseTraceparent(text: string): SpanContext | null {
  const [, traceId, spanId, flags] = traceparent.exec(text) ?? [];
  if (traceId === undefined || spanId === undefined) return null;
  return { traceId, spanId, traceFlags: Number.parseInt(flags ?? '0', 16) & sampledFlag, isRemote: true };
}

export function formatTraceparent({ traceId, spanId, traceFlags }: SpanContext): string {
  return `00-${traceId}-${spanId}-0${traceFlags & sampledFlag}`;
}

export const isSampled = ({ traceFlags }: SpanContext) => (traceFlags & sampledFlag) === sampledFlag;
