/** A change of an object, as the API server tells it. */
export interface WatchEvent<T> {
  /** When it was heard of, in milliseconds. */
  at: number;
  type: string;
  object: T & { metadata: Metadata };
}

interface Metadata {
  uid: string;
  name: string;
  namespace: string;
  creationTimestamp: string;
  labels?: Record<string, string>;
}

/** What kubectl is told to print, with `--output-watch-events`. */
export const watchEventLine = 'jsonpath={.type}{" "}{.object}{"\\n"}';

/**
 * @param line as above, after the second it came in
 * @returns null for what tells of no change
 */
export function parseWatchEvent<T>(line: string): WatchEvent<T> | null {
  const [, at, type = '', object = ''] = /^([\d.]+) (ADDED|MODIFIED|DELETED) (.*)$/.exec(line) ?? [];
  if (at === undefined) return null;
  return { at: Math.round(Number(at) * 1000), type, object: JSON.parse(object) as WatchEvent<T>['object'] };
}
