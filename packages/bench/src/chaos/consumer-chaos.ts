import { loadavg } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createFaultProxy, seededRandom, startKafkaFaultProxy, writeStory } from '@millrace/testing';
import { readable, textTable } from '../report/report.ts';
import { type ChaosSystem, startChaosSystem, topicPrefix } from './chaos-system.ts';
import { type ConsumerFault, consumerFaults } from './consumer-faults.ts';
import { type ConsumerPool, createConsumerPool } from './consumer-pool.ts';
import { type LaneWatch, watchLanes } from './lane-watch.ts';
import { checkState, type StateCheck } from './state-check.ts';
import { createStoryLoad, type StoryLoad } from './story-load.ts';

export interface ConsumerChaosOptions {
  /** Length of one phase. */
  seconds: number;
  /** Names of phases; null for all. */
  only: string[] | null;
  seed: number;
  /** What is sent, whatever is broken; a machine that does something else too can do less. */
  eventsPerSecond: number;
  /** Directory that keeps what each consumer says; null for none. */
  logs: string | null;
}

interface PhaseResult extends StateCheck {
  name: string;
  strikes: number;
  longestStallMs: number;
  /** Memory of the largest consumer. */
  memoryMb: number;
  endedByThemselves: number;
  /** Load of the machine in the last minute of the phase: a stall on a busy machine says little. */
  machineLoad: number;
}

const consumers = 4;
const eventsPerPerson = 60;
const clients = 4;
const warmUpMs = 3000;
const longestFaultMs = 12_000;
const patienceMs = 60_000;
/** The promise: after a fault has ended no partition stands still for longer. */
const stallLimitMs = 10_000;
/** The promise for a consumer that is attacked. */
const memoryLimitMb = 300;

/** Breaks everything around four consumers, and them, one after the other while a story is told. @returns true when its end state is right. */
export async function chaosConsumer(options: ConsumerChaosOptions, print: (line: string) => void): Promise<boolean> {
  print(`starting PostgreSQL, Kafka, Redis and the services (seed ${options.seed})`);
  const system = await startChaosSystem({ logs: options.logs });
  const closers: (() => Promise<unknown>)[] = [system.stop];
  const results: PhaseResult[] = [];
  try {
    const { hostname, port } = new URL(system.postgres.address);
    const postgresProxy = await createFaultProxy({ targetHost: hostname, targetPort: Number(port) });
    closers.push(postgresProxy.stop);
    const kafkaProxy = await startKafkaFaultProxy([system.kafka.address]);
    closers.push(kafkaProxy.stop);
    const throughProxies = {
      DATABASE_URL: Object.assign(new URL(system.postgres.address), {
        hostname: postgresProxy.host,
        port: String(postgresProxy.port),
      }).toString(),
      KAFKA_BROKERS: kafkaProxy.brokers.join(','),
    };
    let gateway = await system.startGateway(0);
    let eventLog = 'kafka';
    const pool = createConsumerPool(() => system.startConsumer({ ...throughProxies, EVENT_LOG: eventLog }), print);
    closers.push(pool.stop);
    await pool.add(consumers);
    const watch = await watchLanes(system.kafka.address, system.database, topicPrefix);
    closers.push(watch.stop);

    const memory = watchMemory(pool.ports);
    closers.push(memory.stop);

    const random = seededRandom(options.seed);
    const url = `http://127.0.0.1:${gateway.port}`;
    const faults = consumerFaults({
      ...{ system, pool, postgresProxy, kafkaProxy, random, gatewayUrl: url },
      async rest() {
        await load.pause();
        if (!(await watch.untilDrained(patienceMs))) print(`  ${watch.lag()} records have not been consumed`);
      },
      goOn: () => load.resume(),
      async useLog(kind) {
        eventLog = kind;
        await gateway.stop();
        gateway = await system.startGateway(gateway.port, { EVENT_LOG: kind });
      },
    }).filter(({ name }) => options.only?.includes(name) ?? true);
    // Half more than a phase without trouble would need: the story must not be over before the phases are.
    const events = Math.ceil(options.eventsPerSecond * faults.length * (options.seconds * 1.5 + 60));
    const streams = writeStory({ events, people: Math.ceil(events / eventsPerPerson), clients, seed: options.seed });
    const load = createStoryLoad(url, system.tenant.projectApiKey, {
      streams,
      eventsPerSecond: options.eventsPerSecond,
    });
    // How long a new installation takes to form its groups is no stall.
    load.resume();
    await sleep(warmUpMs);
    watch.faultEnds();
    if (!(await watch.untilMoved(patienceMs))) throw new Error('The consumers are not processing any records.');
    for (const fault of faults) {
      results.push(await strikePhase(fault, { ...options, system, pool, watch, memory, load, print }));
    }
    if (load.isOver()) print('the events ran out before the last phases, so these phases had nothing to process');
  } finally {
    print('stopping');
    for (const close of closers.reverse()) await close();
  }
  print('');
  print(report(results));
  return results.length > 0 && results.every(isWell);
}

interface Phase extends Pick<ConsumerChaosOptions, 'seconds'> {
  system: ChaosSystem;
  pool: ConsumerPool;
  watch: LaneWatch;
  memory: MemoryWatch;
  load: StoryLoad;
  print(line: string): void;
}

/** Lets one fault strike while the story is told, and compares what is stored then with what was sent. */
async function strikePhase(
  fault: ConsumerFault,
  { seconds, system, pool, watch, memory, load, print }: Phase,
): Promise<PhaseResult> {
  print(`${fault.name}: ${seconds} s`);
  const surprisesBefore = pool.endedByThemselves();
  watch.reset();
  memory.reset();
  load.resume();
  const strikes = await runPhase(fault, watch, seconds * 1000, print);
  fault.end?.();
  await load.pause();
  if (!(await watch.untilDrained(patienceMs))) print(`  ${watch.lag()} records have not been consumed`);
  const longestStallMs = watch.longestStallMs();
  const [machineLoad = 0] = loadavg();
  const check = await checkState(system.database, load.sent(), system.tenant.projectId);
  for (const example of check.examples) print(`  unexpected state: ${example}`);
  const endedByThemselves = pool.endedByThemselves() - surprisesBefore;
  const seen = { longestStallMs, memoryMb: memory.largestMb(), endedByThemselves, machineLoad };
  const result = { name: fault.name, strikes, ...seen, ...check };
  if (longestStallMs >= stallLimitMs / 2) print(`  the longest stall was in ${watch.longestStallOf()}`);
  if (!isWell(result)) for (const said of pool.output()) print(`  a consumer said:\n${said}`);
  return result;
}

function isWell({ lost, doubled, wrong, longestStallMs, memoryMb }: PhaseResult): boolean {
  const isRight = lost === 0 && doubled === 0 && wrong === 0;
  return isRight && longestStallMs < stallLimitMs && memoryMb <= memoryLimitMb;
}

/** Strikes again and again until the time is over; at least once, and never before every partition has moved. */
async function runPhase(fault: ConsumerFault, watch: LaneWatch, phaseMs: number, print: (line: string) => void) {
  const endsAt = performance.now() + phaseMs;
  const faultMs = Math.min(longestFaultMs, phaseMs / 3);
  let strikes = 0;
  do {
    await sleep(warmUpMs);
    watch.faultBegins();
    await fault.strike(faultMs);
    watch.faultEnds();
    strikes += 1;
    const repairedAt = new Date();
    if (!(await watch.untilMoved(patienceMs))) print(`  a partition has not moved for ${patienceMs / 1000} s`);
    const movedMs = Date.now() - repairedAt.getTime();
    print(
      `  repaired at ${repairedAt.toISOString().slice(11, -1)}, all partitions moved after ${(movedMs / 1000).toFixed(1)} s`,
    );
  } while (performance.now() + faultMs < endsAt);
  return strikes;
}

function report(results: readonly PhaseResult[]): string {
  const rows = results.map((result) => [
    result.name,
    ...(['strikes', 'expected', 'stored', 'lost', 'doubled', 'wrong', 'endedByThemselves'] as const).map((field) =>
      readable(result[field]),
    ),
    (result.longestStallMs / 1000).toFixed(2),
    result.memoryMb.toFixed(0),
    result.machineLoad.toFixed(1),
  ]);
  const headings = [
    'after phase',
    'faults',
    'sent',
    'stored',
    'lost',
    'doubled',
    'wrong',
    'self-ended',
    'longest stall in s',
    'consumer MB',
    'load',
  ];
  return [
    textTable([headings, ...rows]),
    'Sent, stored, lost, doubled and wrong cover the run up to this row. Wrong includes events, persons with their IDs, and groups.',
  ].join('\n');
}

/** Asks processes from outside how much memory they take. */
interface MemoryWatch {
  /** The largest since `reset`, in MB. */
  largestMb(): number;
  reset(): void;
  stop(): Promise<void>;
}

const everyMs = 500;
const drainPatienceMs = 2000;

/** @param ports of the processes as they are now, where they answer `/metrics`. One that does not answer is left out. */
function watchMemory(ports: () => readonly number[]): MemoryWatch {
  let largest = 0;
  let isRunning = true;

  async function memoryOf(port: number): Promise<number> {
    const signal = AbortSignal.timeout(drainPatienceMs);
    const text = await fetch(`http://127.0.0.1:${port}/metrics`, { signal }).then((response) => response.text());
    return Number(/^process_resident_memory_bytes (\S+)/m.exec(text)?.[1] ?? 0) / 1e6;
  }

  async function run(): Promise<void> {
    while (isRunning) {
      const found = await Promise.all(ports().map((port) => memoryOf(port).catch(() => 0)));
      largest = Math.max(largest, ...found);
      await sleep(everyMs);
    }
  }

  const running = run();
  return {
    largestMb: () => largest,
    reset() {
      largest = 0;
    },
    async stop() {
      isRunning = false;
      await running;
    },
  };
}
