import { freeFormObject, openApiDocument, type Route } from '@millrace/http';
import type { Caller } from '../../access/caller.ts';
import { defineRoute } from '../../access/define-route.ts';

const description = {
  title: 'Millrace management API',
  version: '0.1.0',
  description:
    'Organizations, projects and what was stored for them. Every request carries `Authorization: Bearer <personal API key>`; every path works with and without its trailing slash. A query parameter that is not listed is refused with 400 by its name, except `format=json`. Lists end a page early when its bytes reach a limit: follow `next`.',
  contact: { name: 'Millrace' },
  tags: {
    batch_exports: 'What is copied to an object storage or a database at regular times.',
    cohorts: 'Sets of persons, by filters or listed one by one.',
    definitions: 'The names of events and properties that were stored.',
    domains: 'Verified domains of an organization.',
    'early access features': 'Features that persons can enrol in.',
    environments: 'The environments of a project, with their settings and keys.',
    events: 'The events of a project.',
    feature_flags: 'Flags, who gets them, and what became of them.',
    groups: 'The groups that events belong to.',
    'ingestion warnings': 'What was wrong with events that were sent.',
    invites: 'Invitations to an organization.',
    members: 'Who belongs to an organization.',
    organizations: 'Organizations.',
    'personal API keys': 'The keys with which this API is asked.',
    persons: 'The persons of a project.',
    projects: 'Projects, with the settings and keys of their first environment.',
    schema: 'This document.',
    subscriptions: 'Reports that are sent at regular times.',
    users: 'The account of the caller.',
  },
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
