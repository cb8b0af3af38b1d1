// SQL for consumer groups of the PostgreSQL log. Expired leases cause a consumer rebalance.

import type { Sql, Transaction } from '@millrace/db/sql';

export interface Member {
  topic: string;
  group: string;
  memberId: string;
}

export interface MembershipState {
  share: number;
  /** The partitions on which the member holds a lease, which was just renewed. */
  held: number[];
}

/**
 * Processes one heartbeat of a member: stores that the member is alive, renews its leases, and takes free partitions up
 * to its share. An advisory lock makes the members of a group run this function one after the other, so that no member
 * decides based on outdated data. All times are those of the database, because the members' clocks may differ.
 */
export async function renewMembership(tx: Transaction, member: Member, leaseMs: number): Promise<MembershipState> {
  const { topic, group, memberId } = member;
  await tx.query(`SELECT pg_advisory_xact_lock(hashtextextended('millrace event log group ' || $1 || ' ' || $2, 0))`, [
    topic,
    group,
  ]);
  await tx.query(
    `DELETE FROM event_log_member
     WHERE topic = $1 AND "group" = $2 AND expires_at < clock_timestamp() AND member_id <> $3`,
    [topic, group, memberId],
  );
  await tx.query(
    `INSERT INTO event_log_member (topic, "group", member_id, expires_at)
     VALUES ($1, $2, $3, clock_timestamp() + $4 * interval '1 millisecond')
     ON CONFLICT (topic, "group", member_id) DO UPDATE SET expires_at = excluded.expires_at`,
    [topic, group, memberId, leaseMs],
  );
  const renewed = await tx.query<{ partition: number }>(
    `UPDATE event_log_lease SET expires_at = clock_timestamp() + $4 * interval '1 millisecond'
     WHERE topic = $1 AND "group" = $2 AND member_id = $3
     RETURNING partition`,
    [topic, group, memberId, leaseMs],
  );
  const share = await readShare(tx, member);
  const held = renewed.map(({ partition }) => partition);
  const taken = held.length < share ? await takeFree(tx, member, share - held.length, leaseMs) : [];
  return { share, held: [...held, ...taken].sort((a, b) => a - b) };
}

/**
 * Divides the partitions among the members, and returns this member's number of partitions. The remainder is given to
 * the first members in the order of their IDs, one partition each.
 */
async function readShare(tx: Transaction, { topic, group, memberId }: Member): Promise<number> {
  const [row] = await tx.query<{ share: number }>(
    `SELECT (partitions / members + CASE WHEN rank < partitions % members THEN 1 ELSE 0 END)::int AS share
     FROM (SELECT count(*) AS partitions FROM event_log_partition WHERE topic = $1) AS p,
          (SELECT count(*) AS members, count(*) FILTER (WHERE member_id < $3) AS rank
           FROM event_log_member WHERE topic = $1 AND "group" = $2) AS m`,
    [topic, group, memberId],
  );
  return row?.share ?? 0;
}

async function takeFree(tx: Transaction, member: Member, count: number, leaseMs: number): Promise<number[]> {
  const rows = await tx.query<{ partition: number }>(
    `INSERT INTO event_log_lease (topic, partition, "group", member_id, expires_at)
     SELECT p.topic, p.partition, $2, $3, clock_timestamp() + $4 * interval '1 millisecond'
     FROM event_log_partition p
     LEFT JOIN event_log_lease l ON l.topic = p.topic AND l.partition = p.partition AND l."group" = $2
     WHERE p.topic = $1 AND (l.member_id IS NULL OR l.expires_at < clock_timestamp())
     ORDER BY p.partition LIMIT $5
     ON CONFLICT (topic, partition, "group")
       DO UPDATE SET member_id = excluded.member_id, expires_at = excluded.expires_at
     RETURNING partition`,
    [member.topic, member.group, member.memberId, leaseMs, count],
  );
  return rows.map(({ partition }) => partition);
}

export async function releaseLeases(sql: Sql, { topic, group, memberId }: Member, partitions: number[]): Promise<void> {
  await sql.query(
    `DELETE FROM event_log_lease
     WHERE topic = $1 AND "group" = $2 AND member_id = $3 AND partition = ANY($4::int[])`,
    [topic, group, memberId, partitions],
  );
}

export async function leaveGroup(sql: Sql, { topic, group, memberId }: Member): Promise<void> {
  await sql.query(
    `WITH member AS (DELETE FROM event_log_member WHERE topic = $1 AND "group" = $2 AND member_id = $3)
     DELETE FROM event_log_lease WHERE topic = $1 AND "group" = $2 AND member_id = $3`,
    [topic, group, memberId],
  );
}

/** The state that a member polls between heartbeats: the partitions' end offsets and the group's members. */
export interface GroupState {
  ends: Map<number, bigint>;
  logs: Map<number, string>;
  /** A string that changes when a member joins or leaves. */
  members: string;
}

export async function readGroupState(sql: Sql, { topic, group }: Pick<Member, 'topic' | 'group'>): Promise<GroupState> {
  const rows = await sql.query<{ partition: number; log: string; next_offset: string; members: string | null }>(
    `SELECT partition, 'postgres/' || log_id AS log, next_offset,
       (SELECT string_agg(member_id::text, ' ' ORDER BY member_id)
        FROM event_log_member WHERE topic = $1 AND "group" = $2 AND expires_at > now()) AS members
     FROM event_log_partition WHERE topic = $1`,
    [topic, group],
  );
  return {
    ends: new Map(rows.map((row) => [row.partition, BigInt(row.next_offset)])),
    logs: new Map(rows.map((row) => [row.partition, row.log])),
    members: rows[0]?.members ?? '',
  };
}
