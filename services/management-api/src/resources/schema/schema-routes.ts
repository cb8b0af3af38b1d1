import { freeFormObject, openApiDocument, type Route } from '@millrace/http';
import type { Caller } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';

const description = {
  title: 'Millrace management API',
  version: '0.1.0',
  description:
    'Organizations, projects and what was stored for them. Every request carries `Authorization: Bearer <personal API key>`; every path works with and without its trailing slash. A query parameter that is not listed is refused with 400 by its name, except `format=json`. Lists end a page early when its bytes reach a limit: follow `next`.',
};

/** Serves the OpenAPI document of the other routes and of itself. */
export function schemaRoutes(others: readonly Route<Caller>[]): Route<Caller>[] {
  const route: Route<Caller> = defineRoute({
    method: 'GET',
    path: '/api/schema',
    operationId: 'schema_retrieve',
    summary: 'Read this document',
    description: 'The OpenAPI 3.1 document of the management API.',
    tags: ['schema'],
    scope: 'public',
    responses: {
      200: {
        description: 'The document.',
        schema: freeFormObject({ description: 'An OpenAPI 3.1 document.' }),
      },
    },
    examples: { response: { openapi: '3.1.0' } },
    handler: async () => document,
  });
  const document: Record<string, unknown> = openApiDocument([...others, route], description);
  return [route];
}
