import { type Assigner, type PartitionAssigner, PartitionAssigners } from 'kafkajs';

/** What a coordinator's broker object can do beside what kafkajs declares. */
interface Coordinator {
  joinGroup(request: { memberId?: string }): Promise<{ memberId: string }>;
  leaveGroup(request: { memberId: string }): Promise<unknown>;
}

type Cluster = Parameters<PartitionAssigner>[0]['cluster'];

/**
 * The usual assigner, from a factory that is made for one consumer. kafkajs joins as a new member after each of its
 * crashes, and it crashes whenever brokers are away for a few seconds. Its old self is still in the group then, which
 * therefore waits for it, with all partitions at rest, until its session is over. So the id a coordinator gave is kept
 * here and told again; a coordinator that does not know it (any more) says so, and kafkajs joins anew.
 *
 * Where to put this in without reaching inside: an assigner is given the consumer's cluster, and that gives coordinators.
 *
 * @throws Error when kafkajs is not the one this was written for (2.2.4).
 */
export function keptMembership(): PartitionAssigner {
  let memberId = '';

  async function join(broker: Coordinator, request: { memberId?: string }): Promise<{ memberId: string }> {
    try {
      const joined = await broker.joinGroup({ ...request, memberId: request.memberId || memberId });
      memberId = joined.memberId;
      return joined;
    } catch (error) {
      if ((error as { type?: unknown }).type === 'UNKNOWN_MEMBER_ID') memberId = '';
      throw error;
    }
  }

  function watch(broker: Coordinator): void {
    if (Object.hasOwn(broker, 'joinGroup')) return;
    const original: Coordinator = {
      joinGroup: broker.joinGroup.bind(broker),
      leaveGroup: broker.leaveGroup.bind(broker),
    };
    broker.joinGroup = (request) => join(original, request);
    broker.leaveGroup = async (request) => {
      const answer = await original.leaveGroup(request);
      memberId = '';
      return answer;
    };
  }

  return (config): Assigner => {
    const cluster: Cluster = config.cluster;
    const find = cluster.findGroupCoordinator.bind(cluster);
    cluster.findGroupCoordinator = async (group) => {
      const broker = await find(group);
      watch(toCoordinator(broker));
      return broker;
    };
    return PartitionAssigners.roundRobin(config);
  };
}

function toCoordinator(broker: unknown): Coordinator {
  const { joinGroup, leaveGroup } = broker as Partial<Coordinator>;
  if (typeof joinGroup !== 'function' || typeof leaveGroup !== 'function') {
    throw new TypeError('kafkajs has changed how groups are joined; keeping the membership needs to be looked at.');
  }
  return broker as Coordinator;
}
