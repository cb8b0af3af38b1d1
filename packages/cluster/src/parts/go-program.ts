import { readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { environment } from '@millrace/runtime';
import { runProgram } from '@millrace/stack/src/process/run-program.ts';
import { SetupProblem } from '@millrace/stack/src/setup-problem.ts';
import { keepInCache } from './cluster-cache.ts';

/** A program that a Go module of ours (`packages/cluster/go/<module>/go.mod`) pins with all it is made of. */
export interface GoProgram {
  module: 'kubernetes';
  /** Its main package, e.g. `k8s.io/kubernetes/cmd/kubelet`. */
  path: string;
  /** Where its version stands: a module the go.mod requires. */
  versionOf: string;
  /** Variables of its packages that are set when it is linked, from its version. */
  variables?: (version: string) => Record<string, string>;
}

/**
 * The file of the program, built the first time. What all of them share is compiled once and kept by Go itself.
 * @throws SetupProblem when Go is missing, or with its words.
 */
export async function goProgram(program: GoProgram): Promise<string> {
  const source = moduleDirectory(program.module);
  const version = requiredVersion(source, program.versionOf);
  const name = basename(program.path);
  const directory = await keepInCache(`${name}-${version}`, async (temporary) => {
    const variables = Object.entries(program.variables?.(version) ?? {}).map(([key, value]) => `-X ${key}=${value}`);
    const flags = ['-s', '-w', ...variables].join(' ');
    const build = ['go', 'build', '-p', '2', '-trimpath', '-ldflags', flags, '-o', join(temporary, name), program.path];
    // One build at a time: several would compile the same. Nothing waits for it that could not wait.
    const { status, output } = await runProgram('flock', [lock, 'nice', '-n', '15', ...build], {
      cwd: source,
      // Without C nothing of this machine gets into the program, which then runs in an image too.
      env: { ...environment(), CGO_ENABLED: '0', GOFLAGS: '-mod=readonly' },
    });
    if (status === 127 || /No such file or directory/.test(output)) {
      throw new SetupProblem(`${name} is built with Go, and there is no \`go\` on the PATH.`);
    }
    if (status !== 0) throw new SetupProblem(`${name} could not be built:\n${lastLines(output)}`);
  });
  return join(directory, name);
}

const lock = join(tmpdir(), 'millrace-go-build.lock');

function moduleDirectory(name: string): string {
  return fileURLToPath(new URL(`../../go/${name}/`, import.meta.url));
}

function requiredVersion(source: string, module: string): string {
  const goMod = readFileSync(join(source, 'go.mod'), 'utf8');
  const line = goMod.split('\n').find((text) =>
    text
      .replace(/^require/, '')
      .trim()
      .startsWith(`${module} v`),
  );
  if (line === undefined) throw new Error(`${source}go.mod does not require ${module}`);
  return (
    line
      .replace(/^require/, '')
      .trim()
      .split(' ')[1] ?? ''
  );
}

const lastLines = (output: string) => output.trim().split('\n').slice(-8).join('\n');
