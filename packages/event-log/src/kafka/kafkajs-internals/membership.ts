import { type Assigner, type PartitionAssigner, PartitionAssigners } from 'kafkajs';

/**
 * Reason for this workaround: the kafkajs 2.2.4 consumer crashes whenever brokers are unreachable for a few seconds.
 * After a crash, it joins its group as a new member. If it could not leave the group before, its old membership remains
 * until the session expires. Until then, the group waits for the old member: all partitions are stopped, or some are
 * assigned to the old member, which no longer runs. This code therefore sends the coordinator the same member ID again,
 * and does not leave the group at a crash. A coordinator that does not know the ID rejects the request, and kafkajs
 * joins again as a new member. Relies on: an assigner being created for one consumer and receiving its cluster, which
 * provides coordinators; and on `joinGroup`, `leaveGroup` and `lookupRequest` of a coordinator. `lookupRequest` is
 * replaced at each connect. Test: stable-membership.kafka.test.ts. If kafkajs changes, joining a group throws. Remove
 * this workaround when the client keeps its membership, or supports static members (`group.instance.id`, KIP-345).
 */

/** Methods of a coordinator's broker object that the kafkajs types do not declare. */
interface Coordinator {
  joinGroup(request: object): Promise<unknown>;
  leaveGroup(request: object): Promise<unknown>;
  /** Selects the newest version of a request that both sides support. Returns a function that creates the request. */
  lookupRequest(apiKey: number, definition: unknown): (content: { memberId?: string }) => unknown;
}

/** Kafka's API key for JoinGroup requests (https://kafka.apache.org/protocol#protocol_api_keys). */
const joinGroupKey = 11;

/**
 * Creates an assigner factory for one consumer. The assigner assigns partitions like kafkajs's default, and makes the
 * consumer keep its group membership.
 * @param stopping a signal that is aborted before the consumer stops permanently
 * @throws Error if the version of kafkajs is not 2.2.4
 */
export function createStableMemberAssigner(stopping: AbortSignal): PartitionAssigner {
  const watched = new WeakSet<object>();
  let memberId = '';

  /** Patches a coordinator's requests. Must run after each connect, because connecting replaces `lookupRequest`. */
  function watchRequests(broker: Coordinator): void {
    const lookUp = broker.lookupRequest;
    if (watched.has(lookUp)) return;
    broker.lookupRequest = (apiKey, definition) => {
      const toRequest = lookUp(apiKey, definition);
      if (apiKey !== joinGroupKey) return toRequest;
      return (content) => {
        // Store the ID before sending, because the coordinator adds the member even if the response is lost.
        memberId = content.memberId || memberId;
        return toRequest({ ...content, memberId });
      };
    };
    watched.add(broker.lookupRequest);
  }

  function watch(broker: Coordinator): void {
    watchRequests(broker);
    if (watched.has(broker)) return;
    watched.add(broker);
    const [join, leave] = [broker.joinGroup, broker.leaveGroup];
    broker.joinGroup = async (request) => {
      try {
        return await join.call(broker, request);
      } catch (error) {
        if ((error as { type?: unknown }).type === 'UNKNOWN_MEMBER_ID') memberId = '';
        throw error;
      }
    };
    broker.leaveGroup = async (request) => (stopping.aborted ? leave.call(broker, request) : undefined);
  }

  return (config): Assigner => {
    const { cluster } = config;
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
  const { joinGroup, leaveGroup, lookupRequest } = broker as Partial<Coordinator>;
  if ([joinGroup, leaveGroup, lookupRequest].some((method) => typeof method !== 'function')) {
    throw new TypeError('kafkajs changed how it joins groups. Review membership.ts.');
  }
  return broker as Coordinator;
}
