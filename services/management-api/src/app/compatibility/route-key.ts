/** Represents all fields that a route does not declare. */
export const allOtherFields = 'every field';

/**
 * Returns a route as method and path, with `{}` for parameters. PostHog serves the resources of an environment below
 * both `/api/projects/{}/` and `/api/environments/{}/`, which count as one route here.
 */
export function toRouteKey({ method, path }: { method: string; path: string }): string {
  const plain = path.replace(/\/$/, '').replaceAll(/\/(:\w+|\{\w*\})/g, '/{}');
  return `${method} ${plain.replace(/^\/api\/environments\/\{\}\/(?!$)/, '/api/projects/{}/')}`;
}
