/**
 * The topics of the event log (docs/architecture.md#the-log). With a prefix, several installations or several test
 * files can share one broker. The prefix is empty by default.
 */
export const eventTopics = ['live', 'historical', 'overflow'] as const;
export type EventTopic = (typeof eventTopics)[number];

export interface TopicNames {
  live: string;
  historical: string;
  overflow: string;
  deadLetter: string;
  processed: string;
}

export function topicNames(prefix = ''): TopicNames {
  return {
    live: `${prefix}events.live`,
    historical: `${prefix}events.historical`,
    overflow: `${prefix}events.overflow`,
    deadLetter: `${prefix}events.dead-letter`,
    processed: `${prefix}events.processed`,
  };
}

/** Returns a topic's consumer group. Each topic has its own group, which can be stopped, reset or scaled separately. */
export function consumerGroup(topic: EventTopic, prefix = ''): string {
  return `${prefix}millrace.event-consumer.${topic}`;
}

/** Returns the consumer group that publishes a topic's stored events to `events.processed`. */
export function publisherGroup(topic: EventTopic, prefix = ''): string {
  return `${prefix}millrace.event-output.${topic}`;
}
