import { consumerGroup, lanes, topicNames } from '@millrace/contracts';
import type { InspectedTopic, KafkaInspection } from '@millrace/event-log';
import type { ReadOffset } from '../../log/stored-offsets.ts';
import { unreadRecords } from '../../log/unread-records.ts';
import type { DoctorSettings } from '../doctor-settings.ts';
import type { Check } from '../run-checks.ts';
import { checkConsumers } from './check-consumers.ts';
import { checkDisks } from './check-disks.ts';
import { checkRecordSize } from './check-record-size.ts';
import { checkReplicas } from './check-replicas.ts';
import { checkRetention, retentionMsOf } from './check-retention.ts';
import { checkTopics } from './check-topics.ts';

export interface KafkaContext {
  kafka: KafkaInspection;
  settings: DoctorSettings;
  /** Names of those there are, and what could be read of them. */
  existing: readonly string[];
  topics: readonly InspectedTopic[];
  /** Empty when PostgreSQL does not answer. */
  offsets: readonly ReadOffset[];
}

/** Names of the topics that services use with these settings. */
export function namesOfTopics({ topicPrefix }: DoctorSettings): string[] {
  return Object.values(topicNames(topicPrefix));
}

/** All that is asked of a Kafka that answers. */
export function kafkaChecks(context: KafkaContext): Check[] {
  const { kafka, settings, existing, topics } = context;
  const missing = namesOfTopics(settings).filter((name) => !existing.includes(name));
  const ofTopics = {
    name: 'kafka topics',
    look: () => checkTopics(topics, { missing, partitions: settings.topicPartitions }),
  };
  // Of no topic there is nothing more to say.
  if (topics.length === 0) return missing.length > 0 ? [ofTopics] : [];
  return [
    ofTopics,
    { name: 'kafka replicas', look: async () => checkReplicas(topics, (await kafka.brokers()).length) },
    { name: 'kafka disks', look: async () => checkDisks(await kafka.logDirectories()) },
    { name: 'kafka record size', look: () => checkRecordSize(topics, settings.maxRecordBytes) },
    { name: 'kafka retention', look: () => retention(context) },
    { name: 'consumers', look: () => consumers(context) },
  ];
}

async function retention({ kafka, settings, topics, offsets }: KafkaContext) {
  const laneTopics = laneTopicsOf(settings);
  const newerHalf = new Map<string, ReadonlyMap<number, bigint>>();
  for (const topic of topics.filter((one) => laneTopics.includes(one.topic))) {
    const keptMs = retentionMsOf(topic) ?? -1;
    if (keptMs > 0) newerHalf.set(topic.topic, await kafka.firstAppendedAt(topic.topic, Date.now() - keptMs / 2));
  }
  return checkRetention({
    ...{ topics, lanes: laneTopics, offsets, newerHalf },
    keepDeletedIdsDays: settings.keepDeletedIdsDays,
  });
}

async function consumers({ kafka, settings, topics, offsets }: KafkaContext) {
  const members = await kafka.memberCounts(lanes.map((lane) => consumerGroup(lane, settings.topicPrefix)));
  return checkConsumers(
    lanes.flatMap((lane) => {
      const topic = topics.find((one) => one.topic === topicNames(settings.topicPrefix)[lane]);
      if (topic === undefined) return [];
      const group = consumerGroup(lane, settings.topicPrefix);
      const { unread } = unreadRecords(
        topic,
        offsets.filter((one) => one.group === group),
      );
      return [{ topic: topic.topic, partitions: topic.partitions.length, members: members.get(group) ?? 0, unread }];
    }),
  );
}

function laneTopicsOf({ topicPrefix }: DoctorSettings): string[] {
  const names = topicNames(topicPrefix);
  return lanes.map((lane) => names[lane]);
}
