export type FoundPath<T> =
  | { kind: 'found'; value: T; params: Record<string, string> }
  /** No declared path matches. */
  | { kind: 'unknown' }
  /** A path matches, but a parameter is not valid percent-encoded UTF-8. */
  | { kind: 'undecodable' };

interface Template<T> {
  /** The text of each segment, or null for a parameter. */
  texts: (string | null)[];
  /** The names of the parameters by the index of their segment. */
  names: [number, string][];
  value: T;
}

/**
 * Returns a function that finds the first declared path that matches a request path, with or without a trailing slash.
 * Paths contain `:name` for parameters. A parameter is one segment and not empty; matching is case-sensitive.
 * Express would try the patterns of more than a hundred routes one by one.
 */
export function createPathTable<T>(entries: readonly { path: string; value: T }[]): (path: string) => FoundPath<T> {
  const byLength = new Map<number, Template<T>[]>();
  for (const { path, value } of entries) {
    const segments = path.slice(1).split('/');
    const names = segments.flatMap((text, index): [number, string][] =>
      text.startsWith(':') ? [[index, text.slice(1)]] : [],
    );
    const texts = segments.map((text) => (text.startsWith(':') ? null : text));
    byLength.set(segments.length, [...(byLength.get(segments.length) ?? []), { texts, names, value }]);
  }

  return (path) => {
    const segments = path.slice(1, path.endsWith('/') ? -1 : undefined).split('/');
    const template = byLength
      .get(segments.length)
      ?.find(({ texts }) =>
        texts.every((text, index) => (text === null ? segments[index] !== '' : text === segments[index])),
      );
    if (template === undefined) return { kind: 'unknown' };
    const params: Record<string, string> = {};
    try {
      for (const [index, name] of template.names) params[name] = decodeURIComponent(segments[index] ?? '');
    } catch {
      return { kind: 'undecodable' };
    }
    return { kind: 'found', value: template.value, params };
  };
}

/**
 * Returns the path of a request URL, which may be absolute if a proxy sent it. Not decoded; empty if the URL has no
 * path.
 */
export function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  if (path.startsWith('/')) return path;
  return URL.canParse(url) ? new URL(url).pathname : '';
}
