import type { SqlDatabase } from '@millrace/db/sql';
import { withDeadline } from '../port/with-deadline.ts';
import { type GroupState, heartbeat, type Member, type MembershipState, readGroupState } from './membership-store.ts';

export interface MembershipDeps {
  database: SqlDatabase;
  member: Member;
  leaseMs: number;
}

/** What a member knows of its group, and when it last said that it lives. */
export function createMembership({ database, member, leaseMs }: MembershipDeps) {
  let seen: GroupState = { ends: new Map(), logs: new Map(), members: '' };
  let lastHeartbeatAt = Number.NEGATIVE_INFINITY;

  function bounded<T>(work: Promise<T>): Promise<T> {
    return withDeadline(work, leaseMs, 'looking at the log');
  }

  return {
    endOffset: (partition: number) => seen.ends.get(partition) ?? 0n,
    logOf: (partition: number) => seen.logs.get(partition),
    /** @returns whether the members are others than before. */
    async look(): Promise<boolean> {
      const { members } = seen;
      seen = await bounded(readGroupState(database.sql, member));
      return members !== seen.members;
    },
    isHeartbeatDue: () => performance.now() - lastHeartbeatAt > leaseMs / 3,
    /** Whether others may have taken this member's partitions. */
    isExpired: () => performance.now() - lastHeartbeatAt >= leaseMs,
    async heartbeat(): Promise<MembershipState> {
      const beganAt = performance.now();
      const state = await bounded(database.transaction((tx) => heartbeat(tx, member, leaseMs)));
      lastHeartbeatAt = beganAt;
      return state;
    },
  };
}
