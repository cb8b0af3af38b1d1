/** All fields that a route does not name itself. */
export const everyField = 'every field';

/**
 * A route by its method and path, with `{}` for parameters. PostHog serves what belongs to an environment below
 * `/api/projects/{}/` and `/api/environments/{}/`, which are one here.
 */
export function routeKey({ method, path }: { method: string; path: string }): string {
  const plain = path.replace(/\/$/, '').replaceAll(/\/(:\w+|\{\w*\})/g, '/{}');
  return `${method} ${plain.replace(/^\/api\/environments\/\{\}\/(?!$)/, '/api/projects/{}/')}`;
}
