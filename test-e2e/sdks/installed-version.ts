import { readFileSync } from 'node:fs';

/** Returns the directory of an installed package by the name that this package uses for it. */
export function packageDirectory(packageName: string): URL {
  return new URL(`../node_modules/${packageName}/`, import.meta.url);
}

export function installedVersion(packageName: string): string {
  const description: unknown = JSON.parse(readFileSync(new URL('package.json', packageDirectory(packageName)), 'utf8'));
  return (description as { version: string }).version;
}
