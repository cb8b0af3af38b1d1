import { randomUUID } from 'node:crypto';
import { eventually, testServers } from '@millrace/testing';
import type { Asker } from '../flags/askers.ts';
import { unleashContext } from '../flags/flag-requests.ts';
import type { MixedFlag } from '../flags/mixed-flags.ts';
import { type MeasuredProcess, startMeasured } from '../process/measured-process.ts';
import { createOwnDatabase } from '../topic/own-database.ts';
import { installUnleash } from './install-unleash.ts';
import type { StartUnleashMessage, UnleashAnswer } from './unleash-program.ts';
import { strategiesOf } from './unleash-strategies.ts';

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
