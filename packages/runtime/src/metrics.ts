import {
  AggregatorRegistry,
  Counter,
  collectDefaultMetrics,
  Gauge,
  Histogram,
  type LabelValues,
  Registry,
  type RegistryContentType,
} from 'prom-client';

/** Ours are told from other programs' and from `process_…` and `nodejs_…` by their prefix. */
export type MetricName = `millrace_${string}`;

/** One registry per service, handed down as an argument. Label values must come from a bounded set. */
export interface Metrics {
  registry: Registry<RegistryContentType>;
  /** Whether histograms that ask for it keep the trace of one observation in each bucket. */
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
  /** Memory, CPU and event-loop figures, once per process; off in tests. */
  withProcessMetrics?: boolean;
  /** The figures are told as OpenMetrics then, which alone has a place for exemplars. */
  hasExemplars?: boolean;
  /** Becomes a label of every series: several services of one process count under the same names. */
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
        ...{ name, help, buckets, labelNames: labels, registers: [registry] },
        enableExemplars: hasExemplars && withExemplars,
      }),
  };
}

/** Notes a value, and the trace it was seen in, where there is one. */
export type Observer<L extends string> = (value: number, labels: Record<L, string>, traceId: string | null) => void;

/** @param histogram made `withExemplars`. */
export function observerOf<L extends string>(metrics: Metrics, histogram: Histogram<L>): Observer<L> {
  if (!metrics.hasExemplars) return (value, labels) => histogram.observe(labels as LabelValues<L>, value);
  return (value, labels, traceId) =>
    histogram.observe({
      labels: labels as LabelValues<L>,
      value,
      // Its type takes the histogram's own labels only.
      exemplarLabels: (traceId === null ? {} : { trace_id: traceId }) as LabelValues<L>,
    });
}

/** The figures of one process, as they travel to another one. */
export type MetricsPart = Awaited<ReturnType<Registry['getMetricsAsJSON']>>;

/** Figures of several processes as one: sums, and averages where a sum would say nothing. */
export function sumMetrics(parts: readonly MetricsPart[]): Promise<string> {
  return AggregatorRegistry.aggregate([...parts]).metrics();
}

/** The text of several registries of one process as one: each name once, with the series of all. */
export async function joinMetrics(parts: readonly Metrics[]): Promise<string> {
  const texts = await Promise.all(parts.map(({ registry }) => registry.metrics()));
  const families = new Map<string, { head: string; series: string[] }>();
  for (const family of texts.flatMap((text) => text.split(/^(?=# HELP )/m))) {
    const [, head = '', name = '', series = ''] = /^(# HELP (\S+).*\n# TYPE .*\n)([\s\S]*)$/.exec(family) ?? [];
    const found = families.get(name) ?? { head, series: [] };
    found.series.push(...series.split('\n').filter((line) => line !== '' && line !== endOfText));
    families.set(name, found);
  }
  const told = [...families.values()].map(({ head, series }) => `${head}${series.map((line) => `${line}\n`).join('')}`);
  return `${told.join('\n')}${parts.some(({ hasExemplars }) => hasExemplars) ? `${endOfText}\n` : ''}`;
}

/** The last line of OpenMetrics. */
const endOfText = '# EOF';
