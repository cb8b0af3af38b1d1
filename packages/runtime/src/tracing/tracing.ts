/** Tracing of a process: whether there is a collector, which work is traced, and how often. */

import { Type } from 'typebox';
import type { Stoppable } from '../lifecycle.ts';
import type { Logger } from '../logger.ts';
import type { Metrics } from '../metrics.ts';
import { createLostSpans } from './lost-spans.ts';
import type { TraceSpan, TraceSpanStart } from './trace-span.ts';

/** What a process records of its work. */
export interface Tracing extends Stoppable {
  /**
   * Whether this piece of work is traced. Asked for each, so a no costs next to nothing.
   * @param isAsked somebody who is trusted has decided for it already.
   */
  choose(isAsked: boolean): boolean;
  /** Whether callers from outside may decide. */
  trustsParent: boolean;
  start(name: string, start: TraceSpanStart): TraceSpan;
}

/** More would be for nobody to read, and whoever is trusted to ask must not make a process spend its time on it. */
const maxTracesPerSecond = 50;

/**
 * Traces as OpenTelemetry has them, sent to a collector in the background. What a collector does not take is lost, and
 * counted; nothing else is.
 *
 * @returns null when no collector is named: then nobody asks, and its libraries are not even loaded.
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
  const { start, stop } = openExporter(service, endpoint, createLostSpans(deps));
  const mayStart = createStartLimit(maxTracesPerSecond);
  return { trustsParent, choose: (isAsked) => (isAsked || Math.random() < ratio) && mayStart(), start, stop };
}

/** @returns says yes so often in each second, and no after that. */
export function createStartLimit(perSecond: number, now: () => number = () => performance.now()): () => boolean {
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

/** Where traces go. Spread into a service's config schema. */
export const tracingConfigFields = {
  otelExporterOtlpEndpoint: Type.Optional(
    Type.String({
      pattern: '^https?://',
      description:
        'URL of an OpenTelemetry collector (OTLP over HTTP), for example http://collector:4318. If unset, tracing is off',
    }),
  ),
} as const;

/** Which work is traced: for the service at which it begins. */
export const traceChoiceConfigFields = {
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

/** Whether there is a collector to send traces to. */
export const isTraced = ({ otelExporterOtlpEndpoint: endpoint }: TracingConfig) => endpoint !== undefined;
