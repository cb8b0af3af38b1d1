// Finds the route that matches a request path.

export type PathMatch<T> =
  | { kind: 'found'; value: T; params: Record<string, string> }
  /** No declared path has this number of segments and these literal segments. */
  | { kind: 'unknown' }
  /** A declared path matches, but a parameter is not valid percent-encoded UTF-8. */
  | { kind: 'undecodable' };

interface Template<T> {
  /** The literal string of each segment, or null for a parameter. */
  texts: (string | null)[];
  names: [number, string][];
  value: T;
}

/**
 * Finds the declared path that matches the path of a request, with or without a trailing slash. A parameter (`:name`)
 * is one segment that is not empty. Matching is case-sensitive.
 *
 * The order of the entries does not matter. Segments are compared from left to right, and a literal segment takes
 * precedence over a parameter. A path that ends with `/*` matches the path before the `/*` and everything under it, if
 * no other entry matches. If several such paths match, the longest takes precedence.
 *
 * Express is slower, because it would try more than a hundred patterns one after the other.
 *
 * @throws Error if two paths differ only in the names of their parameters
 */
export function createPathTable<T>(entries: readonly { path: string; value: T }[]): (path: string) => PathMatch<T> {
  refuseAmbiguous(entries.map(({ path }) => path));
  const sorted = [...entries].sort((one, other) => (specificity(one.path) < specificity(other.path) ? -1 : 1));
  const byLength = new Map<number, Template<T>[]>();
  for (const { path, value } of sorted) {
    if (isTree(path)) continue;
    const segments = path.slice(1).split('/');
    const names = segments.flatMap((text, index): [number, string][] =>
      text.startsWith(':') ? [[index, text.slice(1)]] : [],
    );
    const texts = segments.map((text) => (text.startsWith(':') ? null : text));
    byLength.set(segments.length, [...(byLength.get(segments.length) ?? []), { texts, names, value }]);
  }
  const trees = sorted
    .filter(({ path }) => isTree(path))
    .map(({ path, value }) => ({ root: path.slice(0, -2), value }))
    .sort((one, other) => other.root.length - one.root.length);

  return (path) => {
    if (!path.startsWith('/')) return { kind: 'unknown' };
    const segments = path.slice(1, path.length > 1 && path.endsWith('/') ? -1 : undefined).split('/');
    const template = byLength
      .get(segments.length)
      ?.find(({ texts }) =>
        texts.every((text, index) => (text === null ? segments[index] !== '' : text === segments[index])),
      );
    if (template === undefined) {
      const tree = trees.find(({ root }) => path === root || path.startsWith(`${root}/`));
      return tree === undefined ? { kind: 'unknown' } : { kind: 'found', value: tree.value, params: {} };
    }
    const params: Record<string, string> = {};
    try {
      for (const [index, name] of template.names) params[name] = decodeURIComponent(segments[index] ?? '');
    } catch {
      return { kind: 'undecodable' };
    }
    return { kind: 'found', value: template.value, params };
  };
}

const isTree = (path: string) => path.endsWith('/*');

/**
 * Returns a sort key. It places a path with a literal segment before a path that has a parameter in the same position.
 */
function specificity(path: string): string {
  return path.replaceAll(/[^/]+/g, (segment) => (segment.startsWith(':') ? '1' : '0'));
}

function refuseAmbiguous(paths: readonly string[]): void {
  const byShape = new Map<string, string>();
  for (const path of paths) {
    const shape = path.replaceAll(/:\w+/g, ':');
    const other = byShape.get(shape);
    if (other !== undefined) throw new Error(`The paths ${other} and ${path} match the same requests.`);
    byShape.set(shape, path);
  }
}

/**
 * Returns the path of a request's URL without decoding it, or an empty string if the URL has no path. Accepts absolute
 * URLs, because some proxies send them.
 */
export function readRequestPath(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  if (path.startsWith('/')) return path;
  return URL.canParse(url) ? new URL(url).pathname : '';
}
