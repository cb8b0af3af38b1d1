// Sends events to gateways while servers fail, and compares the stored events with the acknowledged ones.

import { setTimeout as sleep } from 'node:timers/promises';
import { writeStory } from '@millrace/testing';
import type { Print } from '../harness/command.ts';
import { type Columns, formatRuns } from '../harness/report.ts';
import { type ChaosSystem, topicPrefix } from './chaos-system.ts';
import { watchPartitions } from './partition-watch.ts';
import { checkState, type StateCheck } from './state-check.ts';
import { createStoryLoad } from './story-load.ts';

export interface ChaosOptions {
  seconds: number;
  seed: number;
  /** The number of events to send per second. A busy machine may need a lower rate. */
  rate: number;
}

/** The result of a phase. The counts cover the whole run until the end of the phase. */
export interface PhaseResult extends StateCheck {
  name: string;
  longestStallMs: number;
  longestRequestMs: number;
}

export type ChaosRun = Awaited<ReturnType<typeof startChaosRun>>;

const eventsPerPerson = 60;
const clients = 6;
const patienceMs = 60_000;

export async function startChaosRun(
  system: ChaosSystem,
  { seconds, seed, rate, phases, urls }: ChaosOptions & { phases: number; urls: readonly string[] },
  print: Print,
) {
  print(`sending ${rate} events per second (seed ${seed})`);
  // Generate more events than the phases need, in case they take 50% longer.
  const events = Math.ceil(rate * phases * (seconds * 1.5 + 60));
  const streams = writeStory({ events, people: Math.ceil(events / eventsPerPerson), clients, seed });
  const load = createStoryLoad(urls, system.tenant.projectApiKey, { streams, eventsPerSecond: rate });
  system.onEnd(load.pause);
  const watch = await watchPartitions(system.kafka.address, system.database, topicPrefix);
  system.onEnd(watch.stop);
  /** Waits until all events are processed, and prints a message if some are not processed in time. */
  const settle = async () => {
    await load.pause();
    if (!(await watch.untilDrained(patienceMs))) print(`  ${watch.lag()} records have not been consumed`);
  };
  return {
    system,
    load,
    watch,
    print,
    seconds,
    settle,
    /**
     * Sends events while `act` runs, waits until they are processed, and compares the stored events with the
     * acknowledged ones.
     */
    async phase(name: string, act: () => Promise<unknown>): Promise<PhaseResult> {
      print(`${name}: ${seconds} s`);
      watch.takeLongestStall();
      load.takeLongestMs();
      load.resume();
      await act();
      await settle();
      const stall = watch.takeLongestStall();
      print(`  the longest stall was ${(stall.ms / 1000).toFixed(1)} s in ${stall.partition || 'no partition'}`);
      const check = await checkState(system.database, load.sent(), system.tenant.projectId);
      for (const example of check.examples) print(`  unexpected state: ${example}`);
      if (load.isOver()) print('  the events ran out, so the next phases have nothing to process');
      return { name, longestStallMs: stall.ms, longestRequestMs: load.takeLongestMs(), ...check };
    },
  };
}

export interface Fault {
  name: string;
  /** Causes the fault for about `ms` milliseconds, and resolves when the system works again. */
  strike(ms: number): Promise<void>;
  /** Repairs any damage that remains after `strike`. */
  end?(): void;
}

const warmUpMs = 3000;
/** Maximum duration of a fault in milliseconds, which is longer than every timeout of the services. */
const longestFaultMs = 15_000;

/**
 * Runs a phase for each selected fault and causes the fault repeatedly. A phase lasts at least until every partition
 * has made progress.
 */
export async function runFaultPhases(run: ChaosRun, faults: readonly Fault[]): Promise<PhaseResult[]> {
  const { watch, seconds } = run;
  const results: PhaseResult[] = [];
  const faultMs = Math.min(longestFaultMs, (seconds * 1000) / 3);
  for (const fault of faults) {
    const result = await run.phase(fault.name, async () => {
      const endsAt = performance.now() + seconds * 1000;
      do {
        await sleep(warmUpMs);
        watch.faultBegins();
        await fault.strike(faultMs);
        watch.faultEnds();
        if (!(await watch.untilMoved(patienceMs))) run.print(`  a partition has not moved for ${patienceMs / 1000} s`);
      } while (performance.now() + faultMs < endsAt);
      fault.end?.();
    });
    results.push(result);
  }
  return results;
}

/** Selects faults by name. An empty list selects all faults. @throws Error for an unknown name */
export function selectFaults(faults: readonly Fault[], names: readonly string[]): Fault[] {
  const known = faults.map(({ name }) => name);
  const unknown = names.find((name) => !known.includes(name));
  if (unknown !== undefined) throw new Error(`There is no fault "${unknown}". Use ${known.join(', ')}.`);
  return faults.filter(({ name }) => names.length === 0 || names.includes(name));
}

/**
 * Prints the results. Returns whether all results are correct and no partition stalled for longer than `stallLimitMs`.
 */
export function reportPhases<Result extends PhaseResult>(
  results: readonly Result[],
  print: Print,
  { stallLimitMs = Number.POSITIVE_INFINITY, more = {} }: { stallLimitMs?: number; more?: Columns<Result> } = {},
): boolean {
  const table = formatRuns<Result>(results, ({ name }) => name, {
    acknowledged: (result) => result.expected,
    stored: (result) => result.stored,
    lost: (result) => result.lost,
    duplicated: (result) => result.duplicated,
    wrong: (result) => result.wrong,
    'longest stall s': (result) => result.longestStallMs / 1000,
    'longest request s': (result) => result.longestRequestMs / 1000,
    ...more,
  });
  print(
    `\n${table}\nCounts are for the run up to this row. Wrong: events, persons and groups that differ from what was sent.`,
  );
  return (
    results.length > 0 &&
    results.every(
      ({ lost, duplicated, wrong, longestStallMs }) => lost + duplicated + wrong === 0 && longestStallMs < stallLimitMs,
    )
  );
}
