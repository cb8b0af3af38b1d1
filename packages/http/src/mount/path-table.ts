export type FoundPath<T> =
  | { kind: 'found'; value: T; params: Record<string, string> }
  /** No declared path is of this shape. */
  | { kind: 'unknown' }
  /** One is, but a parameter is not valid percent-encoded UTF-8. */
  | { kind: 'undecodable' };

interface Template<T> {
  /** What each segment has to be; null where a parameter is. */
  texts: (string | null)[];
  /** Names of the parameters by the index of their segment. */
  names: [number, string][];
  value: T;
}

/**
 * Finds the first of these paths, with `:name` for parameters, that a request's path is an instance of, with or without a
 * trailing slash. A parameter is one segment and not empty; capital letters count.
 *
 * Express would try the pattern of one route after the other, of which there are more than a hundred.
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

/** The path of a request's address, which a proxy may have written in full. Not decoded; empty when there is none. */
export function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  if (path.startsWith('/')) return path;
  return URL.canParse(url) ? new URL(url).pathname : '';
}
