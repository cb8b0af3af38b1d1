import { membershipLevels } from '@millrace/contracts';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { offsetPage, offsetPageSchema, offsetQuery } from '../pagination.ts';
import { createRouteDefiner } from '../route/route.ts';

/** A small API with every kind of route, for tests of the pipeline. */
export interface ToyCaller {
  scopes: string[];
}

const { defineRoute } = createRouteDefiner<ToyCaller>();

const thing = Type.Object(
  {
    name: Type.String({ minLength: 1, maxLength: 5, description: 'name' }),
    size: Type.Optional(Type.Integer({ minimum: 1, maximum: 9, description: 'size' })),
    color: Type.Optional(Type.Union([Type.Enum(['red', 'blue']), Type.Null()], { description: 'color' })),
    days: Type.Optional(Type.Array(Type.Enum(['mon', 'tue']), { maxItems: 2, description: 'days' })),
    target: Type.Optional(Type.Object({ type: Type.String({ minLength: 1 }) }, { description: 'target' })),
    since: Type.Optional(Type.String({ format: 'date-time', description: 'since' })),
  },
  { title: 'Thing' },
);

const thingId = Type.Object({ id: Type.String({ description: 'id' }) }, { title: 'ThingId' });

/** The input of the last handler call, and the number of calls. */
export interface ToyRecord {
  calls: number;
  last: unknown;
}

export const toyRoutes = (record: ToyRecord) => [
  defineRoute({
    method: 'POST',
    path: '/api/things',
    operationId: 'things_create',
    summary: 'Create a thing',
    description: 'Echoes what was understood.',
    tags: ['things'],
    scope: 'project:write',
    body: thing,
    refusedBody: { shape: { detail: 'Things have no shape. Leave `shape` out.', unless: [null, 'any'] } },
    responses: { 201: { description: 'The thing.', schema: thing } },
    examples: { request: { name: 'x' }, response: { name: 'x' } },
    handler: async ({ body }) => {
      record.calls += 1;
      record.last = body;
      return { ...body, secret: 'not declared' } as Static<typeof thing>;
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/things',
    operationId: 'things_list',
    summary: 'List things',
    description: '254 numbers.',
    tags: ['things'],
    scope: 'project:read',
    query: Type.Object({
      ...offsetQuery,
      since: Type.Optional(Type.String({ format: 'date-time', description: 'since' })),
      text: Type.Optional(Type.String({ description: 'text' })),
    }),
    queryWithoutEffect: { color: 'Numbers have no color.' },
    refusedQuery: { shape: 'Things have no shape.' },
    responses: { 200: { description: 'A page.', schema: offsetPageSchema(Type.Integer({ title: 'Number' })) } },
    examples: { response: { count: 0, next: null, previous: null, results: [] } },
    handler: async ({ query, request }) => {
      record.last = query;
      const all = Array.from({ length: 254 }, (_, index) => index);
      return offsetPage(request, query, async ({ offset, limit }) => {
        if (query.text === 'fails' && offset > 50) throw new AppError('unavailable', 'The store is gone.');
        return { count: all.length, results: all.slice(offset, offset + Math.min(limit, 100)) };
      });
    },
  }),
  defineRoute({
    method: 'GET',
    path: '/api/things/:id',
    operationId: 'things_retrieve',
    summary: 'Read a thing',
    description: 'Fails in the way its id says.',
    tags: ['things'],
    scope: 'public',
    params: Type.Object({ id: Type.String({ pattern: '^[a-z-]+$', description: 'id' }) }),
    responses: { 200: { description: 'The thing.', schema: thingId } },
    examples: { response: { id: 'x' } },
    handler: async ({ params }) => {
      if (params.id === 'bug') throw new Error('password=hunter2', { cause: new Error('root cause') });
      if (params.id === 'busy') throw new AppError('unavailable', 'Come back.', { retryAfterSeconds: 1.2 });
      if (params.id === 'lie') return { id: 1 as unknown as string };
      if (params.id === 'known') throw new RangeError('translated');
      return params;
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/things/:id',
    operationId: 'things_destroy',
    summary: 'Remove a thing',
    description: 'Answers without a body.',
    tags: ['things'],
    scope: 'project:write',
    params: Type.Object({ id: Type.String({ description: 'id' }) }),
    responses: { 204: { description: 'Removed.' } },
    handler: async () => undefined,
  }),
  defineRoute({
    method: 'POST',
    path: '/api/things/:id/paint',
    operationId: 'things_paint',
    summary: 'Paint a thing',
    description:
      'Answers without a body unless asked for one; needs level 8 on the thing, which is the length of its id.',
    tags: ['things'],
    scope: 'project:write',
    level: membershipLevels.administrator,
    params: Type.Object({ id: Type.String({ description: 'id' }) }),
    body: Type.Object({ size: Type.Optional(Type.Integer()) }, { title: 'Paint' }),
    responses: { 200: { description: 'Painted.', schema: thing, onlyIfPreferred: true } },
    examples: { request: {}, response: { name: 'x' } },
    target: async ({ params }) => ({ level: params.id.length }),
    handler: async () => {
      record.calls += 1;
      return { name: 'blue' };
    },
  }),
  defineRoute({
    method: 'DELETE',
    path: '/api/things/:id/paint',
    operationId: 'things_paint_destroy',
    summary: 'Remove paint',
    description: 'Refused with an empty body.',
    tags: ['things'],
    scope: 'project:write',
    params: Type.Object({ id: Type.String({ description: 'id' }) }),
    responses: { 405: { description: 'Never.' } },
    handler: async () => undefined,
  }),
  defineRoute({
    method: 'GET',
    isUnsafe: true,
    path: '/api/things/:id/copy',
    operationId: 'things_copy',
    summary: 'Copy a thing',
    description: 'A GET that changes something.',
    tags: ['things'],
    scope: 'project:write',
    params: Type.Object({ id: Type.String({ description: 'id' }) }),
    responses: { 200: { description: 'The copy.', schema: thingId } },
    examples: { response: { id: 'x' } },
    handler: async ({ params }) => {
      record.calls += 1;
      return params;
    },
  }),
  defineRoute({
    method: 'POST',
    path: '/api/things/:id/copy',
    operationId: 'things_copy_refused',
    summary: 'Refuse to copy a thing',
    description: 'Refused with a body of its own.',
    tags: ['things'],
    scope: 'project:write',
    params: Type.Object({ id: Type.String({ description: 'id' }) }),
    responses: {
      400: {
        description: 'Always.',
        schema: Type.Object({ success: Type.Boolean({ description: 'Never.' }) }, { title: 'Refusal' }),
      },
    },
    examples: { response: { success: false } },
    handler: async () => ({ success: false }),
  }),
];
