import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, findFirefox } from '@millrace/testing';
import { connectMarionette, type Marionette } from './marionette.ts';

/** A tab of the one visitor; each call brings it to the front. */
export interface FirefoxTab {
  goto(address: string): Promise<void>;
  /** Runs the body of a function in the page, and waits for what it returns. */
  run<Result>(body: string): Promise<Result>;
  /** As a person does, by the mouse. */
  click(selector: string): Promise<void>;
  close(): Promise<void>;
}

export interface Firefox {
  openTab(address: string): Promise<FirefoxTab>;
  close(): Promise<void>;
}

/** What WebDriver calls elements by. */
const elementKey = 'element-6066-11e4-a52e-4f735466cecf';

/** A Firefox for a whole test file, with a profile of its own. */
export async function openFirefox(): Promise<Firefox> {
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
    async openTab(address) {
      // The one before may be closed.
      await marionette.send('WebDriver:SwitchToWindow', { handle: first, focus: true });
      const { handle } = await marionette.send<{ handle: string }>('WebDriver:NewWindow', { type: 'tab' });
      const tab = tabOf(marionette, handle);
      await tab.goto(address);
      return tab;
    },
    async close() {
      program.kill('SIGKILL');
      await ended;
      marionette.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function tabOf(marionette: Marionette, handle: string): FirefoxTab {
  const inTab = async <Result>(command: string, parameters?: object): Promise<Result> => {
    await marionette.send('WebDriver:SwitchToWindow', { handle, focus: true });
    return marionette.send<Result>(command, parameters);
  };
  return {
    goto: (url) => inTab('WebDriver:Navigate', { url }),
    async run<Result>(script: string) {
      const { value } = await inTab<{ value: Result }>('WebDriver:ExecuteScript', { script, args: [], sandbox: null });
      return value;
    },
    async click(selector) {
      const found = { using: 'css selector', value: selector };
      const { value } = await inTab<{ value: Record<string, string> }>('WebDriver:FindElement', found);
      await marionette.send('WebDriver:ElementClick', { id: value[elementKey] });
    },
    close: () => inTab('WebDriver:CloseWindow'),
  };
}
