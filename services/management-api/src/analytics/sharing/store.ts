import type { Columns, Sql, Transaction } from '@millrace/db';

export type SharedKind = 'insight' | 'dashboard';

export interface SharedRecord {
  kind: SharedKind;
  id: number;
}

export interface SharingSettings {
  noHeader?: boolean;
  theme?: 'light' | 'dark' | 'system';
}

export interface SharingRow extends Columns<'sharing_configuration', 'enabled' | 'access_token' | 'created_at'> {
  settings: SharingSettings;
}

const columnOf = { insight: 'insight_id', dashboard: 'dashboard_id' } as const;
const columns = 'enabled, access_token, settings, created_at';

export async function findSharing(sql: Sql, { kind, id }: SharedRecord): Promise<SharingRow | undefined> {
  const [row] = await sql.query<SharingRow & Record<string, unknown>>(
    `SELECT ${columns} FROM sharing_configuration WHERE ${columnOf[kind]} = $1`,
    [id],
  );
  return row;
}

export async function writeSharing(
  tx: Transaction,
  { kind, id, environmentId }: SharedRecord & { environmentId: number },
  { enabled, access_token, settings }: Omit<SharingRow, 'created_at'>,
): Promise<SharingRow> {
  const [row] = await tx.query<SharingRow & Record<string, unknown>>(
    `INSERT INTO sharing_configuration (environment_id, ${columnOf[kind]}, enabled, access_token, settings)
     VALUES ($1, $2, $3, $4, $5)
     ON CONFLICT (${columnOf[kind]}) DO UPDATE
       SET enabled = EXCLUDED.enabled, access_token = EXCLUDED.access_token, settings = EXCLUDED.settings
     RETURNING ${columns}`,
    [environmentId, id, enabled, access_token, JSON.stringify(settings)],
  );
  if (!row) throw new Error('The sharing configuration was written without a row.');
  return row;
}

export async function allowsSharing(sql: Sql, organizationId: string): Promise<boolean> {
  const [row] = await sql.query<{ isAllowed: boolean }>(
    'SELECT allow_publicly_shared_resources AS "isAllowed" FROM organization WHERE id = $1',
    [organizationId],
  );
  return row?.isAllowed ?? false;
}

export interface SharedLink {
  id: number;
  environmentId: number;
  projectId: number;
  organizationId: string;
  timezone: string;
  record: SharedRecord;
  settings: SharingSettings;
}

interface LinkRow extends Omit<SharedLink, 'record'>, Record<string, unknown> {
  insightId: number | null;
  dashboardId: number | null;
}

/** Finds an enabled link, if the shared record exists and its organization allows public links. */
export async function findPublicLink(sql: Sql, token: string): Promise<SharedLink | undefined> {
  const [row] = await sql.query<LinkRow>(
    `SELECT s.id, s.environment_id AS "environmentId", e.project_id AS "projectId",
            p.organization_id AS "organizationId", e.timezone, s.settings,
            s.insight_id AS "insightId", s.dashboard_id AS "dashboardId"
       FROM sharing_configuration s
       JOIN environment e ON e.id = s.environment_id
       JOIN project p ON p.id = e.project_id
       JOIN organization o ON o.id = p.organization_id AND o.allow_publicly_shared_resources
       LEFT JOIN insight i ON i.id = s.insight_id
       LEFT JOIN dashboard d ON d.id = s.dashboard_id
      WHERE s.access_token = $1 AND s.enabled AND NOT coalesce(i.deleted, d.deleted)`,
    [token],
  );
  if (row === undefined) return undefined;
  const { insightId, dashboardId, ...link } = row;
  if (insightId !== null) return { ...link, record: { kind: 'insight', id: insightId } };
  return dashboardId === null ? undefined : { ...link, record: { kind: 'dashboard', id: dashboardId } };
}
