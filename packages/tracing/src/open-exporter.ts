import type { Logger } from '@millrace/runtime';
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, BatchSpanProcessor, type SpanExporter, TracerProvider } from '@opentelemetry/sdk-trace';
import type { TraceSpan, TraceSpanStart } from './trace-span.ts';
import { formatTraceparent } from './traceparent.ts';

/** What waits for the collector at most; more is dropped, so that a slow one costs no memory. */
const queue = { maxQueueSize: 2048, maxExportBatchSize: 256, scheduledDelayMillis: 2000, exportTimeoutMillis: 5000 };

const kinds = {
  server: SpanKind.SERVER,
  producer: SpanKind.PRODUCER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

export interface Exporter {
  start(name: string, start: TraceSpanStart): TraceSpan;
  stop(): Promise<void>;
}

/** Sends spans by OTLP in the background, a batch every two seconds, and says once a minute when nobody takes them. */
export function openExporter(service: string, endpoint: string, logger: Logger): Exporter {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const exporter = complaining(new OTLPTraceExporter({ url, timeoutMillis: 4000 }), logger);
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'millrace' }),
    // Whoever starts a span has decided already.
    sampler: new AlwaysOnSampler(),
    spanProcessors: [new BatchSpanProcessor({ exporter, ...queue })],
  });
  const tracer = provider.getTracer('millrace');
  return {
    start(name, { kind, parent, links = [], attributes, startTime }) {
      const context = parent === undefined ? ROOT_CONTEXT : trace.setSpanContext(ROOT_CONTEXT, parent);
      const options = { kind: kinds[kind], links: links.map((link) => ({ context: link })), attributes, startTime };
      const span = tracer.startSpan(name, options, context);
      return {
        context: span.spanContext(),
        traceparent: formatTraceparent(span.spanContext()),
        set: (more) => void span.setAttributes(more),
        end({ failure, endTime } = {}) {
          if (failure !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, message: failure });
          span.end(endTime);
        },
      };
    },
    stop: () => provider.shutdown(),
  };
}

const complaintMs = 60_000;

function complaining(exporter: SpanExporter, logger: Logger): SpanExporter {
  let quietUntilMs = 0;
  return {
    export(spans, onResult) {
      exporter.export(spans, (result) => {
        if (result.code !== 0 && performance.now() >= quietUntilMs) {
          quietUntilMs = performance.now() + complaintMs;
          logger.warn('traces are not taken by the collector', { spans: spans.length, error: result.error });
        }
        onResult(result);
      });
    },
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  };
}
