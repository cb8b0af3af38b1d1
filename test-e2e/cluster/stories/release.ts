import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Cluster } from '../cluster.ts';

export interface Release {
  namespace: string;
  /**
   * Installs or upgrades the chart, waits until all pods are ready, and returns how long this took.
   * @throws Error with Helm's output
   */
  deploy(overrides?: Values, options?: { timeoutSeconds?: number }): Promise<number>;
  /** Like `deploy`, but returns Helm's result even if Helm fails. */
  tryToDeploy(overrides: Values, options: { timeoutSeconds: number }): Promise<{ status: number; output: string }>;
  /** Rolls back to the previous revision, and waits until all pods are ready. */
  rollback(): Promise<number>;
  /** Uninstalls the chart, and waits until all pods have been deleted. */
  uninstall(): Promise<void>;
  /** Runs kubectl in the release's namespace. @throws Error with kubectl's output */
  kubectl(...words: string[]): Promise<string>;
  /** Returns a component's URL: `http://<service address>`. */
  urlOf(component: string): Promise<string>;
  pods(component?: string): Promise<Pod[]>;
  /** Waits until each deployment has exactly the desired number of ready pods. */
  settled(timeoutSeconds?: number): Promise<void>;
  helm: Cluster['helm'];
}

export type Values = Record<string, unknown>;

export interface Pod {
  name: string;
  component: string;
  node: string;
  isReady: boolean;
  isEnding: boolean;
  /** Container IDs in containerd. */
  containers: string[];
}

/**
 * Makes kubectl print one line per pod with the fields for `asPod`, because the JSON of complete pods would be too
 * large.
 */
const podFields = [
  ...['.metadata.name', '.metadata.labels.app\\.kubernetes\\.io/component', '.spec.nodeName', '.status.phase'],
  ...['.status.conditions[?(@.type=="Ready")].status', '.metadata.deletionTimestamp'],
  '.status.containerStatuses[*].containerID',
];
const podLines = `jsonpath={range .items[*]}${podFields.map((field) => `{${field}}{"|"}`).join('')}{"\\n"}{end}`;

/** Overwrites Helm-managed fields that a test story has changed with kubectl. */
const evenIfPatched = ['--force-conflicts'];
const name = 'millrace';

export interface ReleaseOptions {
  namespace: string;
  chart: string;
  directory: string;
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

/** Parses the output line of a pod. Returns an empty list for a finished pod, which does not count. */
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
