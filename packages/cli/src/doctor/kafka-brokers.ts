// Checks of `millrace doctor` for Kafka brokers: replicas, leaders and disk space.

import type { InspectedTopic, LogDirectory } from '@millrace/event-log';
import { type Finding, formatBytes, joinNames, ok, problem, warning } from './checks.ts';

/** Checks that every acknowledged record is stored on at least two brokers, and that every partition accepts writes. */
export function checkReplicas(topics: readonly InspectedTopic[], brokerCount: number): Finding[] {
  const findings = [
    ...judgeLeaders(topics),
    ...judgeInSync(topics),
    ...(brokerCount < 2 ? [oneBroker] : judgeCopies(topics)),
    ...judgeElections(topics),
  ];
  return findings.length > 0 ? findings : [ok(`${brokerCount} brokers, all replicas in sync`)];
}

const oneBroker = warning(
  'there is only one broker, so data that it loses cannot be recovered',
  'To protect your events, run three brokers, with three replicas per topic and min.insync.replicas=2.',
);

function judgeLeaders(topics: readonly InspectedTopic[]): Finding[] {
  const without = partitionsOf(topics, ({ hasLeader }) => !hasLeader);
  if (without.length === 0) return [];
  return [
    problem(
      `no leader for ${joinNames(without)}: these partitions cannot be written to or read`,
      'Bring the missing brokers back online.',
    ),
  ];
}

function judgeInSync(topics: readonly InspectedTopic[]): Finding[] {
  const refused = topics.flatMap((topic) =>
    partitionsOf([topic], ({ inSync, replicas }) => inSync < Math.min(leastInSync(topic), replicas)),
  );
  const behind = partitionsOf(topics, ({ inSync, replicas }) => inSync < replicas);
  const findings: Finding[] = [];
  if (refused.length > 0) {
    findings.push(
      problem(
        `fewer in-sync replicas than min.insync.replicas in ${joinNames(refused)}: these partitions reject writes`,
        'Bring the missing brokers back online.',
      ),
    );
  }
  if (behind.length > 0) {
    findings.push(
      warning(
        `replicas of ${joinNames(behind)} are missing or behind`,
        'Check the brokers, their disks and their network.',
      ),
    );
  }
  return findings;
}

function judgeCopies(topics: readonly InspectedTopic[]): Finding[] {
  return topics.flatMap((topic) => {
    const copies = Math.min(...topic.partitions.map(({ replicas }) => replicas));
    const least = leastInSync(topic);
    if (copies < 2) {
      return [
        warning(
          `${topic.topic} has only one replica per partition, so data that a broker loses cannot be recovered`,
          'Configure three replicas for the topic (kafka-reassign-partitions.sh), and set min.insync.replicas=2.',
        ),
      ];
    }
    if (least >= copies) {
      return [
        warning(
          `${topic.topic} has ${copies} replicas and min.insync.replicas=${least}, so it rejects writes as soon as one broker is down`,
          'Set min.insync.replicas to one less than the number of replicas.',
        ),
      ];
    }
    // The settings are null if the Kafka user is not allowed to read them.
    if (least >= 2 || topic.settings === null) return [];
    return [
      warning(
        `${topic.topic} has min.insync.replicas=1, so the gateway responds with 200 as soon as a single broker has stored an event`,
        'Set min.insync.replicas=2 for the topic.',
      ),
    ];
  });
}

function judgeElections(topics: readonly InspectedTopic[]): Finding[] {
  const unclean = topics.filter(({ settings }) => settings?.get('unclean.leader.election.enable') === 'true');
  if (unclean.length === 0) return [];
  return [
    warning(
      `unclean.leader.election.enable is true for ${joinNames(unclean.map(({ topic }) => topic))}: a replica that lacks ` +
        'acknowledged events can become leader',
      'Set it to false.',
    ),
  ];
}

function leastInSync({ settings }: InspectedTopic): number {
  return Number(settings?.get('min.insync.replicas') ?? 1);
}

function partitionsOf(
  topics: readonly InspectedTopic[],
  isMeant: (partition: InspectedTopic['partitions'][number]) => boolean,
): string[] {
  return topics.flatMap(({ topic, partitions }) =>
    partitions.filter(isMeant).map(({ partition }) => `${topic}/${partition}`),
  );
}

/** Shares of free disk space. Below the first, the finding is a warning, and below the second, it is a problem. */
const littleShare = 0.2;
const tooLittleShare = 0.05;

/**
 * Checks the brokers' free disk space. A broker stops when its disk is full. Its partitions can then neither be written
 * nor read.
 */
export function checkDisks(directories: readonly LogDirectory[] | null): Finding[] {
  if (directories === null) {
    return [
      ok('disks were not checked. The check requires Kafka 3.3 or later and the Describe permission on the cluster'),
    ];
  }
  const offline = directories.filter(({ isOffline }) => isOffline);
  const online = directories.filter(({ isOffline }) => !isOffline);
  return [...judgeOffline(offline), ...judgeSpace(online)];
}

function judgeOffline(directories: readonly LogDirectory[]): Finding[] {
  if (directories.length === 0) return [];
  return [
    problem(
      `brokers have taken disks offline: ${joinNames(directories.map(named))}. Partitions on these disks cannot be written to or read`,
      'Repair or replace the disks, then restart these brokers.',
    ),
  ];
}

function judgeSpace(directories: readonly LogDirectory[]): Finding[] {
  const known = directories.flatMap(({ space, ...directory }) => (space === null ? [] : [{ ...directory, ...space }]));
  const share = (one: (typeof known)[number]) => one.freeBytes / one.totalBytes;
  const shown = joinNames(
    known
      .toSorted((a, b) => share(a) - share(b))
      .map((one) => `${named(one)} has ${formatBytes(one.freeBytes)} of ${formatBytes(one.totalBytes)} left`),
  );
  if (known.length === 0)
    return directories.length > 0 ? [ok('the brokers do not report the sizes of their disks')] : [];
  const least = Math.min(...known.map(share));
  if (least >= littleShare) return [ok(shown)];
  const advice = 'Give the brokers larger disks, or lower retention.ms of topics whose events have already been read.';
  return [
    least < tooLittleShare ? problem(`${shown}: a broker stops when its disk is full`, advice) : warning(shown, advice),
  ];
}

function named({ broker, path }: Pick<LogDirectory, 'broker' | 'path'>): string {
  return `broker ${broker}, ${path}`;
}
