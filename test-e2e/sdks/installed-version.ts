import { readFileSync } from 'node:fs';

/** Returns the directory of an installed package. The package name may be an alias from package.json. */
export function packageDirectory(packageName: string): URL {
  return new URL(`../node_modules/${packageName}/`, import.meta.url);
}

export function installedVersion(packageName: string): string {
  const description: unknown = JSON.parse(readFileSync(new URL('package.json', packageDirectory(packageName)), 'utf8'));
  return (description as { version: string }).version;
}
