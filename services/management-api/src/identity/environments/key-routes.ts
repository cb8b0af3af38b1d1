// Declares the routes for an environment's secret keys (docs/api/projects.md#secret-keys) and for the API key that SDKs
// send with events. Project routes change the keys of the project's first environment.

import { resetProjectToken } from '@millrace/accounts';
import { membershipLevels } from '@millrace/contracts';
import type { Database } from '@millrace/db';
import type { TObject } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import { type BasePath, defineRoutes } from '../../access/define-route.ts';
import { secretKeyMasks, withSecretKeys } from './schema.ts';
import { deleteBackupKey, listSecretKeys, rotateSecretKey } from './secret-keys.ts';
import type { ShowRecord } from './show.ts';

export interface RecordDescription {
  tags: [string];
  noun: 'project' | 'environment';
  title: 'Project' | 'Environment';
  schema: TObject;
  example: Record<string, unknown>;
}

export function keyRoutes(
  { sql, transaction }: Pick<Database, 'sql' | 'transaction'>,
  { tags, noun, title, schema, example }: RecordDescription,
  { below, show }: { below: BasePath<AddressedProject>[]; show: ShowRecord },
) {
  const shown = { description: `The ${noun}.`, schema };
  const shownWithSecretKeys = {
    description: `The ${noun} with its secret keys.`,
    schema: withSecretKeys(schema, `${title}WithSecretKeys`),
  };
  return [
    ...defineRoutes({
      method: 'PATCH',
      below,
      path: '/reset_token',
      operationId: 'reset_token',
      summary: 'Replace the project API key',
      description: 'Creates a new project API key. From then on, events sent with the old key are rejected.',
      tags,
      scope: 'project:write',
      isSensitive: true,
      level: membershipLevels.administrator,
      responses: { 200: shown },
      examples: { response: example },
      handler: async (context) => {
        const { caller, target } = context;
        await transaction((tx) => resetProjectToken(tx, { environmentId: target.environmentId, actor: caller }));
        return show(context);
      },
    }),
    ...defineRoutes({
      method: 'GET',
      below,
      path: '/secret_tokens',
      operationId: 'secret_tokens',
      summary: 'List the secret keys',
      description: 'Returns the masked secret keys. The full key is returned only once, when it is created.',
      tags,
      scope: 'project:read',
      responses: { 200: { description: 'The masked secret keys.', schema: secretKeyMasks } },
      examples: { response: { secret_api_token: 'phs_...1234', secret_api_token_backup: null } },
      handler: ({ target }) => listSecretKeys(sql, target.environmentId),
    }),
    ...defineRoutes({
      method: 'PATCH',
      below,
      path: '/rotate_secret_token',
      operationId: 'rotate_secret_token',
      summary: 'Create or rotate the secret key',
      description:
        'Creates a new secret key and returns it. The key is not returned again. The previous key stays valid as a backup, and an older backup stops working.',
      tags,
      scope: 'project:write',
      isSensitive: true,
      level: membershipLevels.administrator,
      responses: { 200: shownWithSecretKeys },
      examples: {
        response: {
          ...example,
          secret_api_token: `phs_${'example'.repeat(6)}`,
          secret_api_token_backup: 'phs_...1234',
        },
      },
      handler: async (context) => {
        const keys = await transaction((tx) => rotateSecretKey(tx, context));
        return { ...(await show(context)), ...keys };
      },
    }),
    ...defineRoutes({
      method: 'PATCH',
      below,
      path: '/delete_secret_token_backup',
      operationId: 'delete_secret_token_backup',
      summary: 'Delete the backup secret key',
      description: 'Revokes the previous secret key. If no backup key exists, nothing changes.',
      tags,
      scope: 'project:write',
      isSensitive: true,
      level: membershipLevels.administrator,
      responses: { 200: shownWithSecretKeys },
      examples: { response: { ...example, secret_api_token: 'phs_...1234', secret_api_token_backup: null } },
      handler: async (context) => {
        await transaction((tx) => deleteBackupKey(tx, context));
        return { ...(await show(context)), ...(await listSecretKeys(sql, context.target.environmentId)) };
      },
    }),
  ];
}
