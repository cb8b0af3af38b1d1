import type { Route } from '../route/route.ts';
import { createComponents } from './components.ts';
import { operation } from './operation.ts';

export interface ApiDescription {
  title: string;
  version: string;
  description: string;
}

/** The OpenAPI 3.1 document of a service's routes. Paths are written with the trailing slash, as the contract's examples. */
export function openApiDocument<Caller>(routes: readonly Route<Caller>[], info: ApiDescription) {
  const components = createComponents();
  const paths: Record<string, Record<string, unknown>> = {};
  for (const route of routes) {
    const path = `${route.path.replaceAll(/:(\w+)/g, '{$1}')}/`;
    paths[path] = { ...paths[path], [route.method.toLowerCase()]: operation(route, components) };
  }
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    tags: [...new Set(routes.flatMap((route) => route.tags))].sort().map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: {
        personalApiKey: { type: 'http', scheme: 'bearer', description: 'A personal API key, `phx_…`.' },
      },
      schemas: components.schemas(),
    },
  };
}
