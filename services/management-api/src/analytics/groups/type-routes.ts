// Declares the routes that read and rename group types, and list the properties of their groups.

import { recordActivity } from '@millrace/accounts';
import type { Database, Sql, Transaction } from '@millrace/db';
import { formatDateTime, orNull } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { defineRoutes } from '../../access/define-route.ts';
import type { Searches } from '../../access/searches.ts';
import { countGroupProperties, maxGroupsCounted } from './store.ts';
import { type GroupTypeRow, listGroupTypes, lockGroupTypes, updateGroupType } from './type-store.ts';

const tags: [string] = ['groups'];
const path = '/groups_types';
const index = Type.Integer({ minimum: 0, maximum: 4, description: 'Index of the group type in the project, 0 to 4.' });

const groupType = Type.Object(
  {
    group_type: Type.String({ description: 'Name of the group type, as sent in events.' }),
    group_type_index: index,
    name_singular: orNull(Type.String(), 'Singular display name, for example `Company`.'),
    name_plural: orNull(Type.String(), 'Plural display name, for example `Companies`.'),
    detail_dashboard: Type.Null({ description: 'Always null.' }),
    default_columns: Type.Null({ description: 'Always null.' }),
    created_at: Type.String({ format: 'date-time', description: 'When the group type was first seen.' }),
  },
  { title: 'GroupType' },
);

const groupTypeExample = {
  group_type: 'company',
  group_type_index: 0,
  name_singular: 'Company',
  name_plural: 'Companies',
  detail_dashboard: null,
  default_columns: null,
  created_at: '2026-11-20T08:15:00Z',
};

const shownName = (description: string) => Type.Optional(orNull(Type.String({ maxLength: 400 }), description));

const groupTypeNames = Type.Object(
  {
    group_type_index: index,
    name_singular: shownName('Singular display name. If null, the group type name is displayed.'),
    name_plural: shownName('Plural display name. If null, the group type name is displayed.'),
    detail_dashboard: Type.Optional(
      orNull(Type.Integer(), 'Not supported: any value other than null is rejected with 400.'),
    ),
    default_columns: Type.Optional(
      orNull(
        Type.Array(Type.String()),
        'Not supported: any value other than null or an empty list is rejected with 400.',
      ),
    ),
  },
  { title: 'GroupTypeNames' },
);

export function groupTypeRoutes(deps: Pick<Database, 'sql' | 'transaction'> & { searches: Searches }) {
  return [...readRoutes(deps), ...writeRoutes(deps)];
}

function readRoutes({ sql, searches }: { sql: Sql; searches: Searches }) {
  const common = { method: 'GET', below: environmentBasePaths(sql), tags, scope: 'group:read' } as const;
  return [
    ...defineRoutes({
      ...common,
      path,
      operationId: 'groups_types_list',
      summary: 'List group types',
      description:
        'Returns the group types that have occurred in events, ordered by index. A project can have at most five group types.',
      responses: { 200: { description: 'The group types.', schema: Type.Array(groupType) } },
      examples: { response: [groupTypeExample] },
      handler: async ({ target: { environmentId } }) => (await listGroupTypes(sql, environmentId)).map(toGroupType),
    }),
    ...defineRoutes({
      ...common,
      path: '/groups/property_definitions',
      operationId: 'groups_property_definitions_retrieve',
      summary: 'Count group properties',
      description:
        'Returns the properties that the groups of each group type have, most frequent first, with the number of groups that have ' +
        'each property. The response is keyed by group type index. ' +
        `Counts at most ${maxGroupsCounted} groups of each type.`,
      responses: { 200: { description: 'The properties, by group type index.', schema: groupProperties } },
      examples: { response: { '0': [{ name: 'seats', count: 12 }] } },
      handler: async ({ caller, target }) => {
        const rows = await searches.run({ caller, target }, null, (on) =>
          countGroupProperties(on, target.environmentId),
        );
        const byType: Record<string, { name: string; count: number }[]> = {};
        for (const { group_type_index: type, ...property } of rows) {
          byType[type] ??= [];
          byType[type].push(property);
        }
        return byType;
      },
    }),
  ];
}

function writeRoutes({ sql, transaction }: Pick<Database, 'sql' | 'transaction'>) {
  const common = { below: environmentBasePaths(sql), tags, scope: 'group:write' } as const;
  return [
    ...defineRoutes({
      ...common,
      method: 'PATCH',
      path: `${path}/update_metadata`,
      operationId: 'groups_types_update_metadata_partial_update',
      summary: 'Rename group types',
      description:
        'Changes the display names of group types. Names that are not sent stay unchanged. Either all group types in the list are ' +
        'changed, or none.',
      body: Type.Array(groupTypeNames, { maxItems: 5, title: 'GroupTypeNamesList' }),
      responses: { 200: { description: 'All group types of the project.', schema: Type.Array(groupType) } },
      examples: {
        request: [{ group_type_index: 0, name_singular: 'Company', name_plural: 'Companies' }],
        response: [groupTypeExample],
      },
      handler: async ({ caller, target: place, body }) =>
        (await transaction((tx) => nameGroupTypes(tx, { caller, place }, body))).map(toGroupType),
    }),
    ...defineRoutes({
      ...common,
      method: 'DELETE',
      path: `${path}/:id`,
      operationId: 'groups_types_destroy',
      summary: 'Not supported: group types cannot be deleted',
      description: 'Group types are permanent, because events and feature flags refer to them by their index.',
      params: Type.Object({ id: Type.String({ description: 'Ignored.' }) }),
      responses: { 405: { description: 'Always returned. The response has no body.' } },
      handler: async () => undefined,
    }),
  ];
}

/** Renames a project's group types. @throws AppError `invalid` naming the field */
async function nameGroupTypes(
  tx: Transaction,
  { caller, place }: { caller: Caller; place: AddressedProject },
  names: Static<typeof groupTypeNames>[],
): Promise<GroupTypeRow[]> {
  const { environmentId, organizationId } = place;
  const types = new Map((await lockGroupTypes(tx, environmentId)).map((type) => [type.group_type_index, type]));
  for (const [at, { group_type_index, detail_dashboard, default_columns, ...sent }] of names.entries()) {
    const refuse = (field: string, detail: string) =>
      new AppError('invalid', detail, { code: 'invalid_input', attr: `${at}__${field}` });
    if (detail_dashboard)
      throw refuse(
        'detail_dashboard',
        'Dashboards for group types are not supported. Leave `detail_dashboard` out, or send null.',
      );
    if (default_columns && default_columns.length > 0) {
      throw refuse(
        'default_columns',
        'Default columns for group types are not supported. Leave `default_columns` out, or send null.',
      );
    }
    const before = types.get(group_type_index);
    if (before === undefined) throw refuse('group_type_index', 'The project has no group type with this index.');
    const after = { ...before, ...sent };
    types.set(group_type_index, after);
    await updateGroupType(tx, environmentId, after);
    await recordActivity(tx, {
      organizationId,
      environmentId,
      scope: 'GroupType',
      itemId: group_type_index,
      activity: 'updated',
      actor: { userId: caller.userId },
      name: before.group_type,
      change: { before: namesOf(before), after: namesOf(after) },
    });
  }
  return listGroupTypes(tx, environmentId);
}

const namesOf = ({ name_singular, name_plural }: GroupTypeRow) => ({ name_singular, name_plural });

const toGroupType = ({ group_type, group_type_index, created_at, ...names }: GroupTypeRow) => ({
  group_type,
  group_type_index,
  ...names,
  detail_dashboard: null,
  default_columns: null,
  created_at: formatDateTime(created_at),
});

const groupProperties = Type.Unsafe<Record<string, { name: string; count: number }[]>>({
  type: 'object',
  title: 'GroupPropertyCounts',
  additionalProperties: {
    type: 'array',
    items: Type.Object(
      {
        name: Type.String({ description: 'Name of the property.' }),
        count: Type.Integer({ description: 'Number of groups that have the property.' }),
      },
      { title: 'GroupPropertyCount' },
    ),
  },
});
