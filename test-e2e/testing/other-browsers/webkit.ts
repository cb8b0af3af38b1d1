import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { readEnvironment } from '@millrace/runtime';
import { findFreePort } from '@millrace/stack/servers/server-process';
import { eventually } from '../eventually.ts';
import { findWebKitDriver } from '../find-browser.ts';
import { type DrivenBrowser, type Driver, openTab } from './tab.ts';

/**
 * Starts WebKitGTK's minimal browser, which has Safari's engine, for a test file. Also starts a virtual display,
 * because the browser needs a display.
 */
export async function openWebKit(): Promise<DrivenBrowser> {
  const path = findWebKitDriver();
  if (path === null)
    throw new Error('WEBKIT_DRIVER_PATH is not set, and there is no WebKitWebDriver on the PATH: run npm test');
  const screen = await startScreen();
  const env = {
    ...readEnvironment(),
    DISPLAY: screen.display,
    // The machine may not have a graphics card or an accessibility service.
    ...{ WEBKIT_DISABLE_DMABUF_RENDERER: '1', LIBGL_ALWAYS_SOFTWARE: '1', NO_AT_BRIDGE: '1' },
  };
  const port = await findFreePort();
  const program = spawn(path, [`--port=${port}`], { stdio: 'ignore', env });
  const driver = await connect(`http://127.0.0.1:${port}`);
  const [first] = await driver.send<string[]>('WebDriver:GetWindowHandles');
  return {
    openTab: (address) => openTab(driver, first, address),
    async close() {
      await driver.end();
      for (const one of [program, screen.program]) await end(one);
    },
  };
}

async function end(program: ChildProcess): Promise<void> {
  if (program.exitCode !== null || program.signalCode !== null) return;
  const ended = once(program, 'exit');
  program.kill('SIGKILL');
  await ended;
}

/** Starts Xvfb, which chooses a display number and reports it. */
async function startScreen(): Promise<{ display: string; program: ChildProcess }> {
  const options = ['-displayfd', '3', '-screen', '0', '1280x900x24', '-nolisten', 'tcp'];
  const program = spawn('Xvfb', options, { stdio: ['ignore', 'ignore', 'ignore', 'pipe'] });
  const [number] = (await once(program.stdio[3] as Readable, 'data')) as [Buffer];
  return { display: `:${number.toString().trim()}`, program };
}

/** HTTP method and path of each WebDriver command, relative to the session. `:id` is replaced by the element ID. */
const routes: Record<string, [method: string, path: string]> = {
  'WebDriver:Navigate': ['POST', '/url'],
  'WebDriver:ExecuteScript': ['POST', '/execute/sync'],
  'WebDriver:FindElement': ['POST', '/element'],
  'WebDriver:ElementClick': ['POST', '/element/:id/click'],
  'WebDriver:ElementSendKeys': ['POST', '/element/:id/value'],
  'WebDriver:SwitchToWindow': ['POST', '/window'],
  'WebDriver:NewWindow': ['POST', '/window/new'],
  'WebDriver:CloseWindow': ['DELETE', '/window'],
  'WebDriver:GetWindowHandles': ['GET', '/window/handles'],
};
/** Commands for which Firefox wraps the result in a `value`. The WebKit driver returns the same format. */
const wrapped = ['WebDriver:ExecuteScript', 'WebDriver:FindElement'];

async function connect(url: string): Promise<Driver & { end(): Promise<void> }> {
  const ask = async (method: string, path: string, body?: object): Promise<unknown> => {
    const response = await fetch(url + path, { method, ...(body && { body: JSON.stringify(body) }) });
    const { value } = (await response.json()) as { value: unknown };
    if (!response.ok) throw new Error(`${path}: ${(value as { message: string }).message}`);
    return value;
  };
  const capabilities = { alwaysMatch: {} };
  const session = await eventually(() => ask('POST', '/session', { capabilities }), { what: 'WebKit' });
  const base = `/session/${(session as { sessionId: string }).sessionId}`;
  return {
    async send<Result>(command: string, parameters: { id?: string } = {}) {
      const [method, path] = routes[command] ?? ['GET', command];
      const { id, ...body } = parameters;
      const value = await ask(method, base + path.replace(':id', id ?? ''), method === 'POST' ? body : undefined);
      return (wrapped.includes(command) ? { value } : value) as Result;
    },
    close() {},
    end: async () => void (await ask('DELETE', base).catch(() => {})),
  };
}
