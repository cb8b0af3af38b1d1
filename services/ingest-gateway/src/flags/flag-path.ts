/** A path on which flags are asked for; the name is for metrics and logs. */
export type FlagPath = '/flags' | '/decide';

const paths = new Map<string, FlagPath>([
  ['/flags', '/flags'],
  ['/flags/', '/flags'],
  ['/decide', '/decide'],
  ['/decide/', '/decide'],
]);

/** @param path without the query. */
export function findFlagPath(path: string): FlagPath | undefined {
  return paths.get(path);
}
