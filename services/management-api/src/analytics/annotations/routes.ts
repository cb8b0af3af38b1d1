import { includesScope } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import { offsetPage, offsetPageSchema } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import {
  annotation,
  annotationChanges,
  annotationExample,
  annotationListQuery,
  annotationParams,
  annotationsPath,
  newAnnotationExample,
  annotationTags as tags,
  toAnnotation,
} from './schema.ts';
import { findAnnotation, listAnnotations } from './store.ts';
import { changeAnnotation, createAnnotation } from './write.ts';

const seenBy = ({ scopes }: Caller) => ({
  insights: includesScope(scopes, 'insight:read'),
  dashboards: includesScope(scopes, 'dashboard:read'),
});

/**
 * Declares the routes of annotations. An annotation is a note about a point in time, such as a release
 * (docs/api/annotations.md).
 */
export function annotationRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const below = environmentBasePaths(sql);
  return [
    ...defineRoutes({
      method: 'GET',
      below,
      path: annotationsPath,
      operationId: 'annotations_list',
      summary: 'List annotations',
      description:
        "Returns the project's annotations and the organization-wide annotations, sorted by `date_marker`, " +
        'latest first. Deleted annotations and annotations on deleted insights or dashboards are left out.',
      tags,
      scope: 'annotation:read',
      query: annotationListQuery,
      responses: { 200: { description: 'One page of annotations.', schema: offsetPageSchema(annotation) } },
      examples: { response: { count: 1, next: null, previous: null, results: [annotationExample] } },
      handler: async ({ caller, target, query, request }) => {
        const { date_from: from, date_to: to } = query;
        if (from && to && Date.parse(from) > Date.parse(to)) {
          throw new AppError('invalid', '`date_from` must not be after `date_to`.', {
            code: 'invalid_input',
            attr: 'date_from',
          });
        }
        const { scope, limit, offset, ...others } = query;
        const filter = { ...others, ...(scope && { scope: scope === 'insight' ? 'dashboard_item' : scope }) };
        return offsetPage(request, { limit, offset }, async (window) => {
          const { count, rows } = await listAnnotations(sql, target, { ...window, filter });
          return { count, results: rows.map((row) => toAnnotation(row, seenBy(caller))) };
        });
      },
    }),
    ...defineRoutes({
      method: 'POST',
      below,
      path: annotationsPath,
      operationId: 'annotations_create',
      summary: 'Create an annotation',
      description:
        'Creates an annotation. To attach it to an insight or a dashboard, you need the scope to read that insight or ' +
        'dashboard.',
      tags,
      scope: 'annotation:write',
      body: annotationChanges,
      responses: { 201: { description: 'The new annotation.', schema: annotation } },
      examples: { request: newAnnotationExample, response: annotationExample },
      handler: async ({ caller, target: place, body }) =>
        toAnnotation(await transaction((tx) => createAnnotation(tx, { caller, place }, body)), seenBy(caller)),
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: `${annotationsPath}/:id`,
      operationId: 'annotations_retrieve',
      summary: 'Show an annotation',
      description: 'Returns one annotation, including a deleted one.',
      tags,
      scope: 'annotation:read',
      params: annotationParams,
      responses: { 200: { description: 'The annotation.', schema: annotation } },
      examples: { response: annotationExample },
      handler: async ({ caller, target, params: { id } }) => {
        const row = await findAnnotation(sql, target, id);
        if (!row) throw new AppError('not_found', 'Not found.');
        return toAnnotation(row, seenBy(caller));
      },
    }),
    ...(['PATCH', 'PUT'] as const).flatMap((method) =>
      defineRoutes({
        method,
        below,
        path: `${annotationsPath}/:id`,
        operationId: `annotations_${method === 'PUT' ? 'update' : 'partial_update'}`,
        summary: method === 'PUT' ? 'Replace an annotation' : 'Change or delete an annotation',
        description:
          'Changes the fields that are sent. `deleted: true` deletes the annotation, and `deleted: false` restores it. An ' +
          'organization-wide annotation can only be changed in the project where it was created.',
        tags,
        scope: 'annotation:write',
        params: annotationParams,
        body: annotationChanges,
        responses: { 200: { description: 'The updated annotation.', schema: annotation } },
        examples: {
          request: method === 'PUT' ? newAnnotationExample : { deleted: true },
          response: method === 'PUT' ? annotationExample : { ...annotationExample, deleted: true },
        },
        handler: async ({ caller, target: place, params: { id }, body: changes }) => {
          const changed = await transaction((tx) => changeAnnotation(tx, { caller, place }, { id, changes }));
          return toAnnotation(changed, seenBy(caller));
        },
      }),
    ),
    ...defineRoutes({
      method: 'DELETE',
      below,
      path: `${annotationsPath}/:id`,
      operationId: 'annotations_destroy',
      summary: 'Not supported. To delete, send PATCH with `deleted: true`',
      description: 'Annotations cannot be deleted permanently. Send a PATCH request with `deleted: true` instead.',
      tags,
      scope: 'annotation:write',
      params: Type.Object({ id: Type.String({ description: 'Ignored.' }) }),
      responses: { 405: { description: 'Always returned. The response has no body.' } },
      handler: async () => undefined,
    }),
  ];
}
