import type { Transaction } from '@millrace/db';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { checkText } from '../input/account-input.ts';
import { lockOrganization } from './lock-organization-store.ts';
import { deleteOrganization, listTokens, type Organization, updateOrganization } from './organization-store.ts';

export interface OrganizationChange {
  organizationId: string;
  /** Absent = as it was. */
  changes: {
    /** 1 to 64 characters. */
    name?: string | undefined;
    is_member_join_email_enabled?: boolean | undefined;
    enforce_2fa?: boolean | null | undefined;
  };
  actor: Actor;
}

/** Changes the given settings of an organization. @throws AppError `invalid` naming `name`, or `not_found`. */
export async function changeOrganization(
  tx: Transaction,
  { organizationId, changes, actor }: OrganizationChange,
): Promise<Organization> {
  const given = Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined));
  if (changes.name !== undefined) given.name = checkText('name', changes.name, { maxLength: 64 });
  const { name, is_member_join_email_enabled, enforce_2fa } = await lockOrganization(tx, organizationId);
  const before = { name, is_member_join_email_enabled, enforce_2fa };
  const after = { ...before, ...given };
  const changed = await updateOrganization(tx, organizationId, after);
  await recordActivity(tx, {
    organizationId,
    scope: 'Organization',
    itemId: organizationId,
    activity: 'updated',
    actor,
    name: after.name,
    change: { before, after },
  });
  return changed;
}

/**
 * Removes an organization with all that belongs to it. The data of its environments is removed later, in the background.
 *
 * @returns its name, and the project API keys that are no keys any more.
 * @throws AppError `not_found`.
 */
export async function removeOrganization(
  tx: Transaction,
  { organizationId, actor }: { organizationId: string; actor: Actor },
): Promise<{ name: string; tokens: string[] }> {
  // Behind the lock no project is made whose key would not be among them.
  const { name } = await lockOrganization(tx, organizationId);
  const tokens = await listTokens(tx, organizationId);
  await deleteOrganization(tx, organizationId);
  await recordActivity(tx, {
    organizationId,
    scope: 'Organization',
    itemId: organizationId,
    activity: 'deleted',
    actor,
    name,
  });
  return { name, tokens };
}
