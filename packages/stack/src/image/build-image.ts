import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { buildPrograms } from '../build/build-programs.ts';
import type { Progress } from '../command.ts';
import { SetupProblem } from '../setup-problem.ts';
import { carriedLayer, nodeLayer, programsLayer, systemLayer } from './layers.ts';
import { readBaseLock, readLockfile } from './locks.ts';
import { missingLibraries } from './missing-libraries.ts';
import type { Labels } from './oci-image.ts';
import type { Platform } from './platform.ts';
import { bundledPackages, sbom, thirdPartyLicenses } from './sbom.ts';
import type { Tree } from './tree.ts';

/** Where an image says what it consists of. */
export const sbomPath = 'usr/share/sbom/millrace.cdx.json';

/** What an image of one platform consists of, from the bottom up: what changes seldom comes first. */
export interface ImageTree {
  platform: Platform;
  layers: { title: string; tree: Tree }[];
}

/**
 * Builds the programs, and for each platform the trees of its image.
 * @throws SetupProblem when something cannot be had, or a library that something asks for is in none of them
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
        { title: 'libraries of Debian', tree: await systemLayer(lock, platform) },
        { title: `Node.js ${base.node.version}`, tree: await nodeLayer(base) },
        { title: 'packages beside the programs', tree: await carriedLayer(root, lockfile, platform) },
        {
          title: 'programs',
          tree: await programsLayer(dist, { ...documents, [sbomPath]: sbom(contents, labels) }),
        },
      ];
      refuseMissing(layers.map(({ tree }) => tree));
      return { platform, layers };
    };
    const built: ImageTree[] = [];
    for (const platform of platforms) {
      built.push(await progress.step(`Gathering linux/${platform.architecture}`, () => treesFor(platform)));
    }
    return built;
  } finally {
    await rm(dist, { recursive: true, force: true });
  }
}

function refuseMissing(trees: readonly Tree[]): void {
  const missing = missingLibraries(new Map(trees.flatMap((tree) => [...tree])));
  if (missing.length === 0) return;
  const lines = missing.map(({ library, askedForBy }) => `  ${library}, for ${askedForBy}`);
  throw new SetupProblem(`Libraries are missing; \`npm run image -- --update-base\` pins them:\n${lines.join('\n')}`);
}
