import { readFileSync } from 'node:fs';

/** Where an installed package lies, by the name this package gives it. */
export function packageDirectory(packageName: string): URL {
  return new URL(`../node_modules/${packageName}/`, import.meta.url);
}

export function installedVersion(packageName: string): string {
  const description: unknown = JSON.parse(readFileSync(new URL('package.json', packageDirectory(packageName)), 'utf8'));
  return (description as { version: string }).version;
}
