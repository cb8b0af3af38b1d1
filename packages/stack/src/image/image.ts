import { mkdir, rm } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { Command } from '../command.ts';
import { SetupProblem } from '../setup-problem.ts';
import { baseLockFile } from './base-lock.ts';
import { buildImageTrees, type ImageTree } from './build-image.ts';
import { imageLabels } from './image-labels.ts';
import { type ImageName, type Labels, platformImage } from './oci-image.ts';
import { ownPlatform, parsePlatforms } from './platform.ts';
import { updateBase } from './update-base.ts';
import { writeArchive } from './write-archive.ts';
import { writeLayer } from './write-layer.ts';
import { writeTree } from './write-tree.ts';

const usualRepository = 'docker.io/millrace/millrace';

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
  const options = parseOptions(programArguments);
  if (options['update-base']) {
    const { amd64 } = await progress.step('Looking for the newest Node and libraries', () => updateBase(root));
    progress.print(`  Node ${amd64.node.version}: ${baseLockFile}`);
    return 0;
  }
  const labels = await imageLabels(root);
  const platforms = options.platform ? parsePlatforms(options.platform) : [ownPlatform()];
  const trees = await buildImageTrees(root, { platforms, labels, progress });
  if (options.folders) {
    await progress.step('Writing folders', () => writeFolders(resolve(String(options.folders)), trees));
    return 0;
  }
  const output = resolve(root, options.output ?? `image/millrace-${labels.version}.tar`);
  const name = { repository: options.name ?? usualRepository, tag: labels.version };
  const digests = await progress.step('Packing', () => packImages(output, { trees, labels, name }));
  progress.print(`  ${name.repository}:${name.tag} is in ${output}`);
  for (const digest of digests) progress.print(`  ${digest}`);
  return 0;
};

function parseOptions(programArguments: string[]) {
  const text = { type: 'string' } as const;
  try {
    return parseArgs({
      args: programArguments,
      options: { platform: text, output: text, name: text, folders: text, 'update-base': { type: 'boolean' } },
    }).values;
  } catch (error) {
    throw new SetupProblem(`npm run image: ${error instanceof Error ? error.message : String(error)}`);
  }
}

async function packImages(
  output: string,
  { trees, labels, name }: { trees: readonly ImageTree[]; labels: Labels; name: ImageName },
): Promise<string[]> {
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
  if (!first || others.length > 0) throw new SetupProblem('--folders is for one platform at a time.');
  await rm(folder, { recursive: true, force: true });
  for (const [index, { tree }] of first.layers.entries()) await writeTree(join(folder, String(index + 1)), tree);
}
