import type { Logger, Metrics, Stoppable } from '@millrace/runtime';
import { createLostSpans } from './lost-spans.ts';
import { createStartLimit } from './start-limit.ts';
import type { TraceSpan, TraceSpanStart } from './trace-span.ts';
import type { TracingConfig } from './tracing-config.ts';

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
