import type { Route } from '../route/route.ts';
import { createComponents, type Operation, operation, type Parameter } from './operation.ts';

export interface ApiDescription {
  title: string;
  version: string;
  description: string;
  contact: { name: string };
  /** Name of the cookie by which callers are known too, if they are. */
  sessionCookie?: string;
  /** What is said of each tag of the routes. */
  tags: Record<string, string>;
}

/**
 * The OpenAPI 3.1 document of a service's routes, with the trailing slash that existing clients write. What several operations
 * have in common stands in its components. A route that is always refused is no operation: its path's description tells of it.
 */
export function openApiDocument<Caller>(
  routes: readonly Route<Caller>[],
  { tags, sessionCookie, ...info }: ApiDescription,
) {
  const components = createComponents();
  const described = routes.map((route) => ({ route, operation: operation(route, components) }));
  const { schemas, responses } = components.toObject();
  const names = namesOfParameters(
    described.flatMap(({ operation }) => operation ?? []),
    [...Object.keys(schemas), ...Object.keys(responses)],
  );
  const shared = (parameter: Parameter) => {
    const name = names.get(JSON.stringify(parameter));
    return (name !== undefined && components.share('parameters', name, parameter)) || parameter;
  };
  const paths: Record<string, Record<string, unknown>> = {};
  for (const { route, operation } of described) {
    const path = `${route.path.replaceAll(/:(\w+)/g, '{$1}')}/`;
    paths[path] ??= {};
    if (operation === null) {
      paths[path].description = `${route.method} always returns ${route.successStatus}. ${route.description}`;
    } else {
      paths[path][route.method.toLowerCase()] = { ...operation, parameters: operation.parameters.map(shared) };
    }
  }
  return {
    openapi: '3.1.0',
    info: { ...info, license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } },
    servers: [{ url: '/' }],
    security: [{ personalApiKey: [] }, ...(sessionCookie === undefined ? [] : [{ session: [] }])],
    tags: [...new Set(routes.flatMap((route) => route.tags))].sort().map((name) => ({ name, description: tags[name] })),
    paths,
    components: {
      securitySchemes: {
        personalApiKey: { type: 'http', scheme: 'bearer', description: 'A personal API key (`phx_…`).' },
        ...(sessionCookie !== undefined && {
          session: { type: 'apiKey', in: 'cookie', name: sessionCookie, description: 'A browser session.' },
        }),
      },
      ...components.toObject(),
    },
  };
}

/**
 * Names for parameters that several operations have, by their JSON: their own, or, where others mean something else by it more
 * often, that of the tag before it. Two of one tag are left where they are. A name that a schema, a response or another
 * parameter has in any spelling, such as `distinctId` and `distinct_id`, would be one type twice in some languages.
 */
function namesOfParameters(operations: readonly Operation[], others: readonly string[]): Map<string, string> {
  const uses = new Map<string, { name: string; tag: string; count: number }>();
  for (const { tags, parameters } of operations) {
    for (const parameter of parameters) {
      const text = JSON.stringify(parameter);
      const use = uses.get(text) ?? { name: parameter.name, tag: tags[0]?.replaceAll(' ', '_') ?? '', count: 0 };
      uses.set(text, { ...use, count: use.count + 1 });
    }
  }
  const shared = [...uses].filter(([, { count }]) => count > 1).sort(([, one], [, other]) => other.count - one.count);
  const taken = new Set<string>();
  const plain = (name: string) => name.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
  const ofOthers = new Set(others.map(plain));
  return new Map(
    shared.map(([text, { name, tag }]) => {
      const own = taken.has(plain(name)) ? `${tag}.${name}` : name;
      taken.add(plain(name));
      return [text, ofOthers.has(plain(own)) ? `${own}_parameter` : own];
    }),
  );
}
