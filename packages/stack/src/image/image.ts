import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { buildPrograms } from '../build/build.ts';
import { type Command, type Progress, parseOptions, SetupProblem } from '../command.ts';
import { runProgram } from '../run-program.ts';
import {
  baseLockFile,
  ownPlatform,
  type Platform,
  parsePlatforms,
  readBaseLock,
  readLockfile,
  updateBase,
} from './base.ts';
import { carriedLayer, nodeLayer, programsLayer, systemLayer, type Tree, writeTree } from './layers.ts';
import { type Labels, platformImage, writeArchive, writeLayer } from './oci-image.ts';
import { bundledPackages, sbom, thirdPartyLicenses } from './sbom.ts';

export const usualRepository = 'docker.io/millrace/millrace';

/**
 * `npm run image [-- options]`: the image of all services and the command line, as an archive, without Docker.
 *
 *     --platform linux/amd64,linux/arm64   this machine's when not given; several make one image of all
 *     --output <file>                      image/millrace-<version>.tar
 *     --name <repository>                  docker.io/millrace/millrace
 *     --folders <folder>                   instead of an archive: a folder for each layer (deploy/image/Dockerfile)
 *     --update-base                        instead of an image: pins the newest Node and libraries
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
    const { amd64 } = await progress.step('Looking for the newest Node.js and libraries', () => updateBase(root));
    progress.print(`  Node ${amd64.node.version}: ${baseLockFile}`);
    return 0;
  }
  const labels = await imageLabels(root);
  const platforms = options.platform ? parsePlatforms(options.platform) : [ownPlatform()];
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

/** @returns the digest of each platform's image */
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

/** `<folder>/<number of the layer>/…`, for a Dockerfile that copies them one after the other. One platform only. */
async function writeFolders(folder: string, trees: readonly ImageTree[]): Promise<void> {
  const [first, ...others] = trees;
  if (!first || others.length > 0) throw new SetupProblem('--folders supports only one platform at a time.');
  await rm(folder, { recursive: true, force: true });
  for (const [index, { tree }] of first.layers.entries()) await writeTree(join(folder, String(index + 1)), tree);
}

/**
 * What the image says of where it is from. Its date is the commit's, so that one commit gives one image; where there is no
 * history, `SOURCE_DATE_EPOCH` and `REVISION` say it.
 * @throws SetupProblem when `SOURCE_DATE_EPOCH` is no number
 */
export async function imageLabels(root: string): Promise<Labels> {
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

/** Where an image says what it consists of. */
export const sbomPath = 'usr/share/sbom/millrace.cdx.json';

/** What an image of one platform consists of, from the bottom up: what changes seldom comes first. */
export interface ImageTree {
  platform: Platform;
  layers: { title: string; tree: Tree }[];
}

/**
 * Builds the programs, and for each platform the trees of its image.
 * @throws SetupProblem when something cannot be had
 */
export async function buildImageTrees(
  root: string,
  { platforms, labels, progress }: { platforms: readonly Platform[]; labels: Labels; progress: Progress },
): Promise<ImageTree[]> {
  // In the repository: source maps name the sources as they lie from here, and nobody's folders belong into an image.
  await mkdir(join(root, '.millrace'), { recursive: true });
  const dist = await mkdtemp(join(root, '.millrace', 'dist-'));
  try {
    const bundled = await progress.step('Building the programs', () => buildPrograms(root, dist));
    const [lock, lockfile, packages] = await Promise.all([
      readBaseLock(root),
      readLockfile(root),
      bundledPackages(root, bundled),
    ]);
    const documents = {
      'app/LICENSE': await readFile(join(root, 'LICENSE'), 'utf8'),
      'app/THIRD-PARTY-LICENSES.txt': thirdPartyLicenses(packages),
    };
    const lockedPackages = packages.map((one) => ({ ...one, ...lockfile.find(one.name, one.version) }));
    const treesFor = async (platform: Platform): Promise<ImageTree> => {
      const base = lock[platform.architecture];
      const contents = { platform, base, debianRelease: lock.debianRelease, packages: lockedPackages };
      const layers = [
        { title: 'Debian libraries', tree: await systemLayer(lock, platform) },
        { title: `Node.js ${base.node.version}`, tree: await nodeLayer(base) },
        { title: 'packages that the programs load', tree: await carriedLayer(root, lockfile, platform) },
        {
          title: 'programs',
          tree: await programsLayer(dist, { ...documents, [sbomPath]: sbom(contents, labels) }),
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
