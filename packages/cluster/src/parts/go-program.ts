import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment } from '@millrace/runtime';
import { runProgram } from '@millrace/stack/src/process/run-program.ts';
import { SetupProblem } from '@millrace/stack/src/setup-problem.ts';
import { keepInCache } from './cluster-cache.ts';

/** A program that a Go module of ours, `packages/cluster/go/<module>`, pins with all it is made of. */
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
  const directory = await keepInCache(`${name}-${moduleMark(module)}`, async (temporary) => {
    const flags = ['-s', '-w', ...Object.entries(variables).map(([key, value]) => `-X ${key}=${value}`)].join(' ');
    const build = ['go', 'build', '-p', '2', '-trimpath', '-ldflags', flags, '-o', join(temporary, name), path];
    // One build at a time: several would compile the same. Nothing waits for it that could not wait.
    const { status, output } = await runProgram('flock', [lock, 'nice', '-n', '15', ...build], {
      cwd: source,
      // Without C nothing of this machine gets into the program, which then runs in an image too.
      env: { ...environment(), CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
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
  return fileURLToPath(new URL(`../../go/${name}/`, import.meta.url));
}

/** Another one when the module's files have changed. */
export function moduleMark(name: GoProgram['module']): string {
  const directory = moduleDirectory(name);
  const hash = createHash('sha256');
  for (const file of readdirSync(directory).sort()) hash.update(file).update(readFileSync(join(directory, file)));
  return hash.digest('hex').slice(0, 12);
}
