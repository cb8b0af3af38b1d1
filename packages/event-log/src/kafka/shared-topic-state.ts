import type { PartitionView } from '../port/event-log.ts';
import type { TopicReader, TopicState } from './topic-state.ts';

/** The state of one topic. All partitions of an assignment ask at once: one answer serves them. */
export function createSharedTopicState(topics: TopicReader, topic: string) {
  let shared: Promise<TopicState> | undefined;
  return {
    read(): Promise<TopicState> {
      shared ??= topics.stateOf(topic).finally(() => {
        shared = undefined;
      });
      return shared;
    },
    /** What the owner of stored offsets may look at. */
    viewOf(partition: number, state: TopicState): PartitionView {
      return {
        log: state.log,
        end: async () => boundsOf(state, partition).high,
        firstAppendedAfter: (ms) => topics.firstAppendedAfter(topic, partition, ms),
      };
    },
  };
}

export type SharedTopicState = ReturnType<typeof createSharedTopicState>;

export function boundsOf({ bounds }: TopicState, partition: number) {
  const found = bounds.find((one) => one.partition === partition);
  if (found === undefined) throw new Error(`the topic has no partition ${partition}`);
  return found;
}
