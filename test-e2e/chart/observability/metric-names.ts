import { readFileSync } from 'node:fs';

const metricsOfOthers = new Set([
  // prom-client exports these metrics in every service.
  ...['process_cpu_seconds_total', 'process_resident_memory_bytes', 'nodejs_eventloop_lag_p99_seconds'],
  // Strimzi and kafka_exporter export these metrics.
  ...['kafka_server_replicamanager_underreplicatedpartitions', 'kafka_topic_partition_under_replicated_partition'],
  // CloudNativePG and postgres_exporter export these metrics.
  ...['cnpg_pg_replication_lag', 'pg_replication_lag_seconds'],
]);

interface Documented {
  type: string;
  labels: Set<string>;
}

const labelsOfPrometheus = ['cluster', 'namespace', 'service', 'pod', 'instance', 'job', 'component', 'le'];

const documented = new Map<string, Documented>(
  [
    ...readFileSync(new URL('../../../docs/metrics.md', import.meta.url), 'utf8').matchAll(
      /^\| `(\w+)` \| (\w+) \| ([^|]*) \|/gm,
    ),
  ].map(([, name = '', type = '', labels = '']) => [
    name,
    { type, labels: new Set([...labels.matchAll(/`(\w+)`/g)].map(([, label = '']) => label)) },
  ]),
);

const metricName = /\b(?:millrace|process|nodejs|kafka|cnpg|pg)_\w+/g;
const selector = /\b(millrace_\w+)\{([^}]*)\}/g;

/** Returns a query's metrics and labels that no program exports. */
export function findUnknownMetrics(query: string): string[] {
  const names = (query.match(metricName) ?? []).filter(
    (name) => !metricsOfOthers.has(name) && found(name) === undefined,
  );
  const labels = [...query.matchAll(selector)].flatMap(([, name = '', chosen = '']) => {
    const known = found(name)?.labels ?? new Set();
    return [...chosen.matchAll(/(\w+)\s*(?:=|!)/g)]
      .map(([, label = '']) => label)
      .filter((label) => !known.has(label) && !labelsOfPrometheus.includes(label))
      .map((label) => `${name}{${label}}`);
  });
  return [...names, ...labels];
}

/** Finds a documented metric. A query of a histogram uses its `_bucket`, `_sum` or `_count` series. */
function found(name: string): Documented | undefined {
  const histogram = documented.get(name.replace(/_(bucket|sum|count)$/, ''));
  return documented.get(name) ?? (histogram?.type === 'histogram' ? histogram : undefined);
}
