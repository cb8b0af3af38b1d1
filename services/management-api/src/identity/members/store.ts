// SQL that reads an organization's members.

import { hasProvider, hasSecondFactor, parseEmailAddress } from '@millrace/accounts';
import type { Columns, Sql } from '@millrace/db';
import { createConditions } from '../../sql/conditions.ts';
import { type Counted, splitCount, toPageClauses } from '../../sql/page-limit.ts';
import type { EmbeddedUserRow } from '../embedded-users/embedded-user.ts';
import { embeddedUserColumn } from '../embedded-users/embedded-user-store.ts';

export interface MemberRow
  extends Columns<'membership', 'id' | 'level' | 'joined_at' | 'updated_at'>,
    Columns<'user', 'last_login'> {
  user: EmbeddedUserRow;
  is_2fa_enabled: boolean;
  has_social_auth: boolean;
}
type Row = MemberRow & Record<string, unknown>;

export const memberColumns = `m.id, ${embeddedUserColumn('u')} AS "user", m.level, m.joined_at, m.updated_at, u.last_login,
  ${hasSecondFactor} AS is_2fa_enabled, ${hasProvider} AS has_social_auth`;
const from = 'FROM membership m JOIN "user" u ON u.id = m.user_id';

/** Sort orders. Each ends with the membership ID, so that pages do not overlap. */
const orders = {
  '-joined_at': 'm.joined_at DESC, m.id DESC',
  joined_at: 'm.joined_at, m.id',
  '-updated_at': 'm.updated_at DESC, m.id DESC',
  updated_at: 'm.updated_at, m.id',
  '-level': 'm.level DESC, m.id DESC',
  level: 'm.level, m.id',
};
type MemberOrder = keyof typeof orders;
export const memberOrders = Object.keys(orders) as MemberOrder[];

interface MemberFilter {
  organizationId: string;
  updatedAfter?: Date | undefined;
  email?: string | undefined;
  /** If set, returns only members whose name or email address contains this string. */
  search?: string | undefined;
  order: MemberOrder;
  limit: number;
  offset: number;
}

/**
 * Returns the SQL expression for the number of active members: the stored count of all members minus the inactive ones.
 * Inactive members are few and have an index.
 */
export const activeMemberCount = (organizationId: string) =>
  `(coalesce((SELECT size.members FROM organization_size size WHERE size.organization_id = ${organizationId}), 0)
    - (SELECT count(*)::int FROM membership others JOIN "user" inactive ON inactive.id = others.user_id
        WHERE others.organization_id = ${organizationId} AND NOT inactive.is_active))`;

export async function listMembers(sql: Sql, filter: MemberFilter): Promise<{ count: number; rows: MemberRow[] }> {
  const conditions = createConditions();
  conditions.add(`m.organization_id = ${conditions.parameter(filter.organizationId)}`);
  conditions.add('u.is_active');
  if (filter.updatedAfter) conditions.add(`m.updated_at > ${conditions.parameter(filter.updatedAfter)}`);
  if (filter.email !== undefined)
    conditions.add(`u.email = ${conditions.parameter(parseEmailAddress(filter.email) ?? filter.email)}`);
  if (filter.search) {
    const part = conditions.parameter(`%${filter.search.replace(/[\\%_]/g, '\\$&')}%`);
    conditions.add(`(u.email ILIKE ${part} OR u.first_name || ' ' || u.last_name ILIKE ${part})`);
  }
  const where = `${from} WHERE ${conditions.text()}`;
  const limits = toPageClauses(filter, conditions.parameter);
  const isWhole = filter.updatedAfter === undefined && filter.email === undefined && !filter.search;
  // Find the page first, so that the query does not compute the other columns for skipped rows.
  const rows = await sql.query<Counted<MemberRow>>(
    `SELECT total.count, page.*
       FROM (SELECT ${isWhole ? activeMemberCount('$1') : `(SELECT count(*)::int ${where})`} AS count) total
       LEFT JOIN LATERAL (
         SELECT ${memberColumns}, row_number() OVER (ORDER BY ${orders[filter.order]}) AS rank
           FROM (SELECT m.id ${where} ORDER BY ${orders[filter.order]} ${limits.page}) found
           JOIN membership m ON m.id = found.id
           JOIN "user" u ON u.id = m.user_id) page ON true
      ORDER BY page.rank`,
    conditions.values,
  );
  const { count, results } = splitCount(rows);
  return { count, rows: results };
}

/** Finds a member by the user's UUID or numeric ID. Includes inactive members. */
export async function findMember(
  sql: Sql,
  organizationId: string,
  user: { uuid: string } | { id: number },
): Promise<MemberRow | undefined> {
  const [column, value] = 'uuid' in user ? ['u.uuid', user.uuid] : ['u.id', user.id];
  const rows = await sql.query<Row>(`SELECT ${memberColumns} ${from} WHERE m.organization_id = $1 AND ${column} = $2`, [
    organizationId,
    value,
  ]);
  return rows[0];
}
