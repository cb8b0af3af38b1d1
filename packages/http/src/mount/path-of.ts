/** The path of a request's address, which a proxy may have written in full. Not decoded; empty when there is none. */
export function pathOf(url: string): string {
  const [path = ''] = url.split(/[?#]/, 1);
  if (path.startsWith('/')) return path;
  return URL.canParse(url) ? new URL(url).pathname : '';
}
