import {
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type LabelValues,
  Registry,
  type RegistryContentType,
} from 'prom-client';

/** The prefix distinguishes our metrics from `process_…`, `nodejs_…` and the metrics of other programs. */
export type MetricName = `millrace_${string}`;

/** A service's metrics. Label values must come from a limited set. */
export interface Metrics {
  registry: Registry<RegistryContentType>;
  /** Whether histograms store the trace ID of one observation per bucket. */
  hasExemplars: boolean;
  counter<L extends string = never>(name: MetricName, help: string, labels?: readonly L[]): Counter<L>;
  gauge<L extends string = never>(name: MetricName, help: string, labels?: readonly L[]): Gauge<L>;
  histogram<L extends string = never>(
    name: MetricName,
    help: string,
    buckets: number[],
    labels?: readonly L[],
    options?: { withExemplars?: boolean },
  ): Histogram<L>;
}

interface MetricsOptions {
  /** Whether to include metrics about memory, CPU and the event loop, once per process. Tests disable them. */
  withProcessMetrics?: boolean;
  /** Whether to serve the OpenMetrics format, the only format that supports exemplars. */
  hasExemplars?: boolean;
  /** A label for all metrics, because several services in one process can use the same metric names. */
  service?: string;
}

export function createMetrics(options: MetricsOptions = {}): Metrics {
  const { withProcessMetrics = true, hasExemplars = false, service } = options;
  const registry: Registry<RegistryContentType> = new Registry();
  if (service !== undefined) registry.setDefaultLabels({ service });
  if (hasExemplars) registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  if (withProcessMetrics) collectDefaultMetrics({ register: registry });
  return {
    registry,
    hasExemplars,
    counter: (name, help, labels = []) => new Counter({ name, help, labelNames: labels, registers: [registry] }),
    gauge: (name, help, labels = []) => new Gauge({ name, help, labelNames: labels, registers: [registry] }),
    histogram: (name, help, buckets, labels = [], { withExemplars = false } = {}) =>
      new Histogram({
        name,
        help,
        buckets,
        labelNames: labels,
        registers: [registry],
        enableExemplars: hasExemplars && withExemplars,
      }),
  };
}

/** Observes a value, with its trace ID as an exemplar unless `traceId` is null. */
export type Observer<L extends string> = (value: number, labels: Record<L, string>, traceId: string | null) => void;

/** Creates a function that observes values. @param histogram a histogram that was created with `withExemplars` */
export function createObserver<L extends string>(metrics: Metrics, histogram: Histogram<L>): Observer<L> {
  if (!metrics.hasExemplars) return (value, labels) => histogram.observe(labels as LabelValues<L>, value);
  return (value, labels, traceId) =>
    histogram.observe({
      labels: labels as LabelValues<L>,
      value,
      exemplarLabels: (traceId === null ? {} : { trace_id: traceId }) as LabelValues<L>,
    });
}

/** Combines several registries. Each metric name occurs once, with the series of all registries. */
export async function joinMetrics(parts: readonly Metrics[]): Promise<string> {
  const texts = await Promise.all(parts.map(({ registry }) => registry.metrics()));
  const families = new Map<string, { head: string; series: string[] }>();
  for (const family of texts.flatMap((text) => text.split(/^(?=# HELP )/m))) {
    const [, head = '', name = '', series = ''] = /^(# HELP (\S+).*\n# TYPE .*\n)([\s\S]*)$/.exec(family) ?? [];
    const found = families.get(name) ?? { head, series: [] };
    found.series.push(...series.split('\n').filter((line) => line !== '' && line !== endOfText));
    families.set(name, found);
  }
  const joined = [...families.values()].map(
    ({ head, series }) => `${head}${series.map((line) => `${line}\n`).join('')}`,
  );
  return `${joined.join('\n')}${parts.some(({ hasExemplars }) => hasExemplars) ? `${endOfText}\n` : ''}`;
}

/** The last line of an OpenMetrics response. */
const endOfText = '# EOF';
