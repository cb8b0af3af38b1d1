import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { SetupProblem } from '../setup-problem.ts';
import type { NpmPackage } from './base-lock.ts';
import type { Platform } from './platform.ts';

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
