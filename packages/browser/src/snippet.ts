import type { Client, InitOptions } from './client/client.ts';
import { createDeferredExceptions } from './exceptions/create-late-exceptions.ts';
import { getFullBuildDefaults, readValidatedOptions } from './options/check-options.ts';
import { attempt, page, readFromDocument, readFromWindow } from './page/globals.ts';
import { createLoadSideScript } from './side-scripts/load-side-script.ts';
import { createClient } from './start/create-client.ts';
import { fullFeatures } from './start/full-features.ts';
import { createWebVitals } from './web-vitals/web-vitals.ts';

const script = page && (readFromDocument('currentScript') as HTMLScriptElement | null);

/** The ingest host, from the script URL `https://host/static/array.js` or `https://host/array/<token>/array.js`. */
const scriptHost = /^(.*)\/(static|array)\//.exec(script?.src ?? '')?.[1];

const load = createLoadSideScript({ host: scriptHost, nonce: script?.nonce });

const features = fullFeatures(
  (core) => createDeferredExceptions(core, async () => (await load(core, 'exceptions'))()),
  createWebVitals(async (core, names) => {
    const captureVitals = await load(core, 'web-vitals').catch(() => undefined);
    captureVitals?.(core, names);
  }),
);

if (page)
  takeOverStub(
    page,
    createClient({ features, readOptions: readValidatedOptions, fullBuildOptions: getFullBuildDefaults, scriptHost }),
  );

type Call = [name: string, ...args: unknown[]];
type Calls = Partial<Iterable<Call | (() => void)>> & { people?: Call[] };
type Stub = Calls & { _i?: [token: string, options: InitOptions | undefined, name?: string][]; init?: unknown };

/** Replaces the snippet's stub with the client, and replays the calls that the page made before the library loaded. */
function takeOverStub(page: { posthog?: unknown }, client: Client): void {
  const stub = readFromWindow('posthog' as never) as unknown as (Stub & Record<string, Calls>) | undefined;
  // Each `init` call in the snippet loads the script again. The client replaces the stub only the first time.
  if (stub && !Array.isArray(stub._i) && typeof stub.init === 'function') return;
  for (const [token, options, name] of stub?._i ?? []) {
    const instance = client.init(token, options, name);
    if (!instance?.__loaded || !stub) continue;
    const calls = (name !== undefined && stub[name]) || stub;
    replay(instance.people as never, calls.people ?? []);
    replay(instance as never, calls);
  }
  Object.assign(client, { __SV: 1, push: (call: Call) => replay(client as never, [call]) });
  page.posthog = client;
}

/**
 * Replays aliases first and captures last, so that captured events belong to the visitor that the page identified after
 * the captures.
 */
function replay(target: Record<string, (...args: unknown[]) => unknown>, calls: Calls): void {
  const all = Symbol.iterator in calls ? [...(calls as Iterable<Call | (() => void)>)] : [];
  const rank = (call: Call | (() => void)) => {
    const name = String(call?.[0 as never]);
    if (name === 'alias') return 0;
    return name.includes('capture') ? 2 : 1;
  };
  for (const call of all.sort((one, other) => rank(one) - rank(other))) {
    attempt(() => (typeof call === 'function' ? call.call(target) : target[call[0]]?.(...call.slice(1))));
  }
}
