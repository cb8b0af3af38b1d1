// Request and response schemas for annotations. An annotation is a note about a point in time, and is shown in charts.

import { formatDateTime, offsetQuery, orNull } from '@millrace/http';
import { Type } from 'typebox';
import { embeddedUser, embeddedUserExample } from '../../identity/embedded-users/embedded-user.ts';
import { longestNeedle } from '../../sql/longest-needle.ts';
import { type AnnotationRow, type AnnotationScope, annotationScopes } from './store.ts';

export const annotationsPath = '/annotations';
export const annotationTags: [string] = ['annotations'];

const largestId = 2_147_483_647;
const recordId = Type.Integer({ minimum: 1, maximum: largestId });
const scope = (description: string) =>
  Type.Unsafe<AnnotationScope>({ type: 'string', enum: [...annotationScopes], description });

const fields = {
  content: orNull(Type.String({ maxLength: 8192 }), 'Text of the annotation, at most 8,192 characters.'),
  date_marker: orNull(Type.String({ format: 'date-time' }), 'The point in time that the annotation marks.'),
  creation_type: Type.Unsafe<'USR' | 'GIT'>({
    type: 'string',
    enum: ['USR', 'GIT'],
    description: '`USR` if a user created the annotation, `GIT` if a deployment did.',
  }),
  emoji: orNull(Type.String({ maxLength: 16 }), 'Emoji shown with the annotation. An empty string is stored as null.'),
  hidden_in_user_interface: orNull(Type.Boolean(), 'Whether the annotation is hidden in charts.'),
  deleted: Type.Boolean({
    description: 'Whether the annotation is deleted. Set it to false to restore the annotation.',
  }),
  dashboard_item: orNull(recordId, 'ID of the insight that the annotation is attached to.'),
  dashboard_id: orNull(recordId, 'ID of the dashboard that the annotation is attached to.'),
};

export const annotation = Type.Object(
  {
    id: Type.Integer({ description: 'ID of the annotation.' }),
    ...fields,
    scope: scope(
      'Where the annotation is shown: on one insight, on one dashboard, in the project, or in all projects of the organization.',
    ),
    insight_short_id: orNull(Type.String(), 'Short ID of the insight. Null unless you have the scope `insight:read`.'),
    insight_name: orNull(Type.String(), 'Name of the insight. Null unless you have the scope `insight:read`.'),
    insight_derived_name: orNull(
      Type.String(),
      "Name generated from the insight's query. Null unless you have the scope `insight:read`.",
    ),
    dashboard_name: orNull(Type.String(), 'Name of the dashboard. Null unless you have the scope `dashboard:read`.'),
    created_by: orNull(embeddedUser, 'User who created the annotation, or null if that user was deleted.'),
    created_at: Type.String({ format: 'date-time', description: 'When the annotation was created.' }),
    updated_at: Type.String({ format: 'date-time', description: 'When the annotation was last changed.' }),
  },
  { title: 'Annotation' },
);

export const annotationChanges = Type.Object(
  {
    content: Type.Optional(fields.content),
    date_marker: Type.Optional(fields.date_marker),
    // Any string is accepted here. `parseScope` validates it, and has a separate error message for PostHog's former
    // scope.
    scope: Type.Optional(
      Type.String({
        description: `One of ${annotationScopes.map((name) => `\`${name}\``).join(', ')}. Defaults to \`dashboard_item\`.`,
      }),
    ),
    dashboard_item: Type.Optional(fields.dashboard_item),
    dashboard_id: Type.Optional(fields.dashboard_id),
    creation_type: Type.Optional(fields.creation_type),
    emoji: Type.Optional(fields.emoji),
    hidden_in_user_interface: Type.Optional(fields.hidden_in_user_interface),
    deleted: Type.Optional(fields.deleted),
  },
  { title: 'AnnotationChanges' },
);

export const annotationParams = Type.Object({
  id: Type.Integer({ minimum: 1, maximum: largestId, description: 'ID of the annotation.' }),
});

export const annotationListQuery = Type.Object({
  ...offsetQuery,
  limit: Type.Integer({
    default: 1000,
    minimum: 1,
    maximum: 10_000,
    'x-lenient': true,
    description: 'Number of annotations per page. Defaults to 1000; the maximum is 10000.',
  }),
  scope: Type.Optional(
    Type.Unsafe<AnnotationScope | 'insight'>({
      type: 'string',
      enum: [...annotationScopes, 'insight'],
      description: 'Only annotations with this scope. `insight` is accepted as an alias for `dashboard_item`.',
    }),
  ),
  search: Type.Optional(
    Type.String({
      maxLength: longestNeedle,
      description: 'Only annotations whose text contains this string, ignoring case.',
    }),
  ),
  date_from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only annotations that mark a time at or after this one.' }),
  ),
  date_to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only annotations that mark a time at or before this one.' }),
  ),
  hidden_in_user_interface: Type.Optional(
    Type.Boolean({
      description:
        'If true, only annotations that are hidden in charts. If false, only annotations that are shown in charts.',
    }),
  ),
});

export const newAnnotationExample = {
  content: 'Released the new checkout',
  date_marker: '2026-11-20T09:00:00Z',
  scope: 'project' as const,
};

export const annotationExample = {
  id: 1,
  ...newAnnotationExample,
  creation_type: 'USR' as const,
  emoji: null,
  hidden_in_user_interface: null,
  deleted: false,
  dashboard_item: null,
  dashboard_id: null,
  insight_short_id: null,
  insight_name: null,
  insight_derived_name: null,
  dashboard_name: null,
  created_by: embeddedUserExample,
  created_at: '2026-11-20T09:12:00Z',
  updated_at: '2026-11-20T09:12:00Z',
};

/** Converts a row to an API response. Omits the names of insights or dashboards if `sees` is false for them. */
export function toAnnotation(row: AnnotationRow, sees: { insights: boolean; dashboards: boolean }) {
  return {
    id: row.id,
    content: row.content,
    date_marker: row.date_marker && formatDateTime(row.date_marker),
    creation_type: row.creation_type,
    emoji: row.emoji,
    hidden_in_user_interface: row.hidden_in_user_interface,
    deleted: row.deleted,
    dashboard_item: row.dashboard_item,
    dashboard_id: row.dashboard_id,
    scope: row.scope,
    insight_short_id: sees.insights ? row.insight_short_id : null,
    insight_name: sees.insights ? row.insight_name : null,
    insight_derived_name: sees.insights ? row.insight_derived_name : null,
    dashboard_name: sees.dashboards ? row.dashboard_name : null,
    created_by: row.created_by,
    created_at: formatDateTime(row.created_at),
    updated_at: formatDateTime(row.updated_at),
  };
}
