// Copies a feature flag, with the cohorts in its conditions, to other projects in the organization.

import { findEnvironment } from '@millrace/accounts/access';
import { isObject } from '@millrace/contracts';
import type { Database, Transaction } from '@millrace/db';
import { readCohortFilterId, validatePatterns } from '@millrace/flags';
import { runInTimeSlices } from '@millrace/flags/store';
import { AppError, isAppError } from '@millrace/runtime';
import { type Static, Type } from 'typebox';
import type { AddressedProject } from '../../../access/addressed-store.ts';
import type { Caller } from '../../../access/caller.ts';
import { requireReferencedRecords } from '../../../access/named-records.ts';
import { hasRecordLevel, readRecordRights, requireRecord, toRecordName } from '../../../access/record-rights.ts';
import { requireScope } from '../../../access/require-scope.ts';
import { type CohortRow, findCohort, findReferencedCohorts } from '../../../analytics/cohorts/store.ts';
import { createCohort } from '../../../analytics/cohorts/write.ts';
import { findCohortIdByName, findFlagIdsByKey, findLiveFlags } from '../changes/reference-store.ts';
import type { NewFlag } from '../changes/rules.ts';
import { changeFlag, createFlag, type FlagWriter } from '../changes/write.ts';
import { type FlagFilters, findCohortIds, findFlagIds, replaceReferences } from '../filters/filters.ts';
import { decryptFilters, type PayloadSecrets } from '../payloads.ts';
import { featureFlag, featureFlagExample } from '../schema.ts';
import { showFlag } from '../show.ts';
import { type FlagRow, findFlagByKey } from '../store.ts';

interface CopyDeps extends Pick<Database, 'sql' | 'transaction'> {
  secrets: PayloadSecrets;
}

interface Copier {
  caller: Caller;
  organizationId: string;
}

/**
 * Copies a flag to other environments of the organization, in one transaction per environment.
 * @throws AppError `invalid`
 */
export async function copyFlag(deps: CopyDeps, copier: Copier, { key, from, to }: FlagCopy) {
  const source = await findTarget(deps, copier, from);
  const flag = source && (await findFlagByKey(deps.sql, source.environmentId, key));
  const isSeen = flag && hasRecordLevel(source.rights, 'feature_flag', 'viewer', toRecordName(flag));
  if (!isSeen) throw new AppError('invalid', 'Feature flag to copy does not exist.', { code: 'invalid_input' });
  const tried = await runInTimeSlices(validatePatterns(flag.filters));
  const success: Awaited<ReturnType<typeof showFlag>>[] = [];
  const failed: { project_id: number; errors: string }[] = [];
  for (const projectId of to) {
    const target = await findTarget(deps, copier, projectId);
    try {
      if (!target) throw new AppError('not_found', 'Project not found.');
      const copy = await deps.transaction((tx) =>
        copyTo(tx, flag, { source, target, caller: copier.caller, secrets: deps.secrets, tried }),
      );
      success.push(await showFlag(deps.sql, copy, { secrets: deps.secrets, rights: target.rights }));
    } catch (error) {
      if (!isAppError(error) || error.kind === 'internal' || error.kind === 'unavailable') throw error;
      failed.push({ project_id: projectId, errors: error.message });
    }
  }
  return { success, failed };
}

async function findTarget({ sql }: CopyDeps, { caller, organizationId }: Copier, id: number) {
  const found = await findEnvironment(sql, caller.userId, id);
  if (!found || found.level === null || found.organizationId !== organizationId) return undefined;
  const { level } = found;
  return { ...found, level, rights: await readRecordRights(sql, caller.userId, { ...found, level }) };
}

/** Filters that belong to the flag's own early access feature, and are not copied. */
const ofEarlyAccess = ['super_groups', 'feature_enrollment'];

async function copyTo(
  tx: Transaction,
  flag: FlagRow,
  {
    source,
    target,
    caller,
    ...kept
  }: { source: AddressedProject; target: AddressedProject; caller: Caller } & Pick<FlagWriter, 'secrets' | 'tried'>,
): Promise<FlagRow> {
  const { environmentId, organizationId } = target;
  const writer: FlagWriter = { userId: caller.userId, organizationId, environmentId, rights: target.rights, ...kept };
  const opened = decryptFilters(flag, kept.secrets) as FlagFilters;
  await requireReferencedRecords(tx, source, opened);
  const cohorts = await copyCohorts(tx, { source, target, caller }, findCohortIds(opened));
  const flags = await mapFlags(tx, { from: flag.environment_id, to: environmentId }, findFlagIds(opened));
  const filters = replaceReferences(opened, { cohorts, flags });
  await requireReferencedRecords(tx, target, filters);
  const copied = Object.entries(filters).filter(([name]) => !ofEarlyAccess.includes(name));
  const existing = await findFlagByKey(tx, environmentId, flag.key);
  // Remove filters that exist only in the target environment's flag.
  const cleared = Object.keys(existing?.filters ?? {}).filter((name) => !ofEarlyAccess.includes(name));
  const body = bodyOf(flag, {
    ...Object.fromEntries(cleared.map((name) => [name, null])),
    ...Object.fromEntries(copied),
  });
  if (existing === undefined) return createFlag(tx, writer, body);
  return changeFlag(tx, writer, { id: existing.id, changes: body });
}

function bodyOf(flag: FlagRow, filters: Record<string, unknown>): NewFlag {
  const { key, name, active, ensure_experience_continuity, is_remote_configuration, has_encrypted_payloads } = flag;
  const { evaluation_contexts, tags } = flag;
  return {
    key,
    name,
    active,
    filters,
    tags,
    evaluation_contexts,
    archived: flag.archived,
    ensure_experience_continuity,
    is_remote_configuration,
    has_encrypted_payloads,
    evaluation_runtime: flag.evaluation_runtime as NewFlag['evaluation_runtime'],
    bucketing_identifier: flag.bucketing_identifier as NewFlag['bucketing_identifier'],
  };
}

/**
 * Maps flags to the flags with the same keys in another environment.
 * @returns the new ID for each old ID
 * @throws AppError `invalid`
 */
async function mapFlags(tx: Transaction, { from, to }: { from: number; to: number }, ids: number[]) {
  const needed = await findLiveFlags(tx, from, ids);
  const idByKey = await findFlagIdsByKey(
    tx,
    to,
    needed.map(({ key }) => key),
  );
  const missing = needed.find(({ key }) => !idByKey.has(key));
  if (missing) {
    const detail = `The flag depends on '${missing.key}', which does not exist in the target project. Copy '${missing.key}' first.`;
    throw new AppError('invalid', detail, { code: 'invalid_input' });
  }
  return new Map(needed.map(({ id, key }) => [id, idByKey.get(key) ?? id]));
}

const largest = 2_147_483_647;
const projectId = (description: string) => Type.Integer({ minimum: 1, maximum: largest, description });

export const flagCopy = Type.Object(
  {
    feature_flag_key: Type.Optional(Type.String({ maxLength: 400, description: 'Key of the flag to copy.' })),
    from_project: Type.Optional(projectId('ID of the project or environment to copy the flag from.')),
    target_project_ids: Type.Optional(
      Type.Array(projectId('ID of a project or environment.'), {
        maxItems: 100,
        description: 'IDs of the projects or environments to copy the flag to.',
      }),
    ),
    copy_schedule: Type.Optional(Type.Unknown({ description: 'Ignored. Scheduled changes are not supported.' })),
  },
  { title: 'FeatureFlagCopy' },
);

interface FlagCopy {
  key: string;
  from: number;
  to: number[];
}

/** Parses a request to copy a flag. @throws AppError `invalid` if a field is missing */
export function parseFlagCopy({
  feature_flag_key: key,
  from_project: from,
  target_project_ids: to,
}: Static<typeof flagCopy>): FlagCopy {
  if (!key || from === undefined || to === undefined || to.length === 0) {
    throw new AppError('invalid', 'Missing required fields', { code: 'invalid_input' });
  }
  return { key, from, to: [...new Set(to)] };
}

export const copyResponse = Type.Object(
  {
    success: Type.Array(featureFlag, { description: 'The copied flags in the target projects.' }),
    failed: Type.Array(
      Type.Object({
        project_id: Type.Integer({ description: 'ID of the target project.' }),
        errors: Type.String({ description: 'Reason why the flag was not copied.' }),
      }),
      { description: 'Target projects to which the flag was not copied.' },
    ),
  },
  { title: 'FeatureFlagCopies' },
);

export const copyExample = {
  request: { feature_flag_key: 'new-checkout', from_project: 1, target_project_ids: [2, 3] },
  response: { success: [featureFlagExample], failed: [{ project_id: 3, errors: 'Project not found.' }] },
};

interface CohortCopy {
  source: AddressedProject;
  target: AddressedProject;
  caller: Caller;
}

/**
 * Maps cohorts to the cohorts with the same names in another environment. Includes the cohorts that they reference.
 * Creates missing cohorts. A new static cohort has no members.
 * @returns the new ID for each old ID
 */
async function copyCohorts(tx: Transaction, copy: CohortCopy, ids: number[]): Promise<Map<number, number>> {
  const copied = new Map<number, number>();
  const waiting = (await findReferencedCohorts(tx, copy.source.environmentId, ids)).map(({ id }) => id);
  // Copy each cohort after the cohorts that it references. A cycle is impossible, because the API rejects a cohort that
  // would create one.
  while (waiting.length > 0) {
    const before = waiting.length;
    for (const id of waiting.splice(0)) {
      const cohort = await findCohort(tx, copy.source.environmentId, id);
      if (!cohort) continue;
      requireRecord(copy.source.rights, 'cohort', 'viewer', toRecordName(cohort));
      if (cohortsWithin(cohort).every((part) => copied.has(part)))
        copied.set(id, await copyCohort(tx, copy, { cohort, copied }));
      else waiting.push(id);
    }
    if (waiting.length === before) break;
  }
  return copied;
}

async function copyCohort(
  tx: Transaction,
  { target, caller }: CohortCopy,
  { cohort, copied }: { cohort: CohortRow; copied: ReadonlyMap<number, number> },
): Promise<number> {
  const existing = await findCohortIdByName(tx, target.environmentId, cohort.name ?? '');
  if (existing !== null) return existing;
  requireScope(caller, 'cohort:write');
  const { name, description, is_static } = cohort;
  const filters = is_static ? {} : { filters: renumbered(cohort.filters, copied) };
  const body = { name, description, is_static, ...filters };
  return (await createCohort(tx, { userId: caller.userId, target }, { body })).id;
}

function cohortsWithin({ is_static, filters }: CohortRow): number[] {
  const parts: number[] = [];
  if (!is_static) {
    JSON.stringify(filters, (_key, part: unknown) => {
      const cohort = isObject(part) ? readCohortFilterId(part) : undefined;
      if (cohort !== undefined) parts.push(cohort);
      return part;
    });
  }
  return parts;
}

function renumbered(filters: CohortRow['filters'], ids: ReadonlyMap<number, number>): Record<string, unknown> | null {
  const text = JSON.stringify(filters, (_key, part: unknown) => {
    const cohort = isObject(part) ? readCohortFilterId(part) : undefined;
    return isObject(part) && cohort !== undefined ? { ...part, value: ids.get(cohort) ?? part.value } : part;
  });
  return JSON.parse(text) as Record<string, unknown> | null;
}
