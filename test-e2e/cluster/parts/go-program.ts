import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readEnvironment } from '@millrace/runtime';
import { SetupProblem } from '@millrace/stack/command';
import { findOrCreateCacheDirectory } from '@millrace/stack/fetched-programs';
import { runProgram } from '@millrace/stack/run-program';
import { runOrExplain } from './run-or-explain.ts';

/** A program built from a Go module with pinned dependencies in `test-e2e/cluster/go/<module>`. */
export interface GoProgram {
  module: 'coredns' | 'keda' | 'kubernetes' | 'metrics-server' | 'pause';
  /** The main package, such as `k8s.io/kubernetes/cmd/kubelet`. */
  path: string;
  /** Name of the program. The default is the last segment of the package path. */
  name?: string;
  variables?: Record<string, string>;
}

/**
 * Returns the path of the program. Builds the program on first use and after its module has changed. Go compiles shared
 * packages only once.
 * @throws SetupProblem if Go is missing, or with Go's output
 */
export async function buildGoProgram(program: GoProgram): Promise<string> {
  const { module, path, name = basename(path), variables = {} } = program;
  const source = getModuleDirectory(module);
  const directory = await findOrCreateCacheDirectory(
    `cluster/${name}-${computeModuleKey(module)}`,
    async (temporary) => {
      const flags = ['-s', '-w', ...Object.entries(variables).map(([key, value]) => `-X ${key}=${value}`)].join(' ');
      const build = ['go', 'build', '-p', '2', '-trimpath', '-ldflags', flags, '-o', join(temporary, name), path];
      // Build one program at a time, because parallel builds would compile the same packages.
      const { status, output } = await runProgram('flock', [lock, 'nice', '-n', '15', ...build], {
        cwd: source,
        // Without cgo, the program does not depend on this machine's libraries, so it also runs in an image.
        env: { ...readEnvironment(), CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
      });
      if (status === 127 || /No such file or directory/.test(output)) {
        throw new SetupProblem(`${name} is built with Go, and there is no \`go\` on the PATH.`);
      }
      if (status !== 0) {
        throw new SetupProblem(`${name} could not be built:\n${output.trim().split('\n').slice(-8).join('\n')}`);
      }
    },
  );
  return join(directory, name);
}

const lock = join(tmpdir(), 'millrace-go-build.lock');

export function getModuleDirectory(name: GoProgram['module']): string {
  return fileURLToPath(new URL(`../go/${name}/`, import.meta.url));
}

/**
 * Returns the folder with a Go module's sources. Downloads the module first if necessary, because `go list -m` returns
 * a folder only for downloaded modules.
 * @param module the module with its version; without a version if the go.mod in `cwd` requires the module
 * @throws SetupProblem with Go's output
 */
export async function fetchGoSources(
  module: string,
  { cwd, env = readEnvironment() }: { cwd: string; env?: Record<string, string | undefined> },
): Promise<string> {
  const output = await runOrExplain('go', ['mod', 'download', '-json', module], { cwd, env });
  const folder = /"Dir": ("[^"]+")/.exec(output)?.[1];
  if (folder === undefined) throw new SetupProblem(`Go says no folder of ${module}:\n${output}`);
  return JSON.parse(folder) as string;
}

/** Returns a key that changes whenever a file in the module changes. */
export function computeModuleKey(name: GoProgram['module']): string {
  const directory = getModuleDirectory(name);
  const hash = createHash('sha256');
  for (const file of readdirSync(directory).sort()) hash.update(file).update(readFileSync(join(directory, file)));
  return hash.digest('hex').slice(0, 12);
}

export const kubernetesParts = [
  ...(['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubelet', 'kube-proxy'] as const),
];
type KubernetesProgram = (typeof kubernetesParts)[number];

/**
 * Returns the path of a Kubernetes program. The first build takes minutes. Builds after that reuse most of its results.
 */
export function buildKubernetesProgram(name: KubernetesProgram): Promise<string> {
  const version = readKubernetesVersion();
  const [major = '', minor = ''] = version.replace(/^v/, '').split('.');
  const place = 'k8s.io/component-base/version';
  return buildGoProgram({
    module: 'kubernetes',
    path: `k8s.io/kubernetes/cmd/${name}`,
    // Set the versions, because the programs compare their versions with each other.
    variables: { [`${place}.gitVersion`]: version, [`${place}.gitMajor`]: major, [`${place}.gitMinor`]: minor },
  });
}

/** Returns the module's Kubernetes version, such as `v1.34.4`. */
export function readKubernetesVersion(): string {
  const text = readFileSync(join(getModuleDirectory('kubernetes'), 'go.mod'), 'utf8');
  const version = /^require k8s\.io\/kubernetes (v\S+)/m.exec(text)?.[1];
  if (version === undefined) throw new Error('go.mod requires no k8s.io/kubernetes');
  return version;
}
