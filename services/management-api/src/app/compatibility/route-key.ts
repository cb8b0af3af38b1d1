/** Stands for all body fields that a route does not declare. */
export const allOtherFields = 'every field';

/**
 * Returns a route's method and path, with `{}` for path parameters. Paths under `/api/projects/{}/` and
 * `/api/environments/{}/` have the same key, because PostHog serves an environment's resources below both.
 */
export function toRouteKey({ method, path }: { method: string; path: string }): string {
  const plain = path.replace(/\/$/, '').replaceAll(/\/(:\w+|\{\w*\})/g, '/{}');
  return `${method} ${plain.replace(/^\/api\/environments\/\{\}\/(?!$)/, '/api/projects/{}/')}`;
}
