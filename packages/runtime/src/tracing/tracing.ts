/** Sets up tracing for a process and decides what to trace. */

import { Type } from 'typebox';
import type { Stoppable } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { createLostSpanReporter } from './lost-spans.ts';
import type { TraceSpan, TraceSpanStart } from './trace-span.ts';

export interface Tracing extends Stoppable {
  /**
   * Decides whether to trace a request or batch. Must be fast, because it is called for each of them.
   * @param isRequested true if a trusted caller has already decided to trace it
   */
  shouldTrace(isRequested: boolean): boolean;
  /** Whether external callers can request tracing. */
  trustsParent: boolean;
  start(name: string, start: TraceSpanStart): TraceSpan;
}

/** The maximum number of traces per second, so that a trusted caller cannot overload the process. */
const maxTracesPerSecond = 50;

/**
 * Creates OpenTelemetry traces and sends them to a collector in the background. Spans that the collector does not
 * accept are counted and discarded.
 * @returns null if no collector is configured. The tracing libraries are not loaded in that case.
 */
export async function createTracing(
  service: string,
  config: TracingConfig,
  deps: { logger: Logger; metrics: Metrics },
): Promise<Tracing | null> {
  const {
    otelExporterOtlpEndpoint: endpoint,
    traceSampleRatio: ratio = 0,
    traceTrustParent: trustsParent = false,
  } = config;
  if (endpoint === undefined) return null;
  const { openExporter } = await import('./open-exporter.ts');
  const { start, stop } = openExporter(service, endpoint, createLostSpanReporter(deps));
  const mayStart = createTraceLimit(maxTracesPerSecond);
  return {
    trustsParent,
    shouldTrace: (isRequested) => (isRequested || Math.random() < ratio) && mayStart(),
    start,
    stop,
  };
}

/**
 * Limits the number of new traces.
 * @returns a function that returns true for the first `perSecond` calls of each second
 */
export function createTraceLimit(perSecond: number, now: () => number = () => performance.now()): () => boolean {
  let second = Number.NEGATIVE_INFINITY;
  let started = 0;
  return () => {
    const current = Math.floor(now() / 1000);
    if (current !== second) {
      second = current;
      started = 0;
    }
    started += 1;
    return started <= perSecond;
  };
}

export const tracingConfigFields = {
  otelExporterOtlpEndpoint: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'URL of an OpenTelemetry collector (OTLP over HTTP), for example http://collector:4318. If unset, tracing is off',
    }),
  ),
} as const;

export const traceSamplingConfigFields = {
  traceSampleRatio: Type.Number({
    minimum: 0,
    maximum: 1,
    default: 0.01,
    description:
      'share of requests to trace. A trace covers the request, the event log and the commit. At most 50 requests per second are traced',
  }),
  traceTrustParent: Type.Boolean({
    default: false,
    description:
      'use the sampled flag in the traceparent header to decide whether to trace a request. Enable this setting only if your own proxy sets the header',
  }),
} as const;

interface TracingConfig {
  readonly otelExporterOtlpEndpoint?: string;
  readonly traceSampleRatio?: number;
  readonly traceTrustParent?: boolean;
}

export const isTracingEnabled = ({ otelExporterOtlpEndpoint: endpoint }: TracingConfig) => endpoint !== undefined;
