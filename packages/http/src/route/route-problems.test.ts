import { Type } from 'typebox';
import { toyRoutes } from '../testing/toy-routes.ts';
import { createRouteDefiner } from './route.ts';
import { findRouteProblems } from './route-problems.ts';

const good = {
  method: 'GET',
  path: '/api/things/:id',
  operationId: 'things_retrieve',
  summary: 'Read a thing',
  description: 'One thing.',
  tags: ['things'] as [string],
  scope: 'public',
  params: Type.Object({ id: Type.String({ description: 'Its id.' }) }),
  responses: {
    200: {
      description: 'The thing.',
      schema: Type.Object({ id: Type.String({ description: 'Its id.' }) }, { title: 'Thing' }),
    },
  },
  examples: { response: { id: 'a' } } as { request?: unknown; response?: unknown },
  handler: async () => ({ id: 'a' }),
} as const;
const { defineRoute: define } = createRouteDefiner<null>();

test('finds no problems in valid route declarations', () => {
  expect(findRouteProblems(toyRoutes({ calls: 0, last: undefined }))).toEqual([]);
});

test.each([
  [{ ...good, operationId: 'ThingsGet' }, 'snake_case'],
  [{ ...good, path: '/api/things/:id/' }, 'ends with a slash'],
  [{ ...good, path: '/api/things/:other' }, 'different parameters'],
  [{ ...good, description: ' ' }, 'description is empty'],
  [{ ...good, summary: 'Read.' }, 'full stop'],
  [{ ...good, examples: {} }, 'the response has no example'],
  [{ ...good, examples: { response: { id: 1 } } }, 'does not match'],
  [{ ...good, examples: { response: { id: 'a' }, request: {} } }, 'no request schema'],
  [{ ...good, params: Type.Object({ id: Type.String() }) }, 'has no description'],
  [{ ...good, body: Type.Object({}) }, 'the body has no title'],
  [{ ...good, body: Type.Object({}, { title: 'NewThing' }) }, 'use ThingToCreate'],
  [{ ...good, query: Type.Object({ at: Type.String({ format: 'moment' }) }) }, 'the schema of query cannot be used'],
  [
    { ...good, query: Type.Object({ at: Type.String({ enum: ['a', true] }) }) },
    'the query has an enum of several types',
  ],
])('names the problem in an invalid route declaration (%#)', (declaration, problem) => {
  expect(findRouteProblems([define(declaration)]).join()).toContain(problem);
});

test('reports a parameter that is declared and also without effect', () => {
  const query = Type.Object({ a: Type.String({ description: 'a' }) });
  const problems = findRouteProblems([define({ ...good, query, queryWithoutEffect: { a: 'Nothing changes.' } })]);
  expect(problems).toEqual([
    'things_retrieve: the query parameter a is declared, but also rejected or declared without effect',
  ]);
});

test('reports duplicate route declarations', () => {
  expect(findRouteProblems([define(good), define(good)])).toEqual([
    'operationId things_retrieve is declared twice',
    'GET /api/things/:id is declared twice',
  ]);
});

test('throws at startup for a route without exactly one success response', () => {
  expect(() => define({ ...good, responses: {} as typeof good.responses })).toThrow('exactly one success');
});
