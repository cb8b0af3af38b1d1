// SQL that stores SCIM tokens, external group IDs, and recent SCIM requests.

import { isProofInTime, type ScimDomain } from '@millrace/accounts';
import { hashSecret } from '@millrace/accounts/access';
import { membershipLevels } from '@millrace/contracts';
import type { Columns, Sql, Transaction } from '@millrace/db';
import { v7 as uuidv7 } from 'uuid';

/** Returns the token's domain if the domain is verified and the organization's plan includes SCIM. */
export async function findScimDomain(
  sql: Sql,
  { domainId, token }: { domainId: string; token: string },
): Promise<ScimDomain | undefined> {
  const rows = await sql.query<ScimDomain & Record<string, unknown>>(
    `SELECT d.id, d.organization_id AS "organizationId", d.domain AS name,
            EXISTS (SELECT FROM membership m WHERE m.organization_id = d.organization_id
                       AND m.user_id = t.created_by_id AND m.level = ${membershipLevels.owner}) AS "mayChangeOwners"
       FROM scim_token t JOIN organization_domain d ON d.id = t.domain_id JOIN organization o ON o.id = d.organization_id
      WHERE t.domain_id = $1::uuid AND t.token_hash = $2 AND d.verified_at IS NOT NULL AND ${isProofInTime}
        AND o.available_product_features @> '[{"key": "scim"}]'`,
    [domainId, hashSecret(token)],
  );
  return rows[0];
}

export type ScimTokenRow = Columns<'scim_token', 'created_at' | 'last_used_at'>;

export async function findScimTokenDates(sql: Sql, domainId: string): Promise<ScimTokenRow | undefined> {
  const rows = await sql.query<ScimTokenRow & Record<string, unknown>>(
    'SELECT created_at, last_used_at FROM scim_token WHERE domain_id = $1',
    [domainId],
  );
  return rows[0];
}

export async function storeScimToken(
  tx: Transaction,
  { domainId, token, createdById }: { domainId: string; token: string; createdById: number },
): Promise<void> {
  await tx.query(
    `INSERT INTO scim_token (domain_id, token_hash, created_by_id) VALUES ($1, $2, $3)
     ON CONFLICT (domain_id) DO UPDATE SET token_hash = excluded.token_hash, created_by_id = excluded.created_by_id,
                                           created_at = now(), last_used_at = NULL`,
    [domainId, hashSecret(token), createdById],
  );
}

export async function deleteToken(tx: Transaction, domainId: string): Promise<boolean> {
  return (await tx.query('DELETE FROM scim_token WHERE domain_id = $1 RETURNING domain_id', [domainId])).length > 0;
}

export interface ScimGroupRow extends Columns<'role', 'id' | 'name' | 'created_at' | 'updated_at'> {
  external_id: string | null;
}

/** Returns one page of an organization's roles as SCIM groups, sorted by name, and the total count. */
export async function listGroups(
  sql: Sql,
  { id, organizationId }: ScimDomain,
  {
    filter,
    limit,
    offset,
  }: {
    filter: { id?: string; name?: string; externalId?: string };
    limit: number;
    offset: number;
  },
): Promise<{ count: number; rows: ScimGroupRow[] }> {
  const from = `FROM role r LEFT JOIN scim_group g ON g.role_id = r.id AND g.domain_id = $1
    WHERE r.organization_id = $2 AND ($3::text IS NULL OR r.id::text = lower($3))
      AND ($4::text IS NULL OR lower(r.name) = lower($4)) AND ($5::text IS NULL OR g.external_id = $5)`;
  const values = [id, organizationId, filter.id ?? null, filter.name ?? null, filter.externalId ?? null];
  const [[counted], rows] = await Promise.all([
    sql.query<{ count: number }>(`SELECT count(*)::int AS count ${from}`, values),
    sql.query<ScimGroupRow & Record<string, unknown>>(
      `SELECT r.id, r.name, r.created_at, r.updated_at, g.external_id ${from}
        ORDER BY lower(r.name), r.id LIMIT $6 OFFSET $7`,
      [...values, limit, offset],
    ),
  ]);
  return { count: counted?.count ?? 0, rows };
}

export async function recordGroup(
  tx: Transaction,
  { id }: ScimDomain,
  { roleId, externalId }: { roleId: string; externalId: string | null },
): Promise<void> {
  await tx.query('DELETE FROM scim_group WHERE domain_id = $1 AND role_id = $2', [id, roleId]);
  if (externalId === null) return;
  await tx.query('INSERT INTO scim_group (domain_id, role_id, external_id) VALUES ($1, $2, $3)', [
    id,
    roleId,
    externalId,
  ]);
}

export type ScimRequestRow = Columns<'scim_request', 'id' | 'method' | 'path' | 'status' | 'detail' | 'created_at'>;

const maxStoredRequests = 500;

/** Stores a SCIM request and the time at which the token was last used. Deletes the oldest requests. */
export async function recordScimRequest(
  sql: Sql,
  domainId: string,
  { method, path, status, detail }: Pick<ScimRequestRow, 'method' | 'path' | 'status' | 'detail'>,
): Promise<void> {
  await sql.query(
    `UPDATE scim_token SET last_used_at = now()
      WHERE domain_id = $1 AND (last_used_at IS NULL OR last_used_at < now() - interval '1 minute')`,
    [domainId],
  );
  // Do not store successful reads, because they would soon displace the records of changes and errors.
  if (method === 'GET' && status < 400) return;
  await sql.query(
    'INSERT INTO scim_request (id, domain_id, method, path, status, detail) VALUES ($1, $2, $3, $4, $5, $6)',
    [uuidv7(), domainId, method, path.slice(0, 300), status, detail.slice(0, 1000)],
  );
  await sql.query(
    `DELETE FROM scim_request WHERE domain_id = $1 AND created_at < (
       SELECT created_at FROM scim_request WHERE domain_id = $1
        ORDER BY created_at DESC OFFSET ${maxStoredRequests} LIMIT 1)`,
    [domainId],
  );
}

export async function listScimRequests(
  sql: Sql,
  domainId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ count: number; rows: ScimRequestRow[] }> {
  const [[counted], rows] = await Promise.all([
    sql.query<{ count: number }>('SELECT count(*)::int AS count FROM scim_request WHERE domain_id = $1', [domainId]),
    sql.query<ScimRequestRow & Record<string, unknown>>(
      `SELECT id, method, path, status, detail, created_at FROM scim_request
        WHERE domain_id = $1 ORDER BY created_at DESC, id DESC LIMIT $2 OFFSET $3`,
      [domainId, limit, offset],
    ),
  ]);
  return { count: counted?.count ?? 0, rows };
}
