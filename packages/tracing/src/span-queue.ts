import { BatchSpanProcessor, type SpanExporter, type SpanProcessor } from '@opentelemetry/sdk-trace';
import type { ReportLostSpans } from './lost-spans.ts';

/** What waits for the collector at most; more is dropped, so that a slow one costs no memory. */
const limits = { maxQueueSize: 2048, maxExportBatchSize: 256, scheduledDelayMillis: 2000, exportTimeoutMillis: 5000 };

/** Keeps ended spans and exports them in batches, one after the other. Counts those that wait, since its library drops in silence. */
export function createSpanQueue(exporter: SpanExporter, reportLost: ReportLostSpans): SpanProcessor {
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
