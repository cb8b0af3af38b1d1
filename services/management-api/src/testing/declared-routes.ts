import { createHealth, createMetrics } from '@millrace/runtime';
import { type RouteDeps, routes } from '../app/routes.ts';

let declared: ReturnType<typeof routes> | undefined;

/** Declares the routes. Most dependencies can be missing, because tests call no handler. */
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

export const declaredRoutes = () => allRoutes().api;

/** Returns all page routes, including the optional ones: the console, public links and the gateway. */
export const declaredPages = () => allRoutes().pages;
