import type { ReadOffset } from '../log/stored-offsets.ts';
import { type Finding, listed, orOk, problem, warning } from './finding.ts';

/** What was read is still there, and lies in the log that is read now. */
export function checkStoredOffsets(offsets: readonly ReadOffset[], topics: readonly string[]): Finding[] {
  const ours = offsets.filter(({ topic }) => topics.includes(topic));
  const truncated = ours.filter(({ end, nextOffset }) => end !== null && end < nextOffset);
  const hasCurrent = new Set(ours.filter(({ end }) => end !== null).map(placeOf));
  // An old log beside the one that is read was left on purpose.
  const strangers = ours.filter((one) => one.end === null && !hasCurrent.has(placeOf(one)));
  const findings: Finding[] = [];
  if (truncated.length > 0) {
    findings.push(
      problem(
        `the log has lost what was read of ${listed(truncated.map(placeOf))}: these partitions wait`,
        'find out why (a broker restored from a copy, an unclean election), then `millrace offsets accept <partition> --from start`',
      ),
    );
  }
  if (strangers.length > 0) {
    const logs = [...new Set(strangers.map(({ log }) => log))];
    findings.push(
      warning(
        `${listed(strangers.map(placeOf))} were last read from another log (${listed(logs, 2)})`,
        'is this the right Kafka, or EVENT_LOG? When that log is gone for good: `millrace offsets forget <log>`',
      ),
    );
  }
  return orOk(findings, ours.length === 0 ? 'nothing was read yet' : `within their logs: ${ours.length}`);
}

function placeOf({ topic, partition }: ReadOffset): string {
  return `${topic}/${partition}`;
}
