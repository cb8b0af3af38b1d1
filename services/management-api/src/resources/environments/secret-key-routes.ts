import {
  listProjectSecretKeys,
  type ProjectSecretKey,
  revokeProjectSecretKeys,
  rollProjectSecretKey,
} from '@millrace/accounts';
import type { TObject } from 'typebox';
import { defineRoute } from '../../access/define-route.ts';
import type { ItemDeps, ItemFamily } from './item-family.ts';
import type { SecretFields } from './secret-key-schema.ts';
import { showItem } from './show-item.ts';

/**
 * Secret keys (`phs_…`), with which servers read flag definitions (docs/api-rules.md#secret-keys): made and rolled, and the
 * former one taken away. The rules are those of the command line (packages/accounts).
 */
export function secretKeyRoutes<P extends TObject>(deps: ItemDeps, family: ItemFamily<P>) {
  const { kind, path, prefix, params, target, schemaWithSecretKeys, example } = family;
  const common = {
    method: 'PATCH',
    tags: [`${kind}s`] as [string],
    scope: 'project:write',
    level: 8,
    params,
    responses: { 200: { description: `The ${kind}, with its secret keys.`, schema: schemaWithSecretKeys } },
    target,
  } as const;

  return [
    defineRoute({
      ...common,
      path: `${path}/rotate_secret_token`,
      operationId: `${prefix}_rotate_secret_token`,
      summary: 'Make or replace the secret key',
      description:
        'Gives out a new secret key, shown once. The former one stays valid as the backup; an older backup stops working.',
      examples: {
        response: {
          ...example,
          secret_api_token: `phs_${'example'.repeat(6)}`,
          secret_api_token_backup: 'phs_...1234',
        },
      },
      handler: async ({ caller, target: found }) => {
        const { environmentId } = found;
        const { keys, value } = await deps.transaction((tx) =>
          rollProjectSecretKey(tx, { environmentId, actor: caller }),
        );
        const shown = await showItem(deps, family, { caller, target: found });
        return { ...shown, ...toSecretFields(keys), secret_api_token: value };
      },
    }),
    defineRoute({
      ...common,
      path: `${path}/delete_secret_token_backup`,
      operationId: `${prefix}_delete_secret_token_backup`,
      summary: 'Remove the former secret key',
      description: 'The former secret key stops working. Without one nothing happens.',
      examples: { response: { ...example, secret_api_token: 'phs_...1234', secret_api_token_backup: null } },
      handler: async ({ caller, target: found }) => {
        const { environmentId } = found;
        await deps.transaction((tx) =>
          revokeProjectSecretKeys(tx, { environmentId, slots: ['backup'], actor: caller }),
        );
        const shown = await showItem(deps, family, { caller, target: found });
        return { ...shown, ...toSecretFields(await listProjectSecretKeys(deps.sql, environmentId)) };
      },
    }),
  ];
}

function toSecretFields(keys: readonly ProjectSecretKey[]): SecretFields {
  const maskOf = (slot: ProjectSecretKey['slot']) => keys.find((key) => key.slot === slot)?.mask_value ?? null;
  return { secret_api_token: maskOf('primary'), secret_api_token_backup: maskOf('backup') };
}
