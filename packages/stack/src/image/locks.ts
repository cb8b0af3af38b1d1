// What pins the content of an image: `base.lock.json` for Node and Debian's files, `pnpm-lock.yaml` for packages.
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import type { NpmPackage } from '../registry/npm-package.ts';
import { SetupProblem } from '../setup-problem.ts';
import type { Platform } from './platform.ts';

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

interface LockedPackage {
  resolution: { integrity?: string };
  os?: string[];
  cpu?: string[];
  libc?: string[];
}

/** What the repository's lockfile says of packages. */
export interface Lockfile {
  find(name: string, version: string): NpmPackage;
  /** Those of some packages that are for a platform's processor, on Linux with Debian's C library. */
  forPlatform(versions: Record<string, string>, platform: Platform): NpmPackage[];
}

export async function readLockfile(root: string): Promise<Lockfile> {
  const { packages } = parse(await readFile(join(root, 'pnpm-lock.yaml'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const locked = (name: string, version: string): LockedPackage => {
    const found = packages[`${name}@${version}`];
    if (!found) throw new SetupProblem(`pnpm-lock.yaml does not know ${name}@${version}`);
    return found;
  };
  function find(name: string, version: string): NpmPackage {
    const { integrity } = locked(name, version).resolution;
    if (!integrity) throw new SetupProblem(`pnpm-lock.yaml has no hash of ${name}@${version}`);
    return { name, version, integrity };
  }
  return {
    find,
    forPlatform: (versions, { cpu }) =>
      Object.entries(versions)
        .filter(([name, version]) => {
          const one = locked(name, version);
          return one.os?.includes('linux') && one.cpu?.includes(cpu) && (one.libc ?? ['glibc']).includes('glibc');
        })
        .map(([name, version]) => find(name, version)),
  };
}
