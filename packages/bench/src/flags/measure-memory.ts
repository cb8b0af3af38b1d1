import { eventually } from '@millrace/testing';
import type { MeasuredProcess } from '../process/measured-process.ts';
import type { LimitedMemory, MemoryMeasurement } from '../report/flags-measurement.ts';
import type { FlagEnvironment } from './add-flags.ts';
import { askFlags } from './ask-flags.ts';
import type { Asker } from './askers.ts';
import { readMetric } from './read-metric.ts';

/** How many ask at a time. */
const lanes = 8;

interface MemoryOptions {
  environments: readonly FlagEnvironment[];
  asker: Asker;
  /** For the definitions. */
  limitMb: number;
  startGateway(settings: Record<string, string>): Promise<MeasuredProcess>;
  print(line: string): void;
}

/** What the memory of a gateway that was just started holds after each of many projects has asked for its flags once. */
export async function measureMemory(options: MemoryOptions): Promise<LimitedMemory> {
  const { limitMb, startGateway, print } = options;
  print(`memory, FLAG_DEFINITIONS_MEMORY_MB=${limitMb}`);
  const gateway = await startGateway({ FLAG_DEFINITIONS_MEMORY_MB: String(limitMb) });
  try {
    return { ...(await askEverybody(gateway, options)), limitBytes: limitMb * 2 ** 20 };
  } finally {
    await gateway.stop();
  }
}

async function askEverybody(
  gateway: MeasuredProcess,
  { environments, asker }: MemoryOptions,
): Promise<MemoryMeasurement> {
  const [often, ...others] = environments;
  if (often === undefined) throw new Error('There is no environment to ask for.');
  const askAll = async (asked: readonly FlagEnvironment[]) => {
    for (const { projectApiKey } of asked) {
      // Nothing is timed here, and a machine that does much else may refuse a question.
      await eventually(() => askFlags(gateway.port, projectApiKey, asker), { what: 'A question for flags' });
    }
  };
  const loaded = () => readMetric(gateway.port, 'millrace_flag_definitions_asked_total', ['definitions', 'loaded']);

  await askAll(Array.from({ length: 300 }, () => often));
  const before = await gateway.memory();
  const parts = Array.from({ length: lanes }, (_, lane) => others.filter((_one, index) => index % lanes === lane));
  await Promise.all(
    parts.map(async (part) => {
      // One project goes on asking: it is never the one that was not used for longest.
      for (const one of part) await askAll([often, one]);
    }),
  );
  const after = await gateway.memory();
  const loadedBefore = await loaded();
  await askAll([often, ...others.slice(-lanes)]);
  const loadedNewest = (await loaded()) - loadedBefore;
  await askAll(others.slice(0, lanes));
  return {
    projects: environments.length,
    keptBytes: after.keptBytes - before.keptBytes,
    rssBytes: after.rssBytes - before.rssBytes,
    countedBytes: await readMetric(gateway.port, 'millrace_flag_definitions_bytes', ['definitions']),
    reloadedNewest: loadedNewest,
    reloadedOldest: (await loaded()) - loadedBefore - loadedNewest,
    askedAgain: lanes,
  };
}
