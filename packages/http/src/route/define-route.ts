import { type TObject, type TSchema, Type } from 'typebox';
import type { ResponseDeclarations, Route, RouteDeclaration, RouteScope, SuccessStatus } from './route.ts';

const noFields = Type.Object({});

/**
 * Makes the `defineRoute` of a service, which knows the service's type of caller:
 * `export const defineRoute = routeDefiner<Caller>();`
 */
export function routeDefiner<Caller>() {
  /** @throws Error at start when the declaration has no single success answer. */
  return function defineRoute<
    S extends RouteScope,
    R extends ResponseDeclarations,
    Target = undefined,
    P extends TObject = TObject,
    Q extends TObject = TObject,
    B extends TSchema = TSchema,
    File = undefined,
  >(declaration: RouteDeclaration<Caller, S, Target, P, Q, B, R, File>): Route<Caller> {
    const { target = async () => undefined, handler } = declaration;
    return {
      ...declaration,
      params: declaration.params ?? noFields,
      query: declaration.query ?? noFields,
      examples: declaration.examples ?? {},
      successStatus: successStatus(declaration.operationId, declaration.responses),
      // The one place where types are erased: the pipeline hands over exactly what it parsed by these schemas.
      target: target as Route<Caller>['target'],
      handler: handler as Route<Caller>['handler'],
    };
  };
}

function successStatus(operationId: string, responses: ResponseDeclarations): SuccessStatus {
  const [status, ...others] = ([200, 201, 202, 204, 400, 405] as const).filter((candidate) => responses[candidate]);
  if (status === undefined || others.length > 0) {
    throw new Error(`${operationId} must declare exactly one success answer.`);
  }
  return status;
}
