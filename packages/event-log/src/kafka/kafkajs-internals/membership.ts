import { type Assigner, type PartitionAssigner, PartitionAssigners } from 'kafkajs';

/**
 * Reason: kafkajs 2.2.4 leaves its group with each of its crashes, or cannot leave it because the brokers are away, and joins
 * as a new member afterwards; and it crashes whenever brokers are away for a few seconds. Its old self is then still in the
 * group, which waits for it, with all partitions at rest or some in nobody's hands, until its session is over. So the id a
 * coordinator gave is kept here and told again, and who crashes does not leave. A coordinator that does not know the id (any
 * more) says so, and kafkajs rejoins.
 * Relies on: an assigner being made for one consumer and given its cluster, which gives coordinators; `joinGroup`,
 * `leaveGroup` and `lookupRequest` of those, the last of which is set again with each connecting.
 * Witness: kept-membership.kafka.test.ts. If kafkajs changes, joining a group throws.
 * May go: when the client keeps its membership by itself, or knows static members (`group.instance.id`, KIP-345).
 */

/** What a coordinator's broker object can do beside what kafkajs declares. */
interface Coordinator {
  joinGroup(request: object): Promise<unknown>;
  leaveGroup(request: object): Promise<unknown>;
  /** The version of a request that both sides know, as a function from its content to what is sent. */
  lookupRequest(apiKey: number, definition: unknown): (content: { memberId?: string }) => unknown;
}

/** Of JoinGroup: https://kafka.apache.org/protocol#protocol_api_keys */
const joinGroupKey = 11;

/**
 * The usual assigner, in a factory for one consumer that has it stay the same member of its group.
 *
 * @param stopping aborted before the consumer is stopped for good.
 * @throws Error when kafkajs is not the one this was written for (2.2.4).
 */
export function keptMembership(stopping: AbortSignal): PartitionAssigner {
  const watched = new WeakSet<object>();
  let memberId = '';

  /** Each connecting puts a new one in its place. */
  function watchRequests(broker: Coordinator): void {
    const lookUp = broker.lookupRequest;
    if (watched.has(lookUp)) return;
    broker.lookupRequest = (apiKey, definition) => {
      const toRequest = lookUp(apiKey, definition);
      if (apiKey !== joinGroupKey) return toRequest;
      return (content) => {
        // Before it is sent: a member that was not answered is one all the same.
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
