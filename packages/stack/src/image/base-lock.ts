import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Platform } from './platform.ts';

export interface NpmPackage {
  name: string;
  version: string;
  /** As in a lockfile: `sha512-…`. */
  integrity: string;
}

export interface DebianPackage {
  name: string;
  version: string;
  /** The source package, which vulnerability lists name. */
  source: string;
  /** SHA-256 by path, in the package as in the image. Nothing else of the package is taken. */
  files: Record<string, string>;
}

/** What an image holds that is not in the repository's lockfile, to the byte. */
export interface Base {
  node: NpmPackage;
  debian: DebianPackage[];
}

export type BaseLock = { debianRelease: string } & Record<Platform['architecture'], Base>;

export const baseLockFile = 'deploy/image/base.lock.json';

/** Written by `npm run image -- --update-base`. */
export async function readBaseLock(root: string): Promise<BaseLock> {
  return JSON.parse(await readFile(join(root, baseLockFile), 'utf8')) as BaseLock;
}
