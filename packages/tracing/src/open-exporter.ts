import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http';
import { resourceFromAttributes } from '@opentelemetry/resources';
import { AlwaysOnSampler, TracerProvider } from '@opentelemetry/sdk-trace';
import type { ReportLostSpans } from './lost-spans.ts';
import { createSpanQueue } from './span-queue.ts';
import type { TraceSpan, TraceSpanStart } from './trace-span.ts';
import { formatTraceparent } from './traceparent.ts';

const kinds = {
  server: SpanKind.SERVER,
  consumer: SpanKind.CONSUMER,
  internal: SpanKind.INTERNAL,
};

export interface Exporter {
  start(name: string, start: TraceSpanStart): TraceSpan;
  stop(): Promise<void>;
}

/** Sends spans by OTLP in the background, a batch every two seconds. */
export function openExporter(service: string, endpoint: string, reportLost: ReportLostSpans): Exporter {
  const url = `${endpoint.replace(/\/+$/, '')}/v1/traces`;
  const provider = new TracerProvider({
    resource: resourceFromAttributes({ 'service.name': service, 'service.namespace': 'millrace' }),
    // Whoever starts a span has decided already.
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
    // What the collector did not take is counted by then; a service that stops has no more to say about it.
    stop: () => provider.shutdown().catch(() => {}),
  };
}
