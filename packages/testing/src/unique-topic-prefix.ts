import { randomUUID } from 'node:crypto';

/** Prefix for `topicNames` and `consumerGroup`, so that test files share one broker without meeting. */
export function uniqueTopicPrefix(): string {
  return `t-${randomUUID()}.`;
}
