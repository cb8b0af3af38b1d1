const doubled = /\/{2,}/g;

/**
 * An address whose path has single slashes only. SDKs that are given a host with a slash at its end ask for `//batch`.
 * The query stays as it is.
 */
export function withSingleSlashes(url: string): string {
  const mark = url.indexOf('?');
  const pathEnd = mark < 0 ? url.length : mark;
  const at = url.indexOf('//');
  // A whole address, which a proxy may send, has two slashes that belong to it.
  if (at < 0 || at >= pathEnd || url[0] !== '/') return url;
  return url.slice(0, pathEnd).replace(doubled, '/') + url.slice(pathEnd);
}
