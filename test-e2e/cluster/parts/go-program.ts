import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from '@millrace/runtime';
import { SetupProblem } from '@millrace/stack/command';
import { keepInCache } from '@millrace/stack/fetched-programs';
import { runProgram } from '@millrace/stack/run-program';
import { runOrExplain } from './run-or-explain.ts';

/** A program that a Go module of ours, `test-e2e/cluster/go/<module>`, pins with all it is made of. */
export interface GoProgram {
  module: 'coredns' | 'keda' | 'kubernetes' | 'metrics-server' | 'pause';
  /** Its main package, e.g. `k8s.io/kubernetes/cmd/kubelet`. */
  path: string;
  /** What it is called; the last part of its path when left out. */
  name?: string;
  /** Variables of its packages that are set when it is linked. */
  variables?: Record<string, string>;
}

/**
 * The file of the program, built the first time and when its module has changed. What several of them share is compiled
 * once and kept by Go itself.
 * @throws SetupProblem when Go is missing, or with its words.
 */
export async function goProgram(program: GoProgram): Promise<string> {
  const { module, path, name = basename(path), variables = {} } = program;
  const source = moduleDirectory(module);
  const directory = await keepInCache(`cluster/${name}-${moduleMark(module)}`, async (temporary) => {
    const flags = ['-s', '-w', ...Object.entries(variables).map(([key, value]) => `-X ${key}=${value}`)].join(' ');
    const build = ['go', 'build', '-p', '2', '-trimpath', '-ldflags', flags, '-o', join(temporary, name), path];
    // One build at a time: several would compile the same. Nothing waits for it that could not wait.
    const { status, output } = await runProgram('flock', [lock, 'nice', '-n', '15', ...build], {
      cwd: source,
      // Without C nothing of this machine gets into the program, which then runs in an image too.
      env: { ...readEnvironment(), CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
    });
    if (status === 127 || /No such file or directory/.test(output)) {
      throw new SetupProblem(`${name} is built with Go, and there is no \`go\` on the PATH.`);
    }
    if (status !== 0) {
      throw new SetupProblem(`${name} could not be built:\n${output.trim().split('\n').slice(-8).join('\n')}`);
    }
  });
  return join(directory, name);
}

const lock = join(tmpdir(), 'millrace-go-build.lock');

export function moduleDirectory(name: GoProgram['module']): string {
  return fileURLToPath(new URL(`../go/${name}/`, import.meta.url));
}

/**
 * The folder with the sources of a Go module, fetched when Go has not got them yet: `go list -m` knows no folder before.
 * @param module with its version, or without one in a `cwd` whose go.mod requires it
 * @throws SetupProblem with Go's words.
 */
export async function goSources(
  module: string,
  { cwd, env = readEnvironment() }: { cwd: string; env?: Record<string, string | undefined> },
): Promise<string> {
  const output = await runOrExplain('go', ['mod', 'download', '-json', module], { cwd, env });
  const folder = /"Dir": ("[^"]+")/.exec(output)?.[1];
  if (folder === undefined) throw new SetupProblem(`Go says no folder of ${module}:\n${output}`);
  return JSON.parse(folder) as string;
}

/** Another one when the module's files have changed. */
export function moduleMark(name: GoProgram['module']): string {
  const directory = moduleDirectory(name);
  const hash = createHash('sha256');
  for (const file of readdirSync(directory).sort()) hash.update(file).update(readFileSync(join(directory, file)));
  return hash.digest('hex').slice(0, 12);
}

export const kubernetesParts = [
  ...(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy'] as const),
];
type KubernetesProgram = (typeof kubernetesParts)[number];

/** The file of a part of Kubernetes. The first one takes minutes to build, the others share most of it. */
export function kubernetesProgram(name: KubernetesProgram): Promise<string> {
  const version = kubernetesVersion();
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  const place = 'k8s.io/component-base/version';
  return goProgram({
    module: 'kubernetes',
    path: `k8s.io/kubernetes/cmd/${name}`,
    // The parts compare their versions with each other.
    variables: { [`${place}.gitVersion`]: version, [`${place}.gitMajor`]: major, [`${place}.gitMinor`]: minor },
  });
}

/** `v1.34.4`, as the module says. */
export function kubernetesVersion(): string {
  const text = readFileSync(join(moduleDirectory('kubernetes'), 'go.mod'), 'utf8');
  const version = /^require k8s\.io\/kubernetes (v\S+)/m.exec(text)?.[1];
  if (version === undefined) throw new Error('go.mod requires no k8s.io/kubernetes');
  return version;
}
