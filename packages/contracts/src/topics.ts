/**
 * The topics of the event log (docs/architecture.md#the-log). A prefix lets several installations, or several test
 * files, share one broker. In production, the prefix is empty by default.
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

/**
 * Returns the consumer group of a topic. Each topic has its own, so that it can be stopped, reset or scaled separately.
 */
export function consumerGroup(topic: EventTopic, prefix = ''): string {
  return `${prefix}millrace.event-consumer.${topic}`;
}

/** Returns the consumer group that reads a topic and publishes its stored events to the topic of processed events. */
export function publisherGroup(topic: EventTopic, prefix = ''): string {
  return `${prefix}millrace.event-output.${topic}`;
}
