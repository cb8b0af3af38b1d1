/**
 * The topics of the event log (docs/architecture.md#the-log). A prefix allows several installations or several test
 * files to share one broker. By default, there is no prefix.
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
 * Returns the consumer group of a topic. Each topic has its own group, so that it can be stopped, reset or scaled
 * separately.
 */
export function consumerGroup(topic: EventTopic, prefix = ''): string {
  return `${prefix}millrace.event-consumer.${topic}`;
}

/** Returns the consumer group that publishes a topic's stored events to the topic of processed events. */
export function publisherGroup(topic: EventTopic, prefix = ''): string {
  return `${prefix}millrace.event-output.${topic}`;
}
