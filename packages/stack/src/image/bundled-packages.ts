import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { carriedPackages } from '../build/carried-packages.ts';

/** A package of others that is part of the programs, or lies beside them. */
export interface BundledPackage {
  name: string;
  version: string;
  /** Of SPDX; empty when the package does not say. */
  license: string;
  /** The texts that have to go with it. */
  licenseTexts: string[];
}

/** @param bundled the files of which something is in the programs, by their paths from the root */
export async function bundledPackages(root: string, bundled: readonly string[]): Promise<BundledPackage[]> {
  const folders = new Set([...bundled.flatMap((path) => packageFolder(root, path)), ...carriedPackages(root).values()]);
  const packages = await Promise.all([...folders].map(readPackage));
  const byName = new Map(packages.map((one) => [`${one.name}@${one.version}`, one]));
  return [...byName].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, one]) => one);
}

/** Some packages have further `package.json` files in their folders, that say no more than how to load them. */
function packageFolder(root: string, path: string): string[] {
  const [, within, name] = path.match(/^(.*node_modules\/)((?:@[^/]+\/)?[^/]+)\//) ?? [];
  return within && name ? [join(root, within, name)] : [];
}

async function readPackage(folder: string): Promise<BundledPackage> {
  const { name, version, license } = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as {
    name: string;
    version: string;
    license?: string | { type: string };
  };
  const files = (await readdir(folder)).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file)).sort();
  return {
    name,
    version,
    license: typeof license === 'object' ? license.type : (license ?? ''),
    licenseTexts: await Promise.all(files.map((file) => readFile(join(folder, file), 'utf8'))),
  };
}
