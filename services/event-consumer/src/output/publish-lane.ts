import { consumerGroup, type Lane, outputGroup, type TopicNames } from '@millrace/contracts';
import type { SqlDatabase } from '@millrace/db/sql';
import { type EventLog, type LogConsumer, readStartOffset } from '@millrace/event-log';
import type { Logger } from '@millrace/runtime';
import { sleepUntilAborted } from '../async/sleep-until-aborted.ts';
import type { ProjectResolver } from '../intake/resolve-projects.ts';
import { createPublishHandler } from './publish-stored.ts';

export interface PublishLaneDeps {
  log: Pick<EventLog, 'append' | 'consume'>;
  database: Pick<SqlDatabase, 'sql' | 'transaction'>;
  projects: Pick<ProjectResolver, 'resolve'>;
  topics: TopicNames;
  topicPrefix: string;
  maxBatchRecords: number;
  maxBatchBytes: number;
  logger: Logger;
  published(lane: Lane, count: number): void;
  onFatal(error: Error): void;
}

/**
 * Joins the group that follows a lane. When it joins for the first time, it begins with the oldest records the log
 * still has.
 */
export function publishLane(lane: Lane, deps: PublishLaneDeps): Promise<LogConsumer> {
  const group = outputGroup(lane, deps.topicPrefix);
  return deps.log.consume({
    topic: deps.topics[lane],
    group,
    maxBatchRecords: deps.maxBatchRecords,
    maxBatchBytes: deps.maxBatchBytes,
    partitionConcurrency: 1,
    startOffset: (topic, partition, view) => readStartOffset(deps.database.sql, { topic, partition, group }, view),
    handler: createPublishHandler({
      database: deps.database,
      log: deps.log,
      projects: deps.projects,
      topic: deps.topics.processed,
      storingGroup: consumerGroup(lane, deps.topicPrefix),
      group,
      logger: deps.logger,
      published: (count) => deps.published(lane, count),
      sleep: sleepUntilAborted,
    }),
    onFatal: deps.onFatal,
  });
}
