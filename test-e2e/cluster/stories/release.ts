import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';

/** The chart as it is installed by these stories. */
export interface Release {
  namespace: string;
  /** Installs or upgrades, waits until all of it is ready, and says how long it took. @throws Error with Helm's words */
  deploy(overrides?: Values, options?: { timeoutSeconds?: number }): Promise<number>;
  /** The same, and gives Helm's answer whatever it is. */
  tryToDeploy(overrides: Values, options: { timeoutSeconds: number }): Promise<{ status: number; output: string }>;
  /** To the revision before; waits. */
  rollback(): Promise<number>;
  /** Waits until nothing of it is left. */
  uninstall(): Promise<void>;
  /** kubectl in the release's namespace. @throws Error with its words when it fails */
  kubectl(...words: string[]): Promise<string>;
  /** http://<address of the service> of a component. */
  urlOf(component: string): Promise<string>;
  pods(component?: string): Promise<Pod[]>;
  /** Waits until each deployment has as many ready pods as it wants, and no others. */
  settled(timeoutSeconds?: number): Promise<void>;
  /** Runs Helm. */
  helm: Cluster['helm'];
}

export type Values = Record<string, unknown>;

export interface Pod {
  name: string;
  component: string;
  node: string;
  isReady: boolean;
  isEnding: boolean;
  /** Ids as containerd has them. */
  containers: string[];
}

/** A line for each pod, its fields in the order of `asPod`: whole pods as JSON are more than a person, or a pipe, wants. */
const podFields = [
  ...['.metadata.name', '.metadata.labels.app\\.kubernetes\\.io/component', '.spec.nodeName', '.status.phase'],
  ...['.status.conditions[?(@.type=="Ready")].status', '.metadata.deletionTimestamp'],
  '.status.containerStatuses[*].containerID',
];
const podLines = `jsonpath={range .items[*]}${podFields.map((field) => `{${field}}{"|"}`).join('')}{"\\n"}{end}`;

/** A story may have changed with kubectl what Helm holds for its own. */
const evenIfPatched = ['--force-conflicts'];
const name = 'millrace';

export interface ReleaseOptions {
  namespace: string;
  chart: string;
  /** For files with values. */
  directory: string;
  /** What differs from the chart's own. */
  values: Values;
}

export function createRelease(cluster: Cluster, { namespace, chart, directory, values }: ReleaseOptions): Release {
  async function kubectl(...words: string[]): Promise<string> {
    const { status, output } = await cluster.kubectl('--namespace', namespace, ...words);
    if (status !== 0) throw new Error(`kubectl ${words.join(' ')} ended with ${status}:\n${output}`);
    return output;
  }

  async function tryToDeploy(overrides: Values, { timeoutSeconds }: { timeoutSeconds: number }) {
    const [base, over] = ['values.json', 'overrides.json'].map((file) => join(directory, file)) as [string, string];
    writeFileSync(base, JSON.stringify(values));
    writeFileSync(over, JSON.stringify(overrides));
    return cluster.helm(
      ...['upgrade', '--install', name, chart, '--namespace', namespace, '--create-namespace'],
      ...['-f', base, '-f', over, ...evenIfPatched, '--wait', '--timeout', `${timeoutSeconds}s`],
    );
  }

  async function pods(component?: string): Promise<Pod[]> {
    const selector = `app.kubernetes.io/part-of=millrace${component ? `,app.kubernetes.io/component=${component}` : ''}`;
    const lines = (await kubectl('get', 'pods', '-l', selector, '-o', podLines)).split('\n');
    return lines.flatMap((line) => (line.includes('|') ? asPod(line.split('|')) : []));
  }

  return {
    ...{ namespace, kubectl, tryToDeploy, pods, helm: cluster.helm },
    async deploy(overrides = {}, { timeoutSeconds = 300 } = {}) {
      const startedAt = performance.now();
      const { status, output } = await tryToDeploy(overrides, { timeoutSeconds });
      if (status !== 0) throw new Error(`helm could not install:\n${output}`);
      return performance.now() - startedAt;
    },
    async rollback() {
      const startedAt = performance.now();
      const { status, output } = await cluster.helm(
        ...['rollback', name, '--namespace', namespace, ...evenIfPatched, '--wait', '--timeout', '300s'],
      );
      if (status !== 0) throw new Error(`helm could not roll back:\n${output}`);
      return performance.now() - startedAt;
    },
    async uninstall() {
      const { status, output } = await cluster.helm('uninstall', name, '--namespace', namespace, '--wait');
      if (status !== 0) throw new Error(`helm could not uninstall:\n${output}`);
    },
    async urlOf(component) {
      const address = await kubectl(
        'get',
        'service',
        `${name}-${component}`,
        '-o',
        'jsonpath={.spec.clusterIP}:{.spec.ports[0].port}',
      );
      return `http://${address.trim()}`;
    },
    async settled(timeoutSeconds = 180) {
      const deployments = (await kubectl('get', 'deployments', '-o', 'name')).trim().split('\n');
      for (const deployment of deployments) {
        await kubectl('rollout', 'status', deployment, `--timeout=${timeoutSeconds}s`);
      }
    },
  };
}

/** Nothing of a job that is done: it is no longer a pod of anything. */
function asPod([name = '', component = '', node = '', phase, ready, endingSince, containers = '']: string[]): Pod[] {
  if (phase === 'Succeeded' || phase === 'Failed') return [];
  const ids = containers.split(' ').filter(Boolean);
  return [
    {
      ...{ name, component, node, isReady: ready === 'True', isEnding: endingSince !== '' },
      containers: ids.map((id) => id.replace('containerd://', '')),
    },
  ];
}
