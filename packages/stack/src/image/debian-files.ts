import { createHash } from 'node:crypto';
import { mkdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { cacheDirectory } from '../process/cache-directory.ts';
import { SetupProblem } from '../setup-problem.ts';
import type { DebianPackage } from './base-lock.ts';
import { openDebianArchive, readUnpacked } from './debian-archive.ts';
import type { Platform } from './platform.ts';

export const sha256 = (content: Buffer | string): string => createHash('sha256').update(content).digest('hex');

/**
 * The files that are pinned, by path. Each is what its hash says, so it does not matter where it comes from: the user's
 * cache, this machine, where the same package is installed, or else Debian's archive.
 */
export async function debianFiles(
  packages: readonly DebianPackage[],
  platform: Platform,
): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const missing = new Set<DebianPackage>();
  for (const onePackage of packages) {
    for (const [path, hash] of Object.entries(onePackage.files)) {
      const content = (await readIf(kept(hash), hash)) ?? (await readIf(`/${path}`, hash));
      if (content) files.set(path, content);
      else missing.add(onePackage);
    }
  }
  if (missing.size > 0) {
    for (const [path, content] of await fetchFiles([...missing], platform)) files.set(path, content);
  }
  for (const content of files.values()) await keep(content);
  return files;
}

async function fetchFiles(packages: readonly DebianPackage[], platform: Platform): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const archive = await openDebianArchive(platform);
  try {
    for (const { name, version, files: pinned } of packages) {
      const folder = await archive.unpack(name, version).catch((error: unknown) => {
        throw new SetupProblem(
          `${name} ${version}, which ${platform.architecture} is pinned to, could not be had. Archives keep the newest version only: ` +
            '`npm run image -- --update-base` pins that one, and apt can be pointed at an archive of the past.\n' +
            `${error instanceof Error ? error.message : String(error)}`,
        );
      });
      for (const [path, hash] of Object.entries(pinned)) {
        const content = await readUnpacked(folder, path);
        if (!content || sha256(content) !== hash)
          throw new SetupProblem(`${name} ${version}: ${path} is not what is pinned`);
        files.set(path, content);
      }
    }
    return files;
  } finally {
    await archive.close();
  }
}

const kept = (hash: string) => join(cacheDirectory(), 'debian', hash);

async function keep(content: Buffer): Promise<void> {
  const target = kept(sha256(content));
  if (await readIf(target, sha256(content))) return;
  await mkdir(join(target, '..'), { recursive: true });
  await writeFile(`${target}.${process.pid}`, content);
  await rename(`${target}.${process.pid}`, target);
}

async function readIf(path: string, hash: string): Promise<Buffer | null> {
  const content = await readFile(path).catch(() => null);
  return content && sha256(content) === hash ? content : null;
}
