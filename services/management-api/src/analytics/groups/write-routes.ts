// Declares the routes that create and change groups. The event consumer stores groups, so the API sends each change as
// an event, as an SDK would do.

import { cutToCodePoints, eventNames } from '@millrace/contracts';
import { formatDateTime, freeFormObject, orNull } from '@millrace/http';
import { AppError } from '@millrace/runtime';
import { Type } from 'typebox';
import { environmentBasePaths } from '../../access/addressed-project.ts';
import { defineRoutes } from '../../access/define-route.ts';
import { type GatewayDeps, sendEvent } from '../send-event/send-event.ts';
import { group, groupAddress, groupExample } from './routes.ts';
import { type GroupKey, readGroup } from './store.ts';
import { listGroupTypes } from './type-store.ts';

const howItIsDone =
  'Sends a `$groupidentify` event to the ingest gateway (`INGEST_URL`). The change is visible as soon as the event has been ' +
  'processed, usually within seconds.';

const newGroup = Type.Object(
  {
    group_type_index: groupAddress.properties.group_type_index,
    group_key: Type.String({
      minLength: 1,
      maxLength: 400,
      description: 'Key of the group, unique within its group type.',
    }),
    group_properties: Type.Optional(
      orNull(freeFormObject(), 'Properties of the group. Null is treated as an empty object.'),
    ),
  },
  { title: 'GroupToCreate' },
);

export function groupWriteRoutes(deps: GatewayDeps) {
  const { sql } = deps;
  const common = {
    method: 'POST',
    below: environmentBasePaths(sql),
    tags: ['groups'] as [string],
    scope: 'group:write',
  } as const;

  /** Sends the event that creates or changes a group. @throws AppError `invalid` naming `group_type_index` */
  async function identify(
    environmentId: number,
    { group_type_index: index, group_key: key }: GroupKey,
    properties: Record<string, unknown>,
  ): Promise<string> {
    const type = (await listGroupTypes(sql, environmentId)).find((known) => known.group_type_index === index);
    if (type === undefined) {
      const detail = 'The project has no group type with this index.';
      throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'group_type_index' });
    }
    await sendEvent(deps, environmentId, {
      event: eventNames.groupIdentify,
      // Server SDKs use the same distinct ID. `$process_person_profile` prevents the event from creating a person.
      distinct_id: cutToCodePoints(`$${type.group_type}_${key}`, 200),
      properties: {
        $group_type: type.group_type,
        $group_key: key,
        $group_set: properties,
        $process_person_profile: false,
      },
    });
    return type.group_type;
  }

  return [
    ...defineRoutes({
      ...common,
      path: '/groups',
      operationId: 'groups_create',
      summary: 'Create a group',
      description: howItIsDone,
      body: newGroup,
      responses: { 201: { description: 'The group as it will be once the event has been processed.', schema: group } },
      examples: {
        request: { group_type_index: 0, group_key: 'acme', group_properties: groupExample.group_properties },
        response: groupExample,
      },
      handler: async ({ target: { environmentId }, body: { group_properties: properties, ...key } }) => {
        if ((await readGroup(sql, environmentId, key)) !== undefined) {
          const detail = 'A group with this key already exists';
          throw new AppError('invalid', detail, { code: 'invalid_input', attr: 'group_key' });
        }
        const type = await identify(environmentId, key, properties ?? {});
        const createdAt = formatDateTime(new Date());
        return { group_type: type, ...key, group_properties: properties ?? {}, created_at: createdAt };
      },
    }),
    ...defineRoutes({
      ...common,
      path: '/groups/update_property',
      operationId: 'groups_update_property_create',
      summary: 'Set a group property',
      description: howItIsDone,
      query: groupAddress,
      body: Type.Object(
        {
          key: Type.String({ minLength: 1, maxLength: 400, description: 'Name of the property.' }),
          value: Type.Unknown({ description: 'New value of the property.' }),
        },
        { title: 'GroupProperty' },
      ),
      responses: { 200: { description: 'The group as it will be once the event has been processed.', schema: group } },
      examples: { request: { key: 'seats', value: 12 }, response: groupExample },
      handler: async ({ target: { environmentId }, query, body: { key, value } }) => {
        const row = query.group_key.includes('\u0000') ? undefined : await readGroup(sql, environmentId, query);
        if (row === undefined) throw new AppError('not_found', 'Not found.');
        await identify(environmentId, row, { [key]: value });
        const properties = { ...row.group_properties, [key]: value };
        return { ...row, group_properties: properties, created_at: formatDateTime(row.created_at) };
      },
    }),
  ];
}
