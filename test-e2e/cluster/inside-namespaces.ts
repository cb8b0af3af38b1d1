import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from '@millrace/runtime';
import { ensureKubectlAndHelm } from '@millrace/stack/fetched-programs';
import { type Cluster, startCluster } from './cluster.ts';
import type { ClusterCommandOptions } from './command-options.ts';
import { readKubernetesVersion } from './parts/go-program.ts';
import { isLoadIntact } from './stories/judge-load.ts';
import type { OlderRelease } from './stories/older-release.ts';
import { runStories } from './stories/run-stories.ts';
import { type ClusterReport, formatStoryReport } from './stories/story-report.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));
const print = (line: string) => console.log(line);

/** Starts the cluster and runs the selected stories. @returns the exit code */
export async function runInsideNamespaces(options: ClusterCommandOptions & { inside: string }): Promise<number> {
  const directory = options.inside;
  print('starting the cluster');
  const cluster = await startCluster({ directory, cgroup: basename(directory), nodes: 2 });
  if (options.run !== undefined) return runShell(options.run, cluster);
  const only = options.only?.split(',') ?? null;
  const told = await runStories(cluster, {
    ...{ directory, only, print },
    chart: resolve(options.chart ?? join(root, 'deploy/helm/millrace')),
    image: resolve(options.image ?? ''),
    version: version(),
    older: JSON.parse(options.older ?? '[]') as OlderRelease[],
    eventsPerSecond: Number(options.rate ?? 2000),
  });
  const report: ClusterReport = { ...told, surroundings: surroundings(cluster) };
  const page = formatStoryReport(report);
  print(`\n${page}`);
  const file = options.report ?? (only === null ? join(root, 'deploy/cluster-report.md') : null);
  if (file !== null) writeFileSync(file, page);
  for (const failure of cluster.failures()) print(`part of the cluster has stopped:\n${failure}`);
  return report.results.every(isLoadIntact) && report.failures.length === 0 ? 0 : 1;
}

async function runShell(command: string, { kubeconfig }: Cluster): Promise<number> {
  const { kubectl } = await ensureKubectlAndHelm();
  const { PATH = '', ...rest } = readEnvironment();
  const env = { ...rest, KUBECONFIG: kubeconfig, PATH: `${dirname(kubectl)}:${PATH}` };
  return spawnSync('sh', ['-c', command], { stdio: 'inherit', env }).status ?? 1;
}

function version(): string {
  return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
}

function surroundings({ nodes }: Cluster): string[] {
  return [
    `Date: ${new Date().toISOString().slice(0, 10)}. Machine: ${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, Node.js ${process.version}.`,
    `The machine ran Kubernetes ${readKubernetesVersion()} with ${nodes.length} nodes, one PostgreSQL, one Kafka and one Redis server, and the`,
    'clients.',
  ];
}
