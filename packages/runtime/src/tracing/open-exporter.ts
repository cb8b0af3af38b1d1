/**
 * Exports spans to the collector. Import this file only if a collector is configured, because its libraries are large.
 */

import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import {
  AlwaysOnSampler,
  BatchSpanProcessor,
  type SpanExporter,
  type SpanProcessor,
  TracerProvider,
} from '@opentelemetry/sdk-trace';
import type { ReportLostSpans } from './lost-spans.ts';
import { formatTraceparent, type TraceSpan, type TraceSpanStart } from './trace-span.ts';

const kinds = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

export interface Exporter {
  start(name: string, start: TraceSpanStart): TraceSpan;
  stop(): Promise<void>;
}

/** Sends spans over OTLP in the background, in a batch every two seconds. */
export function openExporter(service: string, endpoint: string, reportLost: ReportLostSpans): Exporter {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'millrace' }),
    // The caller has already made the sampling decision.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [createSpanQueue(new OTLPTraceExporter({ url, timeoutMillis: 4000 }), reportLost)],
  });
  const tracer = provider.getTracer('millrace');
  return {
    start(name, { kind, parent, links = [], attributes }) {
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const options = { kind: kinds[kind], links: links.map((link) => ({ context: link })), attributes };
      const span = tracer.startSpan(name, options, context);
      return {
        context: span.spanContext(),
        traceparent: formatTraceparent(span.spanContext()),
        set: (more) => void span.setAttributes(more),
        end({ failure } = {}) {
          if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
          span.end();
        },
      };
    },
    // Ignore the error: the spans are already counted as lost, and cannot be sent again during the shutdown.
    stop: () => provider.shutdown().catch(() => {}),
  };
}

/** Spans beyond `maxQueueSize` are dropped, so that a slow collector cannot exhaust the memory. */
const limits = { maxQueueSize: 2048, maxExportBatchSize: 256, scheduledDelayMillis: 2000, exportTimeoutMillis: 5000 };

/**
 * Queues ended spans and exports them in batches, one at a time. The queue counts its spans, because the library does
 * not report the spans that it drops.
 */
function createSpanQueue(exporter: SpanExporter, reportLost: ReportLostSpans): SpanProcessor {
  let waiting = 0;
  const processor = new BatchSpanProcessor({
    ...limits,
    exporter: {
      export(spans, onResult) {
        waiting -= spans.length;
        exporter.export(spans, (result) => {
          if (result.code !== 0) reportLost('not_taken', spans.length, result.error);
          onResult(result);
        });
      },
      shutdown: () => exporter.shutdown(),
      forceFlush: async () => exporter.forceFlush?.(),
    },
  });
  return {
    onStart: (span, context) => processor.onStart(span, context),
    onEnd(span) {
      if (waiting >= limits.maxQueueSize) return reportLost('queue_full', 1);
      waiting += 1;
      processor.onEnd(span);
    },
    forceFlush: () => processor.forceFlush(),
    shutdown: () => processor.shutdown(),
  };
}
