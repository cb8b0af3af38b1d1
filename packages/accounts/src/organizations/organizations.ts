/** Creates, changes and removes organizations, and sets their plans. */

import { randomBytes } from 'node:crypto';
import {
  isPlanName,
  listProductFeatures,
  type PlanLimits,
  type PlanName,
  type ProductFeature,
  planNames,
  readPlanLimits,
  toLimitFeatures,
} from '@millrace/contracts';
import type { Sql, Transaction } from '@millrace/db';
import { AppError } from '@millrace/runtime';
import { v7 as uuidv7 } from 'uuid';
import { type Actor, recordActivity } from '../activity/record-activity.ts';
import { checkName, invalidField, isUuid, notFound } from '../input.ts';
import {
  defaultOrganizationSettings,
  deleteOrganization,
  findOrganization,
  insertOrganization,
  lockOrganization,
  type Organization,
  type OrganizationSettings,
  selectOrganizations,
  settingNames,
  updateFeatures,
  updateOrganization,
} from './organization-store.ts';

type SettingChanges = { [Name in keyof OrganizationSettings]?: OrganizationSettings[Name] | undefined };

export interface NewOrganization {
  /** Name of the organization, with 1 to 64 characters. */
  name: string;
  /** The plan's features (see `listProductFeatures`). By default, none. */
  features?: readonly ProductFeature[];
  settings?: SettingChanges;
  actor: Actor;
}

/** @throws AppError `invalid` naming `name` */
export async function createOrganization(tx: Transaction, input: NewOrganization): Promise<Organization> {
  const created = await insertWithFreeSlug(tx, {
    id: uuidv7(),
    name: checkName('name', input.name, { maxLength: 64 }),
    features: input.features ?? [],
    settings: { ...defaultOrganizationSettings, ...given(input.settings ?? {}) },
  });
  await recordActivity(tx, {
    organizationId: created.id,
    scope: 'Organization',
    itemId: created.id,
    activity: 'created',
    actor: input.actor,
    name: created.name,
  });
  return created;
}

async function insertWithFreeSlug(
  tx: Transaction,
  row: Omit<Parameters<typeof insertOrganization>[1], 'slug'>,
): Promise<Organization> {
  for (const slug of slugCandidates(row.name)) {
    const created = await insertOrganization(tx, { ...row, slug });
    if (created) return created;
  }
  throw new AppError('unavailable', 'Could not find an unused slug for the organization. Try again.');
}

/** Lists all organizations or the organizations of one user, oldest first. */
export async function listOrganizations(sql: Sql, filter: { userId?: number } = {}): Promise<Organization[]> {
  return selectOrganizations(sql, filter.userId ?? null);
}

/** @throws AppError `not_found` */
export async function getOrganization(sql: Sql, organizationId: string): Promise<Organization> {
  const found = isUuid(organizationId) ? await findOrganization(sql, organizationId) : undefined;
  if (!found) throw notFound('Organization');
  return found;
}

export interface NewPlan {
  plan: PlanName;
  /** The plan's limits as integers from 0. Undefined leaves a limit unchanged. Null means unlimited. */
  limits?: Partial<PlanLimits>;
  actor: Actor;
}

/** Replaces the organization's plan. @throws AppError `invalid` naming `plan` or the limit, or `not_found`. */
export async function setOrganizationPlan(
  tx: Transaction,
  organizationId: string,
  { plan, limits = {}, actor }: NewPlan,
): Promise<Organization> {
  if (!isPlanName(plan)) {
    throw invalidField('plan', 'invalid_choice', `"${plan}" is not a valid choice: ${planNames.join(', ')}.`);
  }
  for (const [name, limit] of Object.entries(limits)) {
    if (limit !== null && !(Number.isSafeInteger(limit) && limit >= 0)) {
      throw invalidField(name, 'invalid_input', 'A valid integer is required.');
    }
  }
  const { available_product_features: before } = await lockOrganization(tx, organizationId);
  const features = [...listProductFeatures(plan), ...toLimitFeatures({ ...readPlanLimits(before), ...limits })];
  const changed = await updateFeatures(tx, organizationId, features);
  if (!changed) throw notFound('Organization');
  await recordActivity(tx, {
    organizationId,
    scope: 'Organization',
    itemId: organizationId,
    activity: 'updated',
    actor,
    name: changed.name,
    change: {
      before: { available_product_features: before },
      after: { available_product_features: changed.available_product_features },
    },
  });
  return changed;
}

function given<Fields extends object>(fields: Fields): { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as never;
}

interface OrganizationChange {
  organizationId: string;
  /** The settings to change. Undefined fields remain unchanged. */
  changes: SettingChanges & {
    name?: string | undefined;
  };
  actor: Actor;
}

/** Changes an organization's settings. @throws AppError `invalid` naming `name`, or `not_found`. */
export async function changeOrganization(
  tx: Transaction,
  { organizationId, changes, actor }: OrganizationChange,
): Promise<Organization> {
  const { name, ...settings } = await lockOrganization(tx, organizationId);
  const before = {
    name,
    ...(Object.fromEntries(settingNames.map((one) => [one, settings[one]])) as unknown as OrganizationSettings),
  };
  const after = { ...before, ...given(changes) };
  if (changes.name !== undefined) after.name = checkName('name', changes.name, { maxLength: 64 });
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
 * Removes an organization and everything that belongs to it. The data of its environments is removed later, in the
 * background.
 * @returns the name of the organization
 * @throws AppError `not_found`
 */
export async function removeOrganization(
  tx: Transaction,
  { organizationId, actor }: { organizationId: string; actor: Actor },
): Promise<{ name: string }> {
  const { name } = await lockOrganization(tx, organizationId);
  await deleteOrganization(tx, organizationId);
  await recordActivity(tx, {
    organizationId,
    scope: 'Organization',
    itemId: organizationId,
    activity: 'deleted',
    actor,
    name,
  });
  return { name };
}

const maxLength = 48;
const letters = 'abcdefghijklmnopqrstuvwxyz';

/** Number of random suffixes to try before creation fails. */
const attempts = 10;

/**
 * Generates candidates for an organization's slug. The first is the name in lower-case letters, digits and hyphens.
 * Each further candidate is the truncated name with four random letters from a to z (docs/api/organizations.md).
 */
function* slugCandidates(name: string): Generator<string> {
  const slug = slugify(name);
  if (slug !== '') yield slug;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    yield [slug.slice(0, maxLength - 5).replace(/-+$/, ''), randomLetters()].filter(Boolean).join('-');
  }
}

/**
 * Converts a name to lower-case letters, digits and hyphens. Removes accents. Omits characters of other scripts,
 * because they would not be readable in URLs.
 */
function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '');
}

function randomLetters(): string {
  return Array.from(randomBytes(4), (byte) => letters[byte % letters.length]).join('');
}
