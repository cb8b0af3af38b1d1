import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeConsole } from '@millrace/console/bundle';
import { createConsoleLink, eventually } from '@millrace/testing';
import { openFirefox } from '@millrace/testing/other-browsers/firefox';
import type { DrivenBrowser, Tab } from '@millrace/testing/other-browsers/tab';
import { openWebKit } from '@millrace/testing/other-browsers/webkit';
import { startSamlProvider } from '@millrace/testing/saml-provider';
import { post } from '../support/post.ts';
import { type RunningServices, startServices } from '../support/start-services.ts';

/** Tests the most important steps in Firefox and WebKit. All other console tests use Chromium. */
const directory = mkdtempSync(join(tmpdir(), 'millrace-console-'));
let services: RunningServices;
beforeAll(async () => {
  await writeConsole(directory, { isQuick: true });
  // Choose the port in advance, because single sign-on requires a public URL.
  const port = await findFreePort();
  services = await startServices({
    eventLog: 'postgres',
    settings: {
      CONSOLE_DIRECTORY: directory,
      PUBLISH_PROCESSED: 'on',
      API_PORT: String(port),
      PUBLIC_API_URL: `http://127.0.0.1:${port}`,
    },
  });
});
afterAll(async () => {
  await services?.stop();
  rmSync(directory, { recursive: true, force: true });
});

async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

describe.each([
  ['Firefox', openFirefox],
  ['WebKit', openWebKit],
] as const)('console-044 the console in %s', (name, open) => {
  let browser: DrivenBrowser;
  let tab: Tab;
  beforeAll(async () => {
    browser = await open();
  });
  afterAll(() => browser?.close());

  const enter = '\uE007';
  const project = () => `/projects/${services.tenant.projectId}`;
  const api = async (method: string, path: string, body?: object) => {
    const headers = {
      authorization: `Bearer ${services.tenant.personalApiKey}`,
      'content-type': 'application/json',
    };
    const init = { method, headers, ...(body && { body: JSON.stringify(body) }) };
    return (await (await fetch(`${services.apiUrl}/api${project()}/${path}`, init)).json()) as Record<string, unknown>;
  };
  const shows = (text: string) =>
    eventually(() => tab.run<boolean>(`return document.body.innerText.includes(${JSON.stringify(text)})`), {
      what: `${text} in ${name}`,
    });
  const goTo = async (page: string) => {
    const link = `nav a[href$="${project()}/${page}"]`;
    await eventually(() => tab.run<boolean>(`return document.querySelector(${JSON.stringify(link)}) !== null`));
    await tab.click(link);
    await eventually(() => tab.run<boolean>(`return location.pathname.endsWith(${JSON.stringify(`/${page}`)})`));
  };

  test('signs in with a link, shows and opens an event on Live, and displays other pages', async () => {
    const secret = await createConsoleLink(services.databaseUrl, services.tenant.userId);
    tab = await browser.openTab(`${services.apiUrl}/console/enter#${secret}`);
    // The start page redirects to Live while the project has no events.
    await eventually(() => tab.run<boolean>(`return /\\/(home|live)$/.test(location.pathname)`), {
      what: `the console in ${name}`,
    });
    expect(await tab.run('return location.hash')).toBe('');
    await goTo('live');

    const event = `seen in ${name}`;
    const body = { api_key: services.tenant.projectApiKey, event, distinct_id: 'ada', properties: { total: 42 } };
    await eventually(async () => {
      await post(`${services.ingestUrl}/capture/`, body);
      return tab.run<boolean>(
        `return document.querySelector('[role=option]')?.innerText.includes(${JSON.stringify(event)}) === true`,
      );
    });
    await tab.click('[role=option]');
    await shows('total');
    await shows('Copy JSON');

    await goTo('events');
    await eventually(() => tab.run<boolean>(`return document.querySelector('a[data-row]') !== null`));
    await tab.type('input[type=search], .search input', `nothing like this${enter}`);
    await shows('No events in this date range match your filters');

    const { id } = await api('POST', 'feature_flags', { key: `flag-of-${name.toLowerCase()}`, active: false });
    await goTo('flags');
    await shows(`flag-of-${name.toLowerCase()}`);
    await tab.click('main [role=switch], main label:has([role=switch])');
    await eventually(async () => expect(await api('GET', `feature_flags/${id}`)).toMatchObject({ active: true }));

    await tab.click(`nav a[href*="${project()}/settings"]`);
    await shows('First name');
    await eventually(() => tab.run<boolean>(`return document.querySelector('input[name=first_name]') !== null`));
    await tab.run(`document.querySelector('input[name=first_name]').select()`);
    await tab.type('input[name=first_name]', `Ada of ${name}${enter}`);
    await shows('Saved.');
    await tab.close();
  });

  test('completes a SAML sign-in that the user started, although the provider posts from another site', async () => {
    const provider = await startSamlProvider(() => `${services.apiUrl}/api/saml/metadata/`);
    try {
      const domain = `${name.toLowerCase()}.example`;
      await services.database.query(
        `INSERT INTO organization_domain (id, organization_id, domain, verification_challenge, verified_at, jit_provisioning_enabled,
                                          saml_entity_id, saml_acs_url, saml_x509_cert)
         VALUES (gen_random_uuid(), $1, $2, 'c', now(), true, $3, $4, $5)`,
        [services.tenant.organizationId, domain, provider.entityId, provider.signOnUrl, provider.certificate],
      );
      provider.person = { nameId: 'grace', email: `grace@${domain}`, firstName: 'Grace' };
      tab = await browser.openTab(`${services.apiUrl}/login/saml/?email=grace@${domain}&next=/console/`);
      await eventually(() => tab.run<boolean>(`return /^\\/console\\/projects\\//.test(location.pathname)`), {
        what: `the console after SAML in ${name}`,
      });
      const me = await tab.run<string>(
        `const request = new XMLHttpRequest(); request.open('GET', '/api/users/@me/', false); request.send(); return request.responseText`,
      );
      expect(JSON.parse(me)).toMatchObject({ email: `grace@${domain}`, first_name: 'Grace' });
      await tab.close();
    } finally {
      await provider.stop();
    }
  });
});
