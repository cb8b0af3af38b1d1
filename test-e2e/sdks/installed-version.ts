import { readFileSync } from 'node:fs';

/** Returns the directory of an installed package. The package name may be an alias from package.json. */
export function findPackageDirectory(packageName: string): URL {
  return new URL(`../node_modules/${packageName}/`, import.meta.url);
}

export function readInstalledVersion(packageName: string): string {
  const description: unknown = JSON.parse(
    readFileSync(new URL('package.json', findPackageDirectory(packageName)), 'utf8'),
  );
  return (description as { version: string }).version;
}
