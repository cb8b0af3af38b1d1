import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ownPlatform, readBaseLock } from '@millrace/stack/image/base';
import { addFolder, nodeLayer, systemLayer, type Tree } from '@millrace/stack/image/layers';
import { platformImage, writeArchive, writeLayer } from '@millrace/stack/image/oci-image';
import { buildRelease, type ReleaseBuild } from '@millrace/testing';
import { runOrExplain } from '../parts/run-or-explain.ts';
import { imageRepository } from './install.ts';

/** What an installation is upgraded from. */
export interface OlderRelease {
  /** Short; also the tag of its image. */
  commit: string;
  /** Archive of its image. */
  image: string;
  /** Its own chart; this version's where it had none. */
  chart: string;
}

const root = fileURLToPath(new URL('../../../', import.meta.url));
const chartFolder = 'deploy/helm/millrace';

/**
 * Builds it, and packs its programs as they are with the Node and the libraries of this version's image: it may be from before
 * there was an image.
 * @param ref anything git knows
 * @param directory where all of it is kept
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
  const platform = ownPlatform();
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
