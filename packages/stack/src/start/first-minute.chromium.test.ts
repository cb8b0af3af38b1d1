import { chmodSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createSqlDatabase } from '@millrace/db/sql';
import { createLogger } from '@millrace/runtime';
import { eventually } from '@millrace/testing';
import { launchChromium } from '@millrace/testing/launch-chromium';
import { removePostgresFiles } from '../servers/postgres.ts';
import { pasteIntoTerminal } from '../testing/paste.ts';
import { runStartCommand, type StartCommand } from '../testing/start-command.ts';
import { createConsoleLink } from './demo.ts';
import { ensureExampleShop } from './example-shop.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-first-minute-'));
let command: StartCommand;
let browser: Awaited<ReturnType<typeof launchChromium>>;

beforeAll(async () => {
  // If the tests run as root, PostgreSQL runs as a different user, who must be able to enter the directory.
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

test('console-047 npm start prints a sign-in link to a page with a command, whose event appears without a reload', async () => {
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
      expect(await pasteIntoTerminal(line)).toMatch(/"status": ?"?(Ok|1)/i);
      expect(await row.count()).toBeGreaterThan(0);
    },
    { what: 'the event on the page' },
  );
  await row.first().click();
  await page.getByRole('heading', { name: 'hello' }).waitFor();

  // The link has been used, so it does not work in a second browser.
  const other = await (await browser.newContext()).newPage();
  await other.goto(link);
  await other.getByText('This link is not valid').waitFor();
  expect(new URL(other.url()).pathname).not.toContain('/projects/');
});

test('npm start creates an example shop with 30 days of events and four insights only once, and prints its link', async () => {
  const [, link = ''] = /^ {2}Example +(\S+)$/m.exec(command.output()) ?? [];
  const connection = JSON.parse(readFileSync(join(directory, 'connection.json'), 'utf8'));
  const secret = await consoleSecret(connection.settings.DATABASE_URL);
  const page = await (await browser.newContext()).newPage();
  await page.goto(`${new URL(link).origin}/console/enter#${secret}`);
  await page.getByText('Demo project').filter({ visible: true }).first().waitFor();
  await eventually(
    async () => {
      await page.goto(link);
      await page.getByRole('list', { name: 'Tiles' }).getByRole('listitem').nth(3).waitFor();
      const orders = page.getByRole('listitem').filter({ hasText: 'Orders' });
      expect(Number((await orders.locator('strong').first().textContent())?.replaceAll(',', ''))).toBeGreaterThan(20);
    },
    { what: 'the numbers of the shop', timeoutMs: 120_000 },
  );
  const names = await page.getByRole('list', { name: 'Tiles' }).getByRole('heading').allTextContents();
  expect(names).toEqual(['Orders', 'Visitors by browser', 'From product view to order', 'Visitor retention']);

  expect(await ensureExampleShop(connection, directory)).toBe(new URL(link).pathname + new URL(link).search);
  const headers = { authorization: `Bearer ${connection.personalApiKey}`, 'content-type': 'application/json' };
  const [, projectId, dashboardId] = /projects\/(\d+)\/dashboards\?dashboard=(\d+)/.exec(link) ?? [];
  const dashboard = `${connection.apiUrl}/api/projects/${projectId}/dashboards/${dashboardId}/`;
  await fetch(dashboard, { method: 'PATCH', headers, body: '{"deleted": true}' });
  // The next start does not recreate the deleted dashboard.
  expect(await ensureExampleShop(connection, directory)).toBeNull();
});

async function consoleSecret(url: string): Promise<string> {
  const database = createSqlDatabase({ url, logger: createLogger('test', 'error'), poolSize: 1 });
  try {
    return await createConsoleLink(database);
  } finally {
    await database.stop();
  }
}
