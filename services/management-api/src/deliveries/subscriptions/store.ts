import { randomUUID } from 'node:crypto';
import { listSubscriptionTargets } from '@millrace/contracts';
import type { Columns, Sql, Transaction } from '@millrace/db';
import type { ReportContent } from '@millrace/reports';
import type { EmbeddedUserRow } from '../../identity/embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../../identity/embedded-users/embedded-user-store.ts';
import { createConditions } from '../../sql/conditions.ts';
import { limitPageBytes } from '../../sql/limit-page-bytes.ts';
import type { SubscriptionFields } from './fields.ts';

export interface SubscriptionRow
  extends SubscriptionFields,
    Columns<'subscription', 'id' | 'created_at' | 'next_delivery_date'> {
  created_by: EmbeddedUserRow | null;
}
type Row = SubscriptionRow & Record<string, unknown>;

const columns = `s.id, s.dashboard, s.insight, s.target_type, s.target_value, s.frequency, s."interval", s.byweekday,
  s.bysetpos, s.count, s.start_date, s.until_date, s.created_at, s.deleted, s.title, s.enabled,
  s.dashboard_export_insights, s.next_delivery_date,
  ${embeddedUserColumn('u')} AS created_by`;

const writable = [
  'dashboard',
  'insight',
  'target_type',
  'target_value',
  'frequency',
  'interval',
  'byweekday',
  'bysetpos',
  'count',
  'start_date',
  'until_date',
  'deleted',
  'title',
  'enabled',
  'dashboard_export_insights',
] as const;

interface SubscriptionFilter {
  deleted: boolean;
  dashboard: number | undefined;
  insight: number | undefined;
}

/** Returns a page of an environment's subscriptions, sorted by ID, and the total count. */
export async function listSubscriptions(
  sql: Sql,
  environmentId: number,
  { filter, limit, offset }: { filter: SubscriptionFilter; limit: number; offset: number },
): Promise<{ count: number; rows: SubscriptionRow[] }> {
  const where = createConditions();
  where.add(`s.environment_id = ${where.parameter(environmentId)}`);
  where.add(`s.deleted = ${where.parameter(filter.deleted)}`);
  for (const name of ['dashboard', 'insight'] as const) {
    if (filter[name] !== undefined) where.add(`s.${name} = ${where.parameter(filter[name])}`);
  }
  const conditions = where.text();
  const counted = sql.query<{ count: number }>(
    `SELECT count(*)::int AS count FROM subscription s WHERE ${conditions}`,
    [...where.values],
  );
  const listed = sql.query<Row>(
    limitPageBytes(
      `SELECT ${columns} FROM subscription s LEFT JOIN "user" u ON u.id = s.created_by_id
        WHERE ${conditions} ORDER BY s.id LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
      ['target_value', 'created_by'],
    ),
    where.values,
  );
  const [[total], rows] = await Promise.all([counted, listed]);
  return { count: total?.count ?? 0, rows };
}

export async function findSubscription(
  sql: Sql,
  environmentId: number,
  id: number,
): Promise<SubscriptionRow | undefined> {
  const rows = await sql.query<Row>(
    `SELECT ${columns} FROM subscription s LEFT JOIN "user" u ON u.id = s.created_by_id
      WHERE s.environment_id = $1 AND s.id = $2`,
    [environmentId, id],
  );
  return rows[0];
}

/** Like `findSubscription`, but also locks the row until the transaction ends. */
export async function lockSubscription(
  tx: Transaction,
  environmentId: number,
  id: number,
): Promise<SubscriptionRow | undefined> {
  await tx.query('SELECT 1 FROM subscription WHERE environment_id = $1 AND id = $2 FOR UPDATE', [environmentId, id]);
  return findSubscription(tx, environmentId, id);
}

export async function insertSubscription(
  tx: Transaction,
  author: { environmentId: number; createdById: number },
  { fields, nextDeliveryDate }: { fields: SubscriptionFields; nextDeliveryDate: Date | null },
): Promise<number> {
  const names = writable.map((name) => `"${name}"`).join(', ');
  const rows = await tx.query<{ id: number }>(
    `INSERT INTO subscription (environment_id, created_by_id, next_delivery_date, ${names})
     VALUES ($1, $2, $3, ${writable.map((_, index) => `$${index + 4}`).join(', ')})
     RETURNING id`,
    [author.environmentId, author.createdById, nextDeliveryDate, ...writable.map((name) => fields[name])],
  );
  const [row] = rows;
  if (!row) throw new Error('A subscription was inserted without an id.');
  return row.id;
}

/** The caller must hold a lock on the subscription. */
export async function updateSubscription(
  tx: Transaction,
  id: number,
  { fields, nextDeliveryDate }: { fields: SubscriptionFields; nextDeliveryDate: Date | null },
): Promise<void> {
  await tx.query(
    `UPDATE subscription SET updated_at = now(), next_delivery_date = $2,
            ${writable.map((name, index) => `"${name}" = $${index + 3}`).join(', ')}
      WHERE id = $1`,
    [id, nextDeliveryDate, ...writable.map((name) => fields[name])],
  );
}

/** Counts an organization's subscriptions in all projects. Excludes deleted subscriptions. */
export async function countSubscriptions(sql: Sql, organizationId: string): Promise<number> {
  const rows = await sql.query<{ count: number }>(
    `SELECT count(*)::int AS count
       FROM project p
       JOIN environment e ON e.project_id = p.id
       JOIN subscription s ON s.environment_id = e.id
      WHERE p.organization_id = $1 AND NOT s.deleted`,
    [organizationId],
  );
  return rows[0]?.count ?? 0;
}

export type DeliveryRow = Columns<
  'subscription_delivery',
  'id' | 'occasion' | 'due_at' | 'target' | 'status' | 'attempts' | 'error' | 'created_at' | 'finished_at'
>;

/** Queues a report for each target, which the delivery worker sends immediately. */
export async function insertDeliveries(
  tx: Transaction,
  subscriptionId: number,
  { targets, occasion, inviteMessage }: { targets: string[]; occasion: string; inviteMessage: string | null },
): Promise<void> {
  await tx.query(
    `INSERT INTO subscription_delivery (id, subscription_id, occasion, due_at, target, invite_message)
     SELECT new.id, $1, $2, now(), new.target, $5 FROM unnest($3::uuid[], $4::text[]) AS new (id, target)
     ON CONFLICT (subscription_id, occasion, due_at, target) DO NOTHING`,
    [subscriptionId, occasion, targets.map(() => randomUUID()), targets, inviteMessage],
  );
}

/** Returns a page of a subscription's deliveries, latest first, and the total count. */
export async function listDeliveries(
  sql: Sql,
  subscriptionId: number,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: DeliveryRow[] }> {
  const [counted, rows] = await Promise.all([
    sql.query<{ count: number }>(
      'SELECT count(*)::int AS count FROM subscription_delivery WHERE subscription_id = $1',
      [subscriptionId],
    ),
    sql.query<DeliveryRow>(
      limitPageBytes(
        `SELECT id, occasion, due_at, target, status, attempts, error, created_at, finished_at
           FROM subscription_delivery WHERE subscription_id = $1
          ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
        ['target', 'error'],
      ),
      [subscriptionId, limit, offset],
    ),
  ]);
  return { count: counted[0]?.count ?? 0, rows };
}

/** Finds a delivery with the content of its report. The content is null until the report has been computed. */
export async function findDelivery(
  sql: Sql,
  subscriptionId: number,
  id: string,
): Promise<(DeliveryRow & { content: ReportContent | null }) | undefined> {
  const rows = await sql.query<DeliveryRow & { content: ReportContent | null }>(
    `SELECT d.id, d.occasion, d.due_at, d.target, d.status, d.attempts, d.error, d.created_at, d.finished_at,
            CASE WHEN d.occasion <> 'ended' THEN r.content END AS content
       FROM subscription_delivery d
       LEFT JOIN subscription_report r ON r.subscription_id = d.subscription_id AND r.due_at = d.due_at
      WHERE d.subscription_id = $1 AND d.id = $2`,
    [subscriptionId, id],
  );
  return rows[0];
}

/**
 * Finds the content of a report by its ID. The ID serves as the secret, so access is not checked. Returns null if the
 * organization has turned public resources off.
 */
export async function findReport(sql: Sql, id: string): Promise<ReportContent | null> {
  const rows = await sql.query<{ content: ReportContent | null }>(
    `SELECT r.content
       FROM subscription_report r
       JOIN subscription s ON s.id = r.subscription_id
       JOIN environment e ON e.id = s.environment_id
       JOIN project p ON p.id = e.project_id
       JOIN organization o ON o.id = p.organization_id AND o.allow_publicly_shared_resources
      WHERE r.id = $1`,
    [id],
  );
  return rows[0]?.content ?? null;
}

export async function findEnvironmentName(sql: Sql, environmentId: number): Promise<string> {
  const rows = await sql.query<{ name: string }>('SELECT name FROM environment WHERE id = $1', [environmentId]);
  return rows[0]?.name ?? '';
}

export async function cancelDeliveries(tx: Transaction, subscriptionId: number): Promise<void> {
  await tx.query(
    `UPDATE subscription_delivery SET status = 'cancelled', finished_at = now()
      WHERE subscription_id = $1 AND status = 'pending'`,
    [subscriptionId],
  );
}

export async function cancelDeliveriesTo(tx: Transaction, subscriptionId: number, target: string): Promise<void> {
  await tx.query(
    `UPDATE subscription_delivery SET status = 'cancelled', finished_at = now()
      WHERE subscription_id = $1 AND target = $2 AND status = 'pending'`,
    [subscriptionId, target],
  );
}

export interface Unsubscribable {
  subscriptionId: number;
  environmentId: number;
  organizationId: string;
  email: string;
  name: string;
  isSubscribed: boolean;
}

/** Finds what an unsubscribe link refers to. @param days the maximum age of the email that contains the link */
export async function findUnsubscribable(sql: Sql, id: string, days: number): Promise<Unsubscribable | undefined> {
  const [row] = await sql.query<Omit<Unsubscribable, 'isSubscribed'> & SubscriptionFields & Record<string, unknown>>(
    `SELECT s.id AS "subscriptionId", s.environment_id AS "environmentId", p.organization_id AS "organizationId",
            d.target AS email, s.target_type, s.target_value, s.deleted,
            coalesce(nullif(trim(s.title), ''), nullif(i.name, ''), i.derived_name, b.name, e.name) AS name
       FROM subscription_delivery d
       JOIN subscription s ON s.id = d.subscription_id
       JOIN environment e ON e.id = s.environment_id
       JOIN project p ON p.id = e.project_id
       LEFT JOIN insight i ON i.id = s.insight AND i.project_id = s.environment_id
       LEFT JOIN dashboard b ON b.id = s.dashboard AND b.project_id = s.environment_id
      WHERE d.unsubscribe_id = $1::uuid AND d.created_at > now() - make_interval(days => $2) AND s.target_type = 'email'`,
    [id, days],
  );
  if (!row) return undefined;
  const { subscriptionId, environmentId, organizationId, email, name } = row;
  const isSubscribed = !row.deleted && listSubscriptionTargets(row).includes(email);
  return { subscriptionId, environmentId, organizationId, email, name, isSubscribed };
}

/** Returns true if the environment has this dashboard or insight, and it is not deleted. */
export async function subjectExists(
  sql: Sql,
  { environmentId, name, id }: { environmentId: number; name: 'dashboard' | 'insight'; id: number },
): Promise<boolean> {
  const rows = await sql.query(`SELECT 1 FROM ${name} WHERE id = $1 AND project_id = $2 AND NOT deleted`, [
    id,
    environmentId,
  ]);
  return rows.length > 0;
}

export async function findInsightsOfDashboard(
  sql: Sql,
  { dashboard, insights }: { dashboard: number; insights: number[] },
): Promise<number[]> {
  const rows = await sql.query<{ id: number }>(
    `SELECT i.id FROM dashboard_tile t JOIN insight i ON i.id = t.insight_id
      WHERE t.dashboard_id = $1 AND i.id = ANY ($2::bigint[]) AND NOT t.deleted AND NOT i.deleted`,
    [dashboard, insights],
  );
  return rows.map(({ id }) => id);
}

export async function findPlanFeatures(sql: Sql, organizationId: string): Promise<unknown> {
  const rows = await sql.query<{ features: unknown }>(
    'SELECT available_product_features AS features FROM organization WHERE id = $1',
    [organizationId],
  );
  return rows[0]?.features;
}

/** Returns the insights that a report would contain, with the query and filters that determine their results. */
export async function findReportedInsights(
  sql: Sql,
  environmentId: number,
  { insight, dashboard }: Pick<SubscriptionFields, 'insight' | 'dashboard'>,
): Promise<{ id: number; createdById: number | null; queried: unknown[] }[]> {
  return sql.query(
    `SELECT i.id, i.created_by_id AS "createdById", json_build_array(i.query, d.filters, t.filters_overrides) AS queried
       FROM insight i
       LEFT JOIN dashboard_tile t ON t.insight_id = i.id AND t.dashboard_id = $3 AND NOT t.deleted
       LEFT JOIN dashboard d ON d.id = t.dashboard_id
      WHERE i.project_id = $1 AND (i.id = $2 OR t.id IS NOT NULL)`,
    [environmentId, insight, dashboard],
  );
}
