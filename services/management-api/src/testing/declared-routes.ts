import { createHealth, createMetrics } from '@millrace/runtime';
import { type RouteDeps, routes } from '../app/routes.ts';

let declared: ReturnType<typeof routes> | undefined;

/** Declares the routes. Most dependencies are missing, because no handler is called. */
function declare() {
  const metrics = createMetrics({ withProcessMetrics: false });
  const console = { path: '/console/*', methods: ['GET', 'HEAD'], serve: () => {} };
  return routes({
    ...{
      withSignIn: true,
      metrics,
      health: createHealth(metrics),
      console,
      sharedHtml: Buffer.from(''),
      gateway: () => {},
    },
  } as unknown as RouteDeps);
}

const allRoutes = () => {
  declared ??= declare();
  return declared;
};

/** Returns every route of the OpenAPI document. */
export const declaredRoutes = () => allRoutes().api;

/** Returns every page route, with the console, public links and a gateway. */
export const declaredPages = () => allRoutes().pages;
