import { type RouteDeps, routes } from '../app/routes.ts';

/** Every route as it is declared. Nothing is called, so nothing it depends on is there. */
export function declaredRoutes() {
  return routes({ withSignIn: true } as RouteDeps);
}
