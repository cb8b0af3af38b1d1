import { AppError } from '@millrace/errors';
import type { TObject } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { findEnvironmentForCaller } from './environment-store.ts';
import type { ItemDeps, ItemFamily } from './item-family.ts';

/** A project or an environment as its caller sees it now. @throws AppError `not_found` when it was removed meanwhile. */
export async function showItem<P extends TObject>(
  { sql, tokenSecret }: Pick<ItemDeps, 'sql' | 'tokenSecret'>,
  family: Pick<ItemFamily<P>, 'show'>,
  { caller, target }: { caller: Caller; target: AddressedProject },
): Promise<Record<string, unknown>> {
  const row = await findEnvironmentForCaller(sql, caller.userId, target.environmentId);
  if (!row) throw new AppError('not_found', 'Not found.');
  return family.show(row, { secret: tokenSecret(), now: new Date() });
}
