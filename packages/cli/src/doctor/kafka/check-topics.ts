import type { InspectedTopic } from '@millrace/event-log';
import { type Finding, listed, orOk, problem, warning } from '../finding.ts';

interface Wanted {
  missing: readonly string[];
  partitions: number;
}

/** Every topic is there, with as many partitions as new ones would get, and is no compacted one. */
export function checkTopics(topics: readonly InspectedTopic[], { missing, partitions: wanted }: Wanted): Finding[] {
  const findings = topics.flatMap((topic) => [...judgePartitions(topic, wanted), ...judgeCleanup(topic)]);
  if (missing.length > 0) {
    findings.unshift(
      problem(
        `there is no ${listed(missing)}`,
        'services create their topics at their start, if the brokers let them; else create them by hand, with TOPIC_PARTITIONS partitions. Is TOPIC_PREFIX right?',
      ),
    );
  }
  return orOk(findings, `all ${topics.length} topics are there, with ${wanted} partitions each`);
}

function judgePartitions({ topic, partitions }: InspectedTopic, wanted: number): Finding[] {
  if (partitions.length === wanted) return [];
  return [
    warning(
      `${topic} has ${partitions.length} partitions, and TOPIC_PARTITIONS is ${wanted}, which only a new topic gets`,
      partitions.length < wanted
        ? 'set TOPIC_PARTITIONS to what the topic has, or grow the topic (docs/operations/scaling.md)'
        : 'set TOPIC_PARTITIONS to what the topic has: partitions cannot be taken away',
    ),
  ];
}

/** Compaction keeps one record of each key, which here is a person's or a device's id. */
function judgeCleanup({ topic, settings }: InspectedTopic): Finding[] {
  if (settings?.get('cleanup.policy')?.includes('compact') !== true) return [];
  return [
    problem(
      `${topic} is compacted: Kafka deletes all events of a distinct id but the newest, read or not`,
      'set cleanup.policy=delete for the topic at once',
    ),
  ];
}
