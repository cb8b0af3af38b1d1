import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '../eventually.ts';
import { findFirefox } from '../find-browser.ts';
import { connectMarionette } from './marionette.ts';
import { type DrivenBrowser, openTab } from './tab.ts';

/** Starts a Firefox with a separate profile for a test file. */
export async function openFirefox(): Promise<DrivenBrowser> {
  const path = findFirefox();
  if (path === null) throw new Error('FIREFOX_PATH is not set, and there is no firefox on the PATH: run npm test');
  const profile = await mkdtemp(join(tmpdir(), 'millrace-firefox-'));
  await writeFile(join(profile, 'user.js'), 'user_pref("marionette.port", 0);\n');
  const options = ['--headless', '--no-remote', '--marionette', '--profile', profile];
  const program = spawn(path, options, { stdio: 'ignore' });
  const ended = once(program, 'exit');
  const port = await eventually(() => readFile(join(profile, 'MarionetteActivePort'), 'utf8'), { what: 'Firefox' });
  const marionette = await connectMarionette(Number(port));
  await marionette.send('WebDriver:NewSession');
  const [first] = await marionette.send<string[]>('WebDriver:GetWindowHandles');
  return {
    openTab: (address) => openTab(marionette, first, address),
    async close() {
      program.kill('SIGKILL');
      await ended;
      marionette.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}
