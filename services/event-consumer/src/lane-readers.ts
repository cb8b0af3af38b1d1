import { consumerGroup, type Lane, outputGroup } from '@millrace/contracts';
import type { EventLog } from '@millrace/event-log';
import { type ConsumerConfig, configuredLanes } from './config.ts';
import { type ConsumeLaneDeps, consumeLane } from './consume-lane.ts';
import type { FormerLogReader } from './former-log/drain-former-log.ts';
import { type PublishLaneDeps, publishLane } from './output/publish-lane.ts';

/** What both kinds of readers need but the log. */
export type LaneDeps = Omit<ConsumeLaneDeps, 'log'> & Pick<PublishLaneDeps, 'database' | 'published'>;

/**
 * All that reads lanes in a log.
 * @param chosen what is published goes there, whichever log is read.
 */
export function laneReaders(
  config: ConsumerConfig,
  { read, chosen }: { read: Pick<EventLog, 'consume'>; chosen: Pick<EventLog, 'append'> },
  deps: LaneDeps,
): FormerLogReader[] {
  const { topicPrefix } = config;
  const lanes = configuredLanes(config);
  return [
    ...lanes.map((lane) => ({
      topic: deps.topics[lane.lane],
      group: consumerGroup(lane.lane, topicPrefix),
      join: () => consumeLane(lane, { ...deps, log: read }),
    })),
    ...publishedLanes(config).map((lane) => ({
      topic: deps.topics[lane],
      group: outputGroup(lane, topicPrefix),
      join: () =>
        publishLane(lane, {
          ...deps,
          log: { consume: read.consume, append: chosen.append },
          projects: deps.process.projects,
        }),
    })),
  ];
}

/** The lanes whose stored events are published. */
export function publishedLanes(config: ConsumerConfig): Lane[] {
  return config.publishProcessed === 'on' ? configuredLanes(config).map(({ lane }) => lane) : [];
}
