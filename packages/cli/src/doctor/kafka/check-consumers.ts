import { type Finding, listed, ok, problem, warning } from '../finding.ts';

export interface LaneReaders {
  topic: string;
  partitions: number;
  members: number;
  /** Records that are not read. */
  unread: bigint;
}

/** Every lane has somebody who reads it, and nobody who has nothing to read. */
export function checkConsumers(lanes: readonly LaneReaders[]): Finding[] {
  const deserted = lanes.filter(({ members }) => members === 0);
  const waiting = deserted.filter(({ unread }) => unread > 0n);
  const crowded = lanes.filter(({ members, partitions }) => members > partitions);
  const findings: Finding[] = [];
  if (waiting.length > 0) {
    findings.push(
      problem(
        `nobody reads ${listed(waiting.map(({ topic, unread }) => `${topic} (unread: ${unread})`))}`,
        'start consumers whose CONSUMER_LANES names these lanes',
      ),
    );
  }
  const idle = deserted.filter((lane) => !waiting.includes(lane));
  if (idle.length > 0) {
    findings.push(
      warning(
        `nobody reads ${listed(idle.map(({ topic }) => topic))}, and nothing waits there`,
        'start consumers whose CONSUMER_LANES names these lanes, before events come',
      ),
    );
  }
  if (crowded.length > 0) {
    const names = crowded.map(({ topic, members, partitions }) => `${topic} (${members} for ${partitions} partitions)`);
    findings.push(
      warning(
        `more consumers than partitions: ${listed(names)}, and some have nothing to do`,
        'run fewer, or grow the topic (docs/operations/scaling.md)',
      ),
    );
  }
  if (findings.length > 0) return findings;
  return [
    ok(lanes.map(({ topic, members, partitions }) => `${topic}: ${members} for ${partitions} partitions`).join('; ')),
  ];
}
