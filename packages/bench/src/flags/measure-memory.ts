// Measures how much memory the flag definitions of many projects use in a new gateway.

import { eventually } from '@millrace/testing';
import { type Bench, programs } from '../harness/bench.ts';
import type { Client } from './flag-requests.ts';
import { addFlagEnvironments, createMixedFlags, type FlagEnvironment } from './mixed-flags.ts';

const projects = 1000;
const flagsPerProject = 100;
const memoryMb = 512;
const parallel = 8;

export type MemoryMeasurement = Awaited<ReturnType<typeof measureMemory>>;

export async function measureMemory({ database, start, print }: Bench, [client]: Client[]) {
  print(`memory for ${projects} projects with ${flagsPerProject} flags each`);
  const environments = await addFlagEnvironments(database, projects, createMixedFlags(flagsPerProject));
  const [first, ...others] = environments;
  if (first === undefined || client === undefined) throw new Error('No environment was added.');
  const gateway = await start(programs.gateway, { FLAG_DEFINITIONS_MEMORY_MB: String(memoryMb) });
  const requestAll = async (part: readonly FlagEnvironment[]) => {
    for (const { projectApiKey } of part) {
      // On a busy machine, the gateway may reject a request. The duration of a rejected request is not measured.
      await eventually(() => requestFlags(gateway.port, projectApiKey, client), { what: 'A flag request' });
    }
  };
  await requestAll(Array.from({ length: 300 }, () => first));
  const before = await gateway.liveBytes();
  const parts = Array.from({ length: parallel }, (_, at) => others.filter((_one, index) => index % parallel === at));
  await Promise.all(parts.map(requestAll));
  return { projects, flagsPerProject, liveBytes: (await gateway.liveBytes()) - before };
}

async function requestFlags(port: number, projectApiKey: string, { distinctId, properties }: Client): Promise<void> {
  const response = await fetch(`http://127.0.0.1:${port}/flags/?v=2`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ api_key: projectApiKey, distinct_id: distinctId, person_properties: properties }),
  });
  const text = await response.text();
  if (response.status !== 200) throw new Error(`A flag request returned ${response.status}: ${text}`);
}
