import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import { removePostgresFiles } from '../servers/postgres.ts';
import { paste } from '../testing/paste.ts';
import { runStartCommand, type StartCommand } from '../testing/start-command.ts';

/** What somebody does who has just cloned the repository. */
const directory = mkdtempSync(join(tmpdir(), 'millrace-first-minute-'));
let command: StartCommand;
let browser: Awaited<ReturnType<typeof launchChromium>>;

beforeAll(async () => {
  // So that the database lies in it, and its server is found by it, when the tests run as root.
  chmodSync(directory, 0o755);
  command = runStartCommand(directory);
  browser = await launchChromium();
  await command.ready();
}, 400_000);
afterAll(async () => {
  await browser?.close();
  command.kill('SIGINT');
  await command.ended;
  removePostgresFiles(join(directory, 'postgres'));
  rmSync(directory, { recursive: true, force: true });
});

test('C-047 npm start prints a link that leads in, the page has a command to paste, and what it sends is seen without a reload', async () => {
  const [, link = ''] = /^ {2}Console +(\S+)$/m.exec(command.output()) ?? [];
  expect(link).toMatch(/\/console\/enter#[\w-]+$/);
  const page = await (await browser.newContext()).newPage();
  await page.goto(link);
  await page.getByText('Waiting for the first event').waitFor();
  expect(page.url()).not.toContain(new URL(link).hash);

  const line =
    (await page
      .locator('pre')
      .filter({ hasText: /^curl / })
      .first()
      .textContent()) ?? '';
  const row = page.getByRole('option').filter({ hasText: 'hello' });
  await eventually(
    async () => {
      expect(await paste(line)).toMatch(/"status": ?"?(Ok|1)/i);
      expect(await row.count()).toBeGreaterThan(0);
    },
    { what: 'the event on the page' },
  );
  await row.first().click();
  await page.getByRole('heading', { name: 'hello' }).waitFor();

  // The link has done what it is for: whoever finds it later gets nowhere.
  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await other.getByText('This link cannot be used').waitFor();
  expect(new URL(other.url()).pathname).not.toContain('/projects/');
});
