import type { SpanContext } from '@opentelemetry/api';

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
