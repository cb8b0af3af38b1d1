import type { Route } from '../route/route.ts';
import { createComponents, type Operation, type Parameter, toOperation } from './operation.ts';

export interface ApiDescription {
  title: string;
  version: string;
  description: string;
  contact: { name: string };
  /** Name of the cookie that authenticates callers, if the service accepts a cookie. */
  sessionCookie?: string;
  tags: Record<string, string>;
}

/**
 * Builds the OpenAPI 3.1 document for a service's routes. Paths have the trailing slash that existing clients use.
 * Schemas, parameters and responses that several operations share become components. Routes that always fail are not
 * listed as operations, but the description of their path mentions them.
 */
export function createOpenApiDocument<Caller>(
  routes: readonly Route<Caller>[],
  { tags, sessionCookie, ...info }: ApiDescription,
) {
  const components = createComponents();
  const described = routes.map((route) => ({ route, operation: toOperation(route, components) }));
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
 * Returns a map from the JSON of each parameter that several operations share to its component name. Usually, the
 * component has the parameter's name. If a more common parameter has the same name, the tag becomes a prefix. If the
 * prefixed name is also taken, the parameter is not shared. If a schema or response has the name, the suffix
 * `_parameter` is added.
 *
 * Names that differ only in case or separators, such as `distinctId` and `distinct_id`, count as equal, because
 * generators for some languages would create the same type twice.
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
