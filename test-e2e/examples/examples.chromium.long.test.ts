import { execFile, spawn } from 'node:child_process';
import { cp, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { writeLibrary } from '@millrace/browser/bundle';
import { eventually, startServer } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import type { Page } from 'playwright-core';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { installNpmPackages, installOrNull, installPythonTool } from '../testing/install-tools.ts';

const run = promisify(execFile);
const examples = new URL('../../examples/', import.meta.url);

const packagesOf = async (example: string): Promise<string[]> => {
  const { dependencies } = JSON.parse(await readFile(new URL(`${example}/package.json`, examples), 'utf8'));
  return Object.entries(dependencies).map(([name, version]) => `${name}@${version}`);
};
const [express, next, python] = await Promise.all([
  installOrNull('express', async () => installNpmPackages('example-express', await packagesOf('express'))),
  installOrNull('Next.js', async () => installNpmPackages('example-nextjs', await packagesOf('nextjs'))),
  installOrNull('posthog for Python', () =>
    installPythonTool('example-python', new URL('python/requirements.txt', examples)),
  ),
]);

let services: RunningServices;
let directory: string;
let setting: Record<string, string>;

beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'millrace-examples-'));
  await writeLibrary(directory, { isQuick: true });
  const settings = { BROWSER_LIBRARY_DIRECTORY: directory };
  services = await startServices({ eventLog: 'postgres', settings });
  const { ingestUrl, tenant } = services;
  setting = { POSTHOG_HOST: ingestUrl, POSTHOG_KEY: tenant.projectApiKey };
  const response = await api('POST', 'feature_flags/', {
    key: 'new-checkout',
    filters: { groups: [{ rollout_percentage: 100 }] },
  });
  expect(response.status).toBe(201);
}, 300_000);

afterAll(async () => {
  await services?.stop();
  await rm(directory, { recursive: true, force: true });
});

const api = (method: string, path: string, body?: object) =>
  fetch(`${services.apiUrl}/api/projects/${services.tenant.projectId}/${path}`, {
    method,
    headers: { authorization: `Bearer ${services.tenant.personalApiKey}`, 'content-type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  });

interface StoredEvent {
  event: string;
  properties: Record<string, unknown>;
}

async function storedBy(library: string, names: readonly string[]): Promise<StoredEvent[]> {
  let events: StoredEvent[] = [];
  await eventually(
    async () => {
      const { results } = (await (await api('GET', 'events/')).json()) as { results: StoredEvent[] };
      events = results.filter(({ properties }) => properties.$lib === library);
      expect(events.map(({ event }) => event)).toEqual(expect.arrayContaining([...names]));
    },
    { what: `the events of ${library}` },
  );
  return events;
}

async function startProgram(command: readonly string[], cwd: string, env: Record<string, string>) {
  const [program = '', ...programArguments] = command;
  const child = spawn(program, programArguments, {
    ...{ cwd, stdio: ['ignore', 'pipe', 'inherit'] as const },
    env: { PATH: '/usr/bin:/bin', HOME: directory, ...env },
  });
  let output = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const ended = new Promise<number | null>((resolve) => child.once('exit', resolve));
  let url = '';
  await eventually(
    () => {
      url = /http:\/\/(?:127\.0\.0\.1|localhost):\d+/.exec(output)?.[0] ?? '';
      return url !== '';
    },
    { what: `the start of ${command.join(' ')}` },
  );
  return {
    url,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

/** Opens a page with a regular visitor's user agent, because the SDK drops events from automated browsers. */
async function openPage(url: string): Promise<{ page: Page; close(): Promise<void> }> {
  const browser = await launchChromium();
  const userAgent =
    'Mozilla/5.0 (X11; Linux x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36';
  const context = await browser.newContext({ userAgent });
  await context.addInitScript(`
    Object.defineProperty(navigator, 'webdriver', { get: () => false });
    Object.defineProperty(navigator, 'userAgentData', { get: () => undefined });`);
  const page = await context.newPage();
  await page.goto(url);
  return { page, close: () => browser.close() };
}

it('the static page example works as its README describes', async () => {
  const source = await readFile(new URL('static-page/index.html', examples), 'utf8');
  const html = source
    .replaceAll('http://127.0.0.1:8000', services.ingestUrl)
    .replaceAll('phc_…', services.tenant.projectApiKey);
  const site = await startServer((_, response) => {
    response.setHeader('content-type', 'text/html; charset=utf-8').end(html);
  });
  const { page, close } = await openPage(site.url);
  await page.getByText('Checkout in one step').waitFor();
  await page.getByRole('button', { name: 'Buy now' }).click();
  const events = await storedBy('web', ['$pageview', '$autocapture', 'order placed']);
  expect(events.find(({ event }) => event === 'order placed')?.properties).toMatchObject({
    ...{ total: 42, currency: 'EUR', '$feature/new-checkout': true },
  });
  await close();
  await site.stop();
});

(express === null ? it.skip : it)('runs the Express server', async () => {
  const folder = dirname(String(express));
  await cp(new URL('express/server.mjs', examples), join(folder, 'server.mjs'));
  const server = await startProgram([process.execPath, 'server.mjs'], folder, { ...setting, PORT: '0' });
  expect(await (await fetch(`${server.url}/checkout?user=ada`)).text()).toBe('Checkout in one step\n');
  expect((await fetch(`${server.url}/orders?user=ada`, { method: 'POST' })).status).toBe(201);
  expect(await server.stop()).toBe(0);
  const events = await storedBy('posthog-node', ['order placed']);
  expect(events.find(({ event }) => event === 'order placed')?.properties).toMatchObject({
    ...{ total: 42, $groups: { company: 'corner-shop' }, '$feature/new-checkout': true },
  });
});

(python === null ? it.skip : it)('runs the Python script', async () => {
  const { stdout } = await run(String(python), [fileURLToPath(new URL('python/app.py', examples))], { env: setting });
  expect(stdout).toBe('Checkout in one step\n');
  const events = await storedBy('posthog-python', ['$set', 'order placed']);
  expect(events.find(({ event }) => event === 'order placed')?.properties).toMatchObject({
    ...{ total: 42, '$feature/new-checkout': true },
  });
});

(next === null ? it.skip : it)(
  'builds and runs the Next.js app',
  async () => {
    const folder = dirname(String(next));
    for (const name of ['app', 'package.json']) {
      await rm(join(folder, name), { recursive: true, force: true });
      await cp(new URL(`nextjs/${name}`, examples), join(folder, name), { recursive: true });
    }
    const env = {
      NEXT_PUBLIC_POSTHOG_HOST: services.ingestUrl,
      NEXT_PUBLIC_POSTHOG_KEY: services.tenant.projectApiKey,
      NEXT_TELEMETRY_DISABLED: '1',
    };
    const program = join(String(next), 'next/dist/bin/next');
    const options = { cwd: folder, env: { PATH: '/usr/bin:/bin', HOME: directory, ...env }, maxBuffer: 64 << 20 };
    await run(process.execPath, [program, 'build'], options);
    const server = await startProgram([process.execPath, program, 'start', '-p', '0'], folder, env);
    // The server-rendered HTML must already contain the flag's value.
    expect(await (await fetch(server.url)).text()).toContain('Checkout in one step');
    const { page, close } = await openPage(server.url);
    await page.getByText('Checkout in one step').waitFor();
    await page.getByRole('button', { name: 'Buy now' }).click();
    await eventually(async () => {
      const events = await storedBy('web', ['$pageview', 'order placed']);
      const own = events.filter(({ properties }) => String(properties.$current_url).startsWith(server.url));
      expect(own.find(({ event }) => event === 'order placed')?.properties['$feature/new-checkout']).toBe(true);
    });
    await close();
    await server.stop();
  },
  600_000,
);
