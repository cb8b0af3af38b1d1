import type { TSchema } from 'typebox';
import { describeSchemaFailure, findSchemaProblem } from '../schema/compile.ts';
import { shapeOf } from '../schema/schema-shape.ts';
import type { Route } from './route.ts';

/**
 * Returns one sentence for each missing or contradictory declaration in a service's routes. @internal Only for tests.
 * They expect an empty list.
 */
export function findRouteProblems<Caller>(routes: readonly Route<Caller>[]): string[] {
  return [
    ...duplicates(routes),
    ...routes.flatMap((route) => problemsOf(route).map((p) => `${route.operationId}: ${p}`)),
  ];
}

function duplicates<Caller>(routes: readonly Route<Caller>[]): string[] {
  const seen = new Set<string>();
  const problems: string[] = [];
  for (const route of routes) {
    for (const key of [`operationId ${route.operationId}`, `${route.method} ${route.path}`]) {
      if (seen.has(key)) problems.push(`${key} is declared twice`);
      seen.add(key);
    }
  }
  return problems;
}

function problemsOf<Caller>(route: Route<Caller>): string[] {
  const problems: string[] = [];
  const complain = (isWrong: boolean, problem: string) => isWrong && problems.push(problem);
  complain(!/^[a-z][a-z0-9_]*$/.test(route.operationId), 'the operationId is not in snake_case');
  // Routes outside `/api` are public, because their clients authenticate with other tokens.
  const root = route.scope === 'public' ? '(\\/api)?' : '\\/api';
  complain(
    !new RegExp(`^${root}(/[:@\\w]+)+$`).test(route.path),
    'the path does not begin with /api/, or ends with a slash',
  );
  complain(route.summary.trim() === '' || route.description.trim() === '', 'summary or description is empty');
  complain(route.summary.endsWith('.'), 'the summary ends with a full stop');
  complain(route.body !== undefined && ['GET', 'DELETE'].includes(route.method), `${route.method} declares a body`);
  complain(
    String(pathParameters(route.path).sort()) !== String(Object.keys(route.params.properties).sort()),
    'path and params name different parameters',
  );
  const success = route.responses[route.successStatus];
  complain(
    success?.schema === undefined && success?.stream === undefined && route.successStatus === 200,
    'the success response has no schema',
  );
  const responses = Object.entries(route.responses).map(
    ([status, { schema }]) => [`response ${status}`, schema] as const,
  );
  const parts = [['params', route.params], ['query', route.query], ['body', route.body], ...responses] as const;
  const unusable = parts.flatMap(([part, schema]) => {
    const problem = schema ? findSchemaProblem(schema) : null;
    return problem === null ? [] : [`the schema of ${part} cannot be used: ${problem}`];
  });
  if (unusable.length > 0) return unusable;
  for (const [part, schema] of parts) {
    complain(schema !== undefined && mixesTypes(schema), `the ${part} has an enum of several types; declare a union`);
  }
  for (const [part, schema] of [
    ['body', route.body],
    ['response', success?.schema],
  ] as const) {
    // The title is the type name in generated clients. The document contains each titled schema only once.
    const { properties, title } = schema ? shapeOf(schema) : {};
    complain(properties !== undefined && title === undefined, `the ${part} has no title`);
    complain(
      /^New[A-Z]/.test(title ?? ''),
      `the ${part} is titled ${title}; Go generators create a function of that name for ${title?.slice(3)}: use ${title?.slice(3)}ToCreate`,
    );
  }
  for (const [part, schema] of [
    ['params', route.params],
    ['query', route.query],
    ['response', success?.schema],
  ] as const) {
    if (schema) problems.push(...undescribedFields(schema).map((field) => `${part} field ${field} has no description`));
  }
  problems.push(...contradictions(route));
  problems.push(...exampleProblems('request', route.body, route.examples.request));
  problems.push(...exampleProblems('response', success?.schema, route.examples.response));
  return problems;
}

/** Returns names that are declared as supported and also as rejected or without effect. */
function contradictions<Caller>({ query, body, ...route }: Route<Caller>): string[] {
  const fields = Object.keys(body ? (shapeOf(body).properties ?? {}) : {});
  const parameters = Object.keys(query.properties);
  const refused = { ...route.refusedQuery, ...route.queryWithoutEffect };
  return [
    ...parameters.filter((name) => Object.hasOwn(refused, name)).map((name) => `query parameter ${name}`),
    ...fields.filter((name) => Object.hasOwn(route.refusedBody ?? {}, name)).map((name) => `body field ${name}`),
  ].map((what) => `the ${what} is declared, but also rejected or declared without effect`);
}

function pathParameters(path: string): string[] {
  return [...path.matchAll(/:(\w+)/g)].map((match) => match[1] ?? '');
}

function undescribedFields(schema: TSchema): string[] {
  return Object.entries(shapeOf(schema).properties ?? {}).flatMap(([name, field]) =>
    (field as { description?: string }).description ? [] : [name],
  );
}

/**
 * Returns whether the schema contains an enum whose values have different types. Client generators omit routes with
 * such a schema.
 */
function mixesTypes(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  const { enum: choices } = schema as { enum?: unknown };
  if (Array.isArray(choices)) {
    return new Set(choices.filter((choice) => choice !== null).map((choice) => typeof choice)).size > 1;
  }
  return Object.values(schema).some(mixesTypes);
}

function exampleProblems(part: string, schema: TSchema | undefined, example: unknown): string[] {
  if (schema === undefined) return example === undefined ? [] : [`there is a ${part} example, but no ${part} schema`];
  if (example === undefined) return [`the ${part} has no example`];
  const failure = describeSchemaFailure(schema, example);
  return failure ? [`the ${part} example does not match its schema: ${failure}`] : [];
}
