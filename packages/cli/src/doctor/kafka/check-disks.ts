import type { LogDirectory } from '@millrace/event-log';
import { type Finding, listed, ok, problem, warning } from '../finding.ts';
import { shownBytes } from '../shown-bytes.ts';

/** Free shares of a disk below which something is to be done this week, and now. */
const littleShare = 0.2;
const tooLittleShare = 0.05;

/** A broker whose disk is full stops by itself, and what it leads can be neither written nor read. */
export function checkDisks(directories: readonly LogDirectory[] | null): Finding[] {
  if (directories === null) {
    return [
      ok('brokers before Kafka 3.3, or that hide it from this client (Describe on the cluster), tell of no disks'),
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
      `given up by their brokers: ${listed(directories.map(named))}: what is there cannot be written or read`,
      'mend or exchange the disks, and start those brokers again',
    ),
  ];
}

function judgeSpace(directories: readonly LogDirectory[]): Finding[] {
  const known = directories.flatMap(({ space, ...directory }) => (space === null ? [] : [{ ...directory, ...space }]));
  const share = (one: (typeof known)[number]) => one.freeBytes / one.totalBytes;
  const shown = listed(
    known
      .toSorted((a, b) => share(a) - share(b))
      .map((one) => `${named(one)} has ${shownBytes(one.freeBytes)} of ${shownBytes(one.totalBytes)} left`),
  );
  if (known.length === 0) return directories.length > 0 ? [ok('brokers do not know the sizes of their disks')] : [];
  const least = Math.min(...known.map(share));
  if (least >= littleShare) return [ok(shown)];
  const advice = 'give the brokers larger disks, or lower retention.ms of topics whose events are long read';
  return [
    least < tooLittleShare ? problem(`${shown}: a broker with a full disk stops`, advice) : warning(shown, advice),
  ];
}

function named({ broker, path }: Pick<LogDirectory, 'broker' | 'path'>): string {
  return `broker ${broker}, ${path}`;
}
