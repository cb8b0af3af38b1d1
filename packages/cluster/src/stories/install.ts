import type { Release } from './release.ts';
import type { StoryStores } from './story-stores.ts';
import { authoritySecrets } from './story-values.ts';

export interface Installation {
  projectApiKey: string;
  /** What a new operator waits for, one after the other, in seconds. */
  seconds: { ready: number; keys: number; visible: number };
}

/** From an empty cluster to an event that was sent and is seen, by the commands the chart prints. */
export async function install(release: Release, stores: StoryStores): Promise<Installation> {
  await createNamespace(release, stores);
  const seconds = { ready: 0, keys: 0, visible: 0 };
  seconds.ready = (await release.deploy({}, { timeoutSeconds: 420 })) / 1000;
  const [projectApiKey, keysMs] = await timed(() => bootstrap(release));
  seconds.keys = keysMs / 1000;
  const [{ status, output }, testMs] = await timed(() =>
    release.helm('test', 'millrace', '--namespace', release.namespace, '--logs', '--timeout', '180s'),
  );
  if (status !== 0) throw new Error(`helm test failed:\n${output}`);
  seconds.visible = testMs / 1000;
  return { projectApiKey, seconds };
}

/** With what has to be there before the chart. */
export async function createNamespace(release: Release, { certificates }: StoryStores): Promise<void> {
  await release.kubectl('create', 'namespace', release.namespace);
  for (const store of ['postgres', 'kafka'] as const) {
    const file = `--from-file=ca.crt=${certificates[store].authority}`;
    await release.kubectl('create', 'secret', 'generic', authoritySecrets[store], file);
  }
}

/** Makes the first organization. @returns the key of its project */
export async function bootstrap(release: Release): Promise<string> {
  const printed = await release.kubectl(
    ...['exec', 'deploy/millrace-management-api', '--', 'node', 'millrace.mjs'],
    ...['bootstrap', '--email', 'operator@example.com'],
  );
  const projectApiKey = /phc_\w+/.exec(printed)?.[0];
  if (projectApiKey === undefined) throw new Error('bootstrap printed no project API key');
  return projectApiKey;
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const startedAt = performance.now();
  return [await work(), performance.now() - startedAt];
}
