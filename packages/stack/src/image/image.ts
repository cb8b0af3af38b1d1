// `npm run image`: packs all services and the command-line client into a container image, without Docker.

import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { buildPrograms } from '../build/build.ts';
import { type Command, type Progress, parseOptions, SetupProblem } from '../command.ts';
import { runProgram } from '../run-program.ts';
import {
  baseLockFile,
  detectPlatform,
  type Platform,
  parsePlatforms,
  readBaseLock,
  readLockfile,
  updateBaseLock,
} from './base.ts';
import { nodeLayer, packagesLayer, programsLayer, systemLayer, type Tree, writeTree } from './layers.ts';
import { type Labels, platformImage, writeArchive, writeLayer } from './oci-image.ts';
import { createSbom, formatThirdPartyLicenses, listBundledPackages } from './sbom.ts';

export const usualRepository = 'docker.io/millrace/millrace';

/**
 * `npm run image [-- options]`: packs all services and the command line into an image archive, without Docker.
 *
 *     --platform linux/amd64,linux/arm64   default: this machine's platform. Several create one multi-platform image
 *     --output <file>                      default: image/millrace-<version>.tar
 *     --name <repository>                  default: docker.io/millrace/millrace
 *     --folders <folder>                   write a folder for each layer instead of an archive (deploy/image/Dockerfile)
 *     --update-base                        pin the newest Node.js and libraries instead of building an image
 */
export const main: Command = async ({ progress, root, programArguments }) => {
  const text = { type: 'string' } as const;
  const known = {
    platform: text,
    output: text,
    name: text,
    folders: text,
    'update-base': { type: 'boolean' },
  } as const;
  const options = parseOptions('npm run image', programArguments, known);
  if (options['update-base']) {
    const { amd64 } = await progress.step('Looking for the newest Node.js and libraries', () => updateBaseLock(root));
    progress.print(`  Node ${amd64.node.version}: ${baseLockFile}`);
    return 0;
  }
  const labels = await readImageLabels(root);
  const platforms = options.platform ? parsePlatforms(options.platform) : [detectPlatform()];
  const trees = await buildImageTrees(root, { platforms, labels, progress });
  if (options.folders) {
    await progress.step('Writing the folders', () => writeFolders(resolve(String(options.folders)), trees));
    return 0;
  }
  const output = resolve(root, options.output ?? `image/millrace-${labels.version}.tar`);
  const repository = options.name ?? usualRepository;
  const digests = await progress.step('Packing the image', () => packImages(output, { trees, labels, repository }));
  progress.print(`  Wrote ${repository}:${labels.version} to ${output}`);
  for (const digest of digests) progress.print(`  ${digest}`);
  return 0;
};

/** Packs an image for each platform. @returns the digest of each image */
export async function packImages(
  output: string,
  { trees, labels, repository }: { trees: readonly ImageTree[]; labels: Labels; repository: string },
): Promise<string[]> {
  const name = { repository, tag: labels.version };
  const images = [];
  for (const { platform, layers } of trees) {
    const written = [];
    for (const { title, tree } of layers) written.push({ title, layer: await writeLayer(tree) });
    images.push(platformImage(platform, { layers: written, labels }));
  }
  await mkdir(dirname(output), { recursive: true });
  await writeArchive(output, name, images);
  return images.map(({ platform, manifest }) => `linux/${platform.architecture} ${manifest.digest}`);
}

/** Writes `<folder>/<layer number>/…` for a Dockerfile that copies the layers in order. Supports only one platform. */
async function writeFolders(folder: string, trees: readonly ImageTree[]): Promise<void> {
  const [first, ...others] = trees;
  if (!first || others.length > 0) throw new SetupProblem('--folders supports only one platform at a time.');
  await rm(folder, { recursive: true, force: true });
  for (const [index, { tree }] of first.layers.entries()) await writeTree(join(folder, String(index + 1)), tree);
}

/**
 * Returns labels about the image's origin. The date is that of the commit, so that the same commit always results in
 * the same image. Without git history, `SOURCE_DATE_EPOCH` and `REVISION` are used.
 * @throws SetupProblem if `SOURCE_DATE_EPOCH` is not a number
 */
export async function readImageLabels(root: string): Promise<Labels> {
  const { version } = JSON.parse(await readFile(join(root, 'package.json'), 'utf8')) as { version: string };
  const { status, output } = await runProgram('git', ['log', '-1', '--format=%H %ct'], { cwd: root });
  const [commit = '', committedAt = ''] = status === 0 ? output.trim().split(' ') : [];
  const seconds = Number(process.env.SOURCE_DATE_EPOCH || committedAt);
  if (!Number.isSafeInteger(seconds)) throw new SetupProblem('SOURCE_DATE_EPOCH must be a number of seconds.');
  return {
    version,
    created: new Date(seconds * 1000).toISOString().replace('.000Z', 'Z'),
    revision: process.env.REVISION || commit,
  };
}

export const sbomPath = 'usr/share/sbom/millrace.cdx.json';

/** The layers of one platform's image, lowest first. Layers that rarely change come first. */
export interface ImageTree {
  platform: Platform;
  layers: { title: string; tree: Tree }[];
}

/** Builds the programs, and the layers of the image for each platform. @throws SetupProblem if a download fails */
export async function buildImageTrees(
  root: string,
  { platforms, labels, progress }: { platforms: readonly Platform[]; labels: Labels; progress: Progress },
): Promise<ImageTree[]> {
  // Build inside the repository, so that source maps contain relative paths and not the user's directories.
  await mkdir(join(root, '.millrace'), { recursive: true });
  const dist = await mkdtemp(join(root, '.millrace', 'dist-'));
  try {
    const bundled = await progress.step('Building the programs', () => buildPrograms(root, dist));
    const [lock, lockfile, packages] = await Promise.all([
      readBaseLock(root),
      readLockfile(root),
      listBundledPackages(root, bundled),
    ]);
    const documents = {
      'app/LICENSE': await readFile(join(root, 'LICENSE'), 'utf8'),
      'app/THIRD-PARTY-LICENSES.txt': formatThirdPartyLicenses(packages),
    };
    const lockedPackages = packages.map((one) => ({ ...one, ...lockfile.find(one.name, one.version) }));
    const treesFor = async (platform: Platform): Promise<ImageTree> => {
      const base = lock[platform.architecture];
      const contents = { platform, base, debianRelease: lock.debianRelease, packages: lockedPackages };
      const layers = [
        { title: 'Debian libraries', tree: await systemLayer(lock, platform) },
        { title: `Node.js ${base.node.version}`, tree: await nodeLayer(base) },
        { title: 'packages that the programs load', tree: await packagesLayer(root, lockfile, platform) },
        {
          title: 'programs',
          tree: await programsLayer(dist, { ...documents, [sbomPath]: createSbom(contents, labels) }),
        },
      ];
      return { platform, layers };
    };
    const built: ImageTree[] = [];
    for (const platform of platforms) {
      built.push(
        await progress.step(`Collecting the contents for linux/${platform.architecture}`, () => treesFor(platform)),
      );
    }
    return built;
  } finally {
    await rm(dist, { recursive: true, force: true });
  }
}
