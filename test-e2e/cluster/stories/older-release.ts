import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { detectPlatform, readBaseLock } from '@millrace/stack/image/base';
import { addFolder, nodeLayer, systemLayer, type Tree } from '@millrace/stack/image/layers';
import { platformImage, writeArchive, writeLayer } from '@millrace/stack/image/oci-image';
import { buildRelease, type ReleaseBuild } from '@millrace/testing';
import { runOrExplain } from '../parts/run-or-explain.ts';
import { imageRepository } from './install.ts';

/** An older release that test stories upgrade from. */
export interface OlderRelease {
  /** Short commit hash, which is also the image tag. */
  commit: string;
  /** Path of the image archive. */
  image: string;
  /** Path of the release's chart. If the release has no chart, the path of this version's chart. */
  chart: string;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const chartFolder = 'deploy/helm/millrace';

/**
 * Builds a release and packs its programs into an image. Uses Node.js and the libraries of this version's image,
 * because older releases may not have an image.
 * @param ref a git revision of any kind
 * @param directory the directory for all files of the release
 */
export async function packOlderRelease(ref: string, directory: string): Promise<OlderRelease> {
  const release = await buildRelease(ref);
  const own = join(directory, release.commit);
  await mkdir(own, { recursive: true });
  const image = join(own, 'image.tar');
  await packPrograms(release, image);
  await runOrExplain('git', ['archive', '--output', join(own, 'deploy.tar'), release.commit, 'deploy'], { cwd: root });
  await runOrExplain('tar', ['-xf', join(own, 'deploy.tar'), '-C', own]);
  const chart = join(own, chartFolder);
  return { commit: release.commit, image, chart: existsSync(chart) ? chart : join(root, chartFolder) };
}

async function packPrograms({ commit, directory }: ReleaseBuild, archive: string): Promise<void> {
  const platform = detectPlatform();
  const lock = await readBaseLock(root);
  const programs: Tree = new Map();
  await addFolder(programs, 'app', { folder: directory, withPackages: true });
  const trees = {
    system: await systemLayer(lock, platform),
    node: await nodeLayer(lock[platform.architecture]),
    programs,
  };
  const layers = [];
  for (const [title, tree] of Object.entries(trees)) layers.push({ title, layer: await writeLayer(tree) });
  const labels = { version: commit, created: new Date(0).toISOString(), revision: commit };
  const name = { repository: imageRepository, tag: commit };
  await writeArchive(archive, name, [platformImage(platform, { layers, labels })]);
}
