/**
 * The topics of the log (docs/architecture.md#the-log). Names carry a prefix so that several installations, or several
 * test files, can share one broker; the prefix is empty in production by default.
 */
export const lanes = ['live', 'historical', 'overflow'] as const;
export type Lane = (typeof lanes)[number];

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

/** Consumer group of a lane. Each lane has its own so that one can be stopped, reset or scaled alone. */
export function consumerGroup(lane: Lane, prefix = ''): string {
  return `${prefix}millrace.event-consumer.${lane}`;
}

/** Consumer group that follows a lane and publishes what it stored to the topic of processed events. */
export function outputGroup(lane: Lane, prefix = ''): string {
  return `${prefix}millrace.event-output.${lane}`;
}
