import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Progress } from '@millrace/stack/command';
import { fetchClusterParts } from './cluster.ts';
import type { ClusterCommandOptions } from './command-options.ts';
import { explainMissingCluster, runInNamespaces } from './namespaces.ts';
import { removeCgroup } from './node/cgroups.ts';
import { runOrExplain } from './parts/run-or-explain.ts';
import { type OlderRelease, packOlderRelease } from './stories/older-release.ts';

const root = fileURLToPath(new URL('../../', import.meta.url));

/** Downloads all files while the network is available, and then continues in the namespaces. @returns the exit code */
export async function runOutsideNamespaces(options: ClusterCommandOptions, isSkipFatal: boolean): Promise<number> {
  const missing = await explainMissingCluster();
  if (missing !== null) {
    console.log(`skipped: this machine cannot run a cluster (${missing})`);
    return isSkipFatal ? 1 : 0;
  }
  const directory = mkdtempSync(join(tmpdir(), 'millrace-cluster-'));
  // Allow servers without root privileges to enter this directory.
  chmodSync(directory, 0o711);
  try {
    await fetchClusterParts(progress);
    const image = options.image ?? (await packImage(directory));
    const older = JSON.stringify(await packOlderReleases(options.from, directory));
    const words = Object.entries({ ...options, image, older, inside: directory }).flatMap(([name, value]) => [
      `--${name}`,
      value,
    ]);
    const main = fileURLToPath(new URL('./main.ts', import.meta.url));
    const program = [...process.execArgv, join(root, 'packages/stack/bin/run.mjs'), main];
    return await runInNamespaces(process.execPath, [...program, ...words]);
  } finally {
    await removeCgroup(basename(directory));
    rmSync(directory, { recursive: true, force: true });
  }
}

async function packImage(directory: string): Promise<string> {
  const file = join(directory, 'millrace.tar');
  const program = join(root, 'packages/stack/bin/image.mjs');
  if (!existsSync(program)) throw new Error('there is no packages/stack/bin/image.mjs; give --image');
  await progress.step('The image', () => runOrExplain(process.execPath, [program, '--output', file]));
  return file;
}

async function packOlderReleases(refs = '', directory: string): Promise<OlderRelease[]> {
  const packed = [];
  for (const ref of refs.split(',').filter(Boolean)) {
    packed.push(await progress.step(`The release ${ref}`, () => packOlderRelease(ref, directory)));
  }
  return packed;
}

const progress: Progress = {
  print: (line) => console.log(line),
  step(title, work) {
    console.log(title);
    return work((detail) => console.log(`  ${detail}`));
  },
};
