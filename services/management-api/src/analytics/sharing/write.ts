// Enables, disables and replaces public links for insights and dashboards, after checking the caller's access.

import { randomBytes } from 'node:crypto';
import { recordActivity } from '@millrace/accounts';
import type { Sql, Transaction } from '@millrace/db';
import { sortByLayout } from '@millrace/insights';
import { AppError } from '@millrace/runtime';
import type { Static } from 'typebox';
import type { AddressedProject } from '../../access/addressed-store.ts';
import type { Caller } from '../../access/caller.ts';
import { canChangeInsight, requireDashboardChange } from '../../access/dashboard-restriction.ts';
import { hasRecordLevel, readRightsOfEveryMember, toRecordName } from '../../access/record-rights.ts';
import { requireScope } from '../../access/require-scope.ts';
import { lockEnvironment } from '../../sql/lock-environment.ts';
import { listTiles } from '../dashboards/tile-store.ts';
import { requireDashboard } from '../dashboards/write.ts';
import { findInsights } from '../insights/store.ts';
import { requireInsight } from '../insights/write.ts';
import { isClosedQuery } from './public-shape.ts';
import type { sharingChanges } from './schema.ts';
import {
  allowsSharing,
  findSharing,
  type SharedKind,
  type SharedRecord,
  type SharingRow,
  writeSharing,
} from './store.ts';

interface Author {
  caller: Pick<Caller, 'userId' | 'scopes'>;
  target: AddressedProject;
}

interface Addressed {
  kind: SharedKind;
  name: string;
}

/**
 * Reads a record's sharing settings. They contain the link to the record's results, so the caller needs the scope to
 * read the results.
 * @throws AppError `not_found` or `forbidden`
 */
export async function readSharing(sql: Sql, author: Author, addressed: Addressed): Promise<SharingRow | undefined> {
  return findSharing(sql, await foundRecord(sql, author, { ...addressed, needed: 'viewer' }));
}

/**
 * Turns the public link on or off, or changes its settings. Undefined fields remain unchanged.
 * @throws AppError `not_found`, `forbidden`, or `invalid` naming the field
 */
export async function changeSharing(
  tx: Transaction,
  author: Author,
  { changes, ...addressed }: Addressed & { changes: Static<typeof sharingChanges> },
): Promise<SharingRow> {
  return change(tx, author, addressed, async (record, before) => {
    if (changes.enabled === true) await requireShareable(tx, author, record);
    return {
      ...before,
      enabled: changes.enabled ?? before.enabled,
      settings: changes.settings === undefined ? before.settings : (changes.settings ?? {}),
    };
  });
}

/**
 * Replaces a record's link. The previous link stops working immediately.
 * @throws AppError `not_found` or `forbidden`
 */
export async function replacePublicLink(tx: Transaction, author: Author, addressed: Addressed): Promise<SharingRow> {
  return change(tx, author, addressed, async (_record, before) => ({ ...before, access_token: newToken() }));
}

type Fields = Omit<SharingRow, 'created_at'>;

/** The token has 256 random bits. */
const newToken = () => randomBytes(32).toString('base64url');

async function change(
  tx: Transaction,
  author: Author,
  addressed: Addressed,
  decide: (record: SharedRecord, before: Fields) => Promise<Fields>,
): Promise<SharingRow> {
  const { environmentId, organizationId } = author.target;
  await lockEnvironment(tx, environmentId);
  const record = await foundRecord(tx, author, { ...addressed, needed: 'editor' });
  const before = (await findSharing(tx, record)) ?? { enabled: false, access_token: newToken(), settings: {} };
  const after = await writeSharing(tx, { ...record, environmentId }, await decide(record, before));
  const logged = ({ enabled, access_token, settings }: Fields) => ({
    sharing: enabled,
    sharing_access_token: access_token,
    sharing_settings: settings,
  });
  await recordActivity(tx, {
    organizationId,
    environmentId,
    scope: record.kind === 'insight' ? 'Insight' : 'Dashboard',
    itemId: record.id,
    activity: 'updated',
    actor: { userId: author.caller.userId },
    name: record.title,
    change: { before: logged(before), after: logged(after), secret: ['sharing_access_token'] },
  });
  return after;
}

interface FoundRecord extends SharedRecord {
  title: string | null;
}

async function foundRecord(
  sql: Sql,
  { caller, target }: Author,
  { kind, name, needed }: Addressed & { needed: 'viewer' | 'editor' },
): Promise<FoundRecord> {
  requireScope(caller, `${kind}:read`);
  const editor = { ...target, userId: caller.userId };
  if (kind === 'dashboard') {
    const row = await requireDashboard(sql, target, { id: Number(name), needed });
    if (needed === 'editor') requireDashboardChange(row, editor);
    return { kind, id: row.id, title: row.name };
  }
  const row = await requireInsight(sql, target, { name, needed });
  if (row.deleted) throw new AppError('not_found', 'Not found.');
  if (needed === 'editor' && !canChangeInsight(row.tiles, editor)) {
    throw new AppError('forbidden', "You don't have edit permissions for this insight.");
  }
  return { kind, id: row.id, title: row.name ?? row.derived_name };
}

/**
 * Checks that the caller and every member of the project can see everything that the link shows. The caller is
 * included, because a caller could otherwise use a link to see an insight that is hidden only from them.
 * @throws AppError `forbidden` or `invalid`
 */
async function requireShareable(tx: Transaction, { target }: Author, { kind, id }: SharedRecord): Promise<void> {
  const { environmentId, organizationId, rights } = target;
  if (!(await allowsSharing(tx, organizationId))) {
    throw new AppError('forbidden', 'Public sharing is disabled for this organization.');
  }
  const everybody = await readRightsOfEveryMember(tx, environmentId);
  if (!hasRecordLevel(everybody, kind, 'viewer', { id, createdById: null })) {
    const detail = `This ${kind} is not open to all members of the project, so it cannot be shared publicly.`;
    throw new AppError('forbidden', detail);
  }
  const ids = kind === 'insight' ? [id] : (await listShownTiles(tx, id)).flatMap(({ insight_id }) => insight_id ?? []);
  const insights = await findInsights(tx, environmentId, ids);
  if (insights.some((one) => !hasRecordLevel(rights, 'insight', 'viewer', toRecordName(one)))) {
    const detail = 'The dashboard contains an insight that you do not have access to, so you cannot share it publicly.';
    throw new AppError('forbidden', detail);
  }
  if (kind === 'insight' && insights.some(({ query }) => isClosedQuery(query))) {
    throw new AppError('invalid', 'Insights that list persons or events cannot be shared publicly.', {
      code: 'invalid_input',
      attr: 'enabled',
    });
  }
}

export async function listShownTiles(sql: Sql, dashboardId: number) {
  return sortByLayout(await listTiles(sql, dashboardId));
}
