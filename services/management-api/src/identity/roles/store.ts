// SQL that reads an organization's roles and role members.

import type { Columns, Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { type MemberRow, memberColumns } from '../members/store.ts';

export interface RoleMemberRow extends Columns<'role_membership', 'id' | 'role_id' | 'joined_at' | 'updated_at'> {
  organization_member: MemberRow;
}

export interface RoleRow extends Columns<'role', 'id' | 'name' | 'created_at'> {
  created_by: string | null;
  members: RoleMemberRow[];
}

interface Window {
  /** If undefined, returns all roles. */
  id?: string;
  limit: number;
  offset: number;
}

/** Maximum number of members in a role response. A separate route lists all members. */
const maxShownMembers = 20;

export async function findRoles(
  sql: Sql,
  organizationId: string,
  { id, limit, offset }: Window,
): Promise<{ count: number; rows: RoleRow[] }> {
  const where = createConditions();
  where.add(`r.organization_id = ${where.parameter(organizationId)}`);
  if (id !== undefined) where.add(`r.id::text = lower(${where.parameter(id)})`);
  const rows = await sql.query<Omit<RoleRow, 'members'> & { count: number } & Record<string, unknown>>(
    `SELECT r.id, r.name, r.created_at, u.uuid AS created_by, count(*) OVER ()::int AS count
       FROM role r LEFT JOIN "user" u ON u.id = r.created_by_id
      WHERE ${where.text()} ORDER BY lower(r.name), r.id
      LIMIT ${where.parameter(limit)} OFFSET ${where.parameter(offset)}`,
    where.values,
  );
  const members = await selectMembers(sql, {
    roleIds: rows.map((row) => row.id),
    limit: maxShownMembers,
    offset: 0,
  });
  const withMembers = rows.map((row) => ({ ...row, members: members.filter(({ role_id }) => role_id === row.id) }));
  return { count: rows[0]?.count ?? 0, rows: withMembers };
}

export async function listRoleMembers(
  sql: Sql,
  roleId: string,
  window: Window,
): Promise<{ count: number; rows: RoleMemberRow[] }> {
  const [[counted], rows] = await Promise.all([
    sql.query<{ count: number }>('SELECT count(*)::int AS count FROM role_membership WHERE role_id = $1', [roleId]),
    selectMembers(sql, { ...window, roleIds: [roleId] }),
  ]);
  return { count: counted?.count ?? 0, rows };
}

async function selectMembers(
  sql: Sql,
  { roleIds, id = null, limit, offset }: Omit<Window, 'id'> & { id?: string | null; roleIds: string[] },
): Promise<RoleMemberRow[]> {
  const rows = await sql.query<RoleMemberRow & Record<string, unknown>>(
    `SELECT page.id, page.role_id, page.joined_at, page.updated_at, of.organization_member
       FROM unnest($1::uuid[]) WITH ORDINALITY AS wanted (role_id, place)
      CROSS JOIN LATERAL (SELECT h.* FROM role_membership h
                           WHERE h.role_id = wanted.role_id AND ($2::text IS NULL OR h.id::text = lower($2))
                           ORDER BY h.joined_at, h.id LIMIT $3 OFFSET $4) page
      CROSS JOIN LATERAL (SELECT to_jsonb(m) AS organization_member
                            FROM (SELECT ${memberColumns} FROM membership m JOIN "user" u ON u.id = m.user_id
                                   WHERE m.id = page.membership_id) m) of
      ORDER BY wanted.place, page.joined_at, page.id`,
    [roleIds, id, limit, offset],
  );
  return rows.map(({ organization_member: of, ...row }) => ({ ...row, organization_member: withTimes(of) }));
}

/** Parses the times in a row. They are strings, because the row was read as JSON. */
function withTimes(row: MemberRow): MemberRow {
  const [joined_at, updated_at] = [new Date(row.joined_at), new Date(row.updated_at)];
  return { ...row, joined_at, updated_at, last_login: row.last_login && new Date(row.last_login) };
}
