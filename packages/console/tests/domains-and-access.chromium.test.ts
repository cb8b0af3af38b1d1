import { type DnsServer, eventually, startDnsServer } from '@millrace/testing';
import type { Page } from 'playwright-core';
import { addMember, checkPage, openAsMember } from './people.ts';
import { type RunningConsole, startConsole } from './start-console.ts';

let console: RunningConsole;
let dns: DnsServer;
beforeAll(async () => {
  dns = await startDnsServer();
  console = await startConsole({ settings: { DNS_SERVERS: dns.address } });
});
afterAll(async () => {
  await console?.stop();
  await dns?.stop();
});

const row = (page: Page, text: string) => page.getByRole('row').filter({ hasText: text });
const dialogOf = (page: Page) => page.getByRole('dialog');

it('verifies a domain in three steps, and shows the DNS query, the DNS server and the response', async () => {
  const page = await openAsMember(console, 8, 'domains');
  await page.getByText('No domains yet').waitFor();
  await checkPage(page);
  const name = page.getByLabel('Domain', { exact: true });
  await name.fill('Not A Domain');
  await page.getByRole('button', { name: 'Add domain' }).click();
  await page.getByText('Please enter a valid domain').waitFor();
  expect(await name.inputValue()).toBe('Not A Domain');
  await name.fill('acme.example.com');
  await page.getByRole('button', { name: 'Add domain' }).click();

  const steps = page.getByRole('region', { name: 'Verify that acme.example.com is yours' });
  const record = '_millrace-challenge.acme.example.com';
  await steps.getByText(record, { exact: true }).waitFor();
  const challenge =
    (await steps.locator('dd').filter({ hasText: 'Copy value' }).locator('span').first().textContent()) ?? '';
  expect(challenge).toMatch(/^[\w-]{43}$/);
  const verify = steps.getByRole('button', { name: 'Verify now' });
  const said = steps.getByRole('region', { name: 'DNS response' });
  await verify.click();
  await said.getByText('The record was not found.').waitFor();
  for (const part of [`TXT ${record}`, dns.address, 'no records (ENOTFOUND)']) await said.getByText(part).waitFor();
  dns.setTxt(record, [['<img src=x onerror=alert(1)>'], ['another']]);
  await verify.click();
  await said.getByText('Found 2 records with this name, but none with this value.').waitFor();
  await said.getByText('“<img src=x onerror=alert(1)>”').waitFor();
  await checkPage(page);
  dns.setTxt(record, [[challenge]]);
  await verify.click();
  await said.getByText('The domain is verified.').waitFor();
  await row(page, 'acme.example.com').getByText('Verified', { exact: true }).waitFor();
  expect(await verify.isDisabled()).toBe(true);

  const open = new URL(page.url()).searchParams.get('open');
  await page.goto(console.address(`settings/domains?open=${open}`));
  await page.getByRole('region', { name: 'Single sign-on for acme.example.com' }).waitFor();
  await page.goBack();
  await page.goto(console.address('settings/domains?open=unknown&nonsense=1'));
  await page.locator('[data-state=gone]').waitFor();
  await page.getByText(/invalid parameters?: nonsense/).waitFor();
  await page.goto(console.address('settings/domains'));
  await page.getByRole('button', { name: 'Remove acme.example.com' }).click();
  await checkPage(page);
  await dialogOf(page).getByRole('button', { name: 'Remove' }).click();
  await page.getByText('No domains yet').waitFor();
  await page.context().close();
});

it('reports that the DNS server did not respond', async () => {
  const page = await openAsMember(console, 15, 'domains');
  await page.getByLabel('Domain', { exact: true }).fill('silent.example.com');
  await page.getByRole('button', { name: 'Add domain' }).click();
  dns.fail('SERVFAIL');
  await page.getByRole('button', { name: 'Verify now' }).click();
  await page.getByText('No name server responded.').waitFor();
  await page.getByText('no records (ESERVFAIL)').waitFor();
  await page.context().close();
});

it('console-035: shows a member the domains and DNS records, and explains who can change them', async () => {
  const page = await openAsMember(console, 1, 'domains');
  await row(page, 'silent.example.com').getByText('Not verified').waitFor();
  await page.getByText('Only administrators and owners can add, verify and remove').waitFor();
  for (const verb of [/^Add/, /^Verify/, /^Remove/]) {
    expect(await page.getByRole('button', { name: verb }).count()).toBe(0);
  }
  await page.context().close();
});

describe('the access rules of a project', () => {
  const levelOf = async (email: string) => {
    const page = await openAsMember(console, 15, 'access');
    const cell = row(page, email).getByRole('cell').last();
    await cell.waitFor();
    const text = await cell.textContent();
    await page.context().close();
    return text;
  };

  it("limits access to members with a rule, and shows each member's resulting access", async () => {
    await addMember(console, 1, 'grace');
    await addMember(console, 1, 'alan');
    const page = await openAsMember(console, 8, 'access');
    const rules = page.getByRole('group', { name: 'Every member' });
    await rules.getByText('Private', { exact: true }).click();
    await dialogOf(page).getByText('It takes effect with each member’s next request.').waitFor();
    await checkPage(page);
    await dialogOf(page).getByRole('button', { name: 'Change access' }).click();
    const grace = row(page, 'grace@example.com');
    await grace.getByText('no access').last().waitFor();
    await grace.getByRole('combobox').selectOption('administrator');
    await eventually(async () => expect(await grace.getByRole('cell').last().textContent()).toBe('administrator'));
    expect(await row(page, 'alan@example.com').getByRole('cell').last().textContent()).toBe('no access');
    await row(page, 'always has access').first().waitFor();
    await checkPage(page);
    const stored = await console.api<{ access_controls: { access_level: string }[] }>('GET', 'access_controls');
    expect(stored.access_controls.map(({ access_level }) => access_level)).toEqual(['none', 'admin']);
    await page.context().close();
    expect(await levelOf('grace@example.com')).toBe('administrator');
  });

  it('console-035: shows disabled rules to a member who cannot change them, with the reason', async () => {
    await console.query(`UPDATE environment SET access_control = false, default_access_level = 'member' WHERE id = $1`);
    const page = await openAsMember(console, 1, 'access');
    await page.getByText('Only project administrators can change these rules.').waitFor();
    expect(await page.getByRole('radio', { name: 'Open' }).isChecked()).toBe(true);
    for (const field of await page.getByRole('radio').all()) expect(await field.isDisabled()).toBe(true);
    await row(page, 'grace@example.com').waitFor();
    for (const field of await page.getByRole('row').getByRole('combobox').all())
      expect(await field.isDisabled()).toBe(true);
    await page.context().close();
  });

  it('shows a note if the plan does not include access rules for projects', async () => {
    await console.query(`UPDATE organization SET available_product_features = '[]'`, []);
    const page = await openAsMember(console, 15, 'access');
    await page.getByText('does not include access rules for projects').waitFor();
    await checkPage(page);
    await page.context().close();
  });
});
