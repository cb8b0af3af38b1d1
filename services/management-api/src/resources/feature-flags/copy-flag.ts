import { findEnvironment } from '@millrace/accounts/access';
import type { Database, Transaction } from '@millrace/db';
import { AppError, isAppError } from '@millrace/errors';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { copyCohorts } from './copy-cohorts.ts';
import type { FlagCopy } from './copy-flag-schema.ts';
import { cohortsIn, type FlagFilters, flagsIn } from './filters/flag-filters.ts';
import { withReferences } from './filters/with-references.ts';
import { findFlagIdsByKey, findLiveFlags } from './flag-dependency-store.ts';
import type { NewFlag } from './flag-fields.ts';
import type { FlagRow } from './flag-row.ts';
import { findFlagByKey } from './flag-store.ts';
import type { PayloadSecrets } from './payload-secrets.ts';
import { showFlag } from './show-flags.ts';
import { openedFilters } from './shown-filters.ts';
import { changeFlag, createFlag, type FlagWriter } from './write-flag.ts';

interface CopyDeps extends Pick<Database, 'sql' | 'transaction'> {
  secrets: PayloadSecrets;
}

interface Copier {
  caller: Caller;
  organizationId: string;
}

/** Copies a flag to other environments of the organization, each in a transaction of its own. @throws AppError `invalid`. */
export async function copyFlag(deps: CopyDeps, copier: Copier, { key, from, to }: FlagCopy) {
  const source = await findTarget(deps, copier, from);
  const flag = source && (await findFlagByKey(deps.sql, source.environmentId, key));
  if (!flag) throw new AppError('invalid', 'Feature flag to copy does not exist.', { code: 'invalid_input' });
  const success: Awaited<ReturnType<typeof showFlag>>[] = [];
  const failed: { project_id: number; errors: string }[] = [];
  for (const projectId of to) {
    const target = await findTarget(deps, copier, projectId);
    try {
      if (!target) throw new AppError('not_found', 'Project not found.');
      const copy = await deps.transaction((tx) =>
        copyTo(tx, flag, { target, caller: copier.caller, secrets: deps.secrets }),
      );
      success.push(await showFlag(deps.sql, copy, deps.secrets));
    } catch (error) {
      if (!isAppError(error) || error.kind === 'internal' || error.kind === 'unavailable') throw error;
      failed.push({ project_id: projectId, errors: error.message });
    }
  }
  return { success, failed };
}

/** An environment of the organization that the caller may use. */
async function findTarget({ sql }: CopyDeps, { caller, organizationId }: Copier, id: number) {
  const found = await findEnvironment(sql, caller.userId, id);
  return found && found.level !== null && found.organizationId === organizationId
    ? { ...found, level: found.level }
    : undefined;
}

/** What belongs to the flag's own early access feature. */
const ofEarlyAccess = ['super_groups', 'feature_enrollment'];

async function copyTo(
  tx: Transaction,
  flag: FlagRow,
  { target, caller, secrets }: { target: AddressedProject; caller: Caller; secrets: PayloadSecrets },
): Promise<FlagRow> {
  const { environmentId, organizationId } = target;
  const writer: FlagWriter = { userId: caller.userId, organizationId, environmentId, secrets };
  const opened = openedFilters(flag, secrets) as FlagFilters;
  const cohorts = await copyCohorts(tx, { from: flag.environment_id, target, caller }, cohortsIn(opened));
  const flags = await sameFlags(tx, { from: flag.environment_id, to: environmentId }, flagsIn(opened));
  const filters = withReferences(opened, { cohorts, flags });
  const copied = Object.entries(filters).filter(([name]) => !ofEarlyAccess.includes(name));
  const existing = await findFlagByKey(tx, environmentId, flag.key);
  // What the other one has beyond that goes.
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
    ...{ key, name, active, filters, tags, evaluation_contexts, archived: flag.archived },
    ...{ ensure_experience_continuity, is_remote_configuration, has_encrypted_payloads },
    evaluation_runtime: flag.evaluation_runtime as NewFlag['evaluation_runtime'],
    bucketing_identifier: flag.bucketing_identifier as NewFlag['bucketing_identifier'],
  };
}

/** The flags of another environment that have the keys of these, by the id of these. @throws AppError `invalid`. */
async function sameFlags(tx: Transaction, { from, to }: { from: number; to: number }, ids: number[]) {
  const needed = await findLiveFlags(tx, from, ids);
  const idByKey = await findFlagIdsByKey(
    tx,
    to,
    needed.map(({ key }) => key),
  );
  const missing = needed.find(({ key }) => !idByKey.has(key));
  if (missing) {
    const detail = `The flag depends on '${missing.key}', which is not there. Copy that one first.`;
    throw new AppError('invalid', detail, { code: 'invalid_input' });
  }
  return new Map(needed.map(({ id, key }) => [id, idByKey.get(key) ?? id]));
}
