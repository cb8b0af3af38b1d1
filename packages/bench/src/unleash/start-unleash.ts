import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, rename, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { cacheDirectory } from '@millrace/stack/src/process/cache-directory.ts';
import { eventually, testServers } from '@millrace/testing';
import { type Asker, unleashContext } from '../flags/measure-questions.ts';
import type { MixedFlag } from '../flags/mixed-flags.ts';
import { type MeasuredProcess, startMeasured } from '../process/measured-process.ts';
import { createOwnDatabase } from '../topic/bench-project.ts';
import type { StartUnleashMessage, UnleashAnswer } from './unleash-program.ts';

interface Answering {
  process: MeasuredProcess;
  /** The token of its front-end API. */
  token: string;
}

export interface RunningUnleash extends Answering {
  stop(): Promise<void>;
}

/**
 * Unleash on an empty database of the same server, with the given toggles, which it answers with.
 * @param programFile `unleash-program.ts`, compiled.
 * @param asker somebody for whom some are on.
 */
export async function startUnleash(
  programFile: string,
  flags: readonly MixedFlag[],
  asker: Asker,
): Promise<RunningUnleash> {
  const file = await installUnleash();
  const database = await createOwnDatabase(testServers().databaseUrl);
  const secrets = { admin: `*:*.${randomUUID()}`, token: `default:development.${randomUUID()}` };
  const child = await startMeasured(programFile, {
    ...{ INIT_ADMIN_API_TOKENS: secrets.admin, INIT_FRONTEND_API_TOKENS: secrets.token },
    // It shall talk to nobody.
    ...{ CHECK_VERSION: 'false', SEND_TELEMETRY: 'false', LOG_LEVEL: 'error' },
  });
  const stop = async () => {
    await child.stop();
    await database.drop();
  };
  try {
    const message: StartUnleashMessage = { type: 'start-unleash', file, databaseUrl: database.url };
    const answer = await child.ask<UnleashAnswer>(message, 'unleash-started', 'unleash-failed');
    if (answer.type === 'unleash-failed') throw new Error(`Unleash did not start: ${answer.message}`);
    const { port } = answer;
    for (const flag of flags) await addToggle(port, secrets.admin, flag);
    const answering = { process: { ...child, port }, token: secrets.token };
    // It looks for changes every second.
    await new Promise((resolve) => setTimeout(resolve, 3000));
    await eventually(async () => (await countToggles(answering, asker)) > 0, { what: 'A toggle of Unleash' });
    return { ...answering, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** How many toggles are on for somebody. */
export async function countToggles({ process: { port }, token }: Answering, asker: Asker): Promise<number> {
  const response = await send(port, token, '/api/frontend', { context: unleashContext(asker) });
  const { toggles } = (await response.json()) as { toggles: unknown[] };
  return toggles.length;
}

async function addToggle(port: number, token: string, flag: MixedFlag): Promise<void> {
  const features = '/api/admin/projects/default/features';
  const environment = `${features}/${flag.key}/environments/development`;
  await send(port, token, features, { name: flag.key, type: 'release' });
  for (const strategy of strategiesOf(flag)) await send(port, token, `${environment}/strategies`, strategy);
  await send(port, token, `${environment}/on`, {});
}

async function send(port: number, token: string, path: string, body: object): Promise<Response> {
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: token, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`Unleash answered ${path} with ${response.status}: ${await response.text()}`);
  return response;
}

/** The same flag in the words of Unleash: a strategy for each condition, any of which is enough. */
function strategiesOf({ key, conditions, variants }: MixedFlag): object[] {
  const share = Math.floor(1000 / variants.length);
  return conditions.map(({ filters, rolloutPercentage }) => ({
    name: 'flexibleRollout',
    parameters: { rollout: String(rolloutPercentage), stickiness: 'userId', groupId: key },
    constraints: filters.map(({ constraint }) => constraint),
    variants: variants.map((name) => ({ name, weight: share, weightType: 'variable', stickiness: 'userId' })),
  }));
}

/** The last one for Node 20 and, as it happens, under the Apache licence. Only this benchmark runs it, as a program. */
export const unleashVersion = '7.5.1';

const run = promisify(execFile);
const timeLimitMs = 300_000;

/**
 * Gets Unleash from npm into the user's cache, once: it is 200 MB, which nobody else shall have to install.
 * @returns the file to start it by. @throws Error with what npm said.
 */
async function installUnleash(): Promise<string> {
  const installed = join(cacheDirectory(), `unleash-server-${unleashVersion}`);
  const entry = join(installed, 'node_modules/unleash-server/dist/lib/server-impl.js');
  if (existsSync(entry)) return entry;
  const draft = `${installed}.${process.pid}`;
  await rm(draft, { recursive: true, force: true });
  await mkdir(draft, { recursive: true });
  try {
    await writeFile(join(draft, 'package.json'), '{"private":true}');
    const options = ['--ignore-scripts', '--no-audit', '--no-fund', '--loglevel=error'];
    await run('npm', ['install', ...options, `unleash-server@${unleashVersion}`], { cwd: draft, timeout: timeLimitMs });
    await rename(draft, installed);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
  return entry;
}
