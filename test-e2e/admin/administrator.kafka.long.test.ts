import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createTestTenant, type DnsServer, startDnsServer } from '@millrace/testing';
import { type RunningServices, startServices } from '../support/start-services.ts';
import { findMissingPrograms } from './find-missing-programs.ts';

/** Uses the management API only with bash, curl and jq, as an administrator's script would. */
const script = fileURLToPath(new URL('./administrator.sh', import.meta.url));
const steps = [
  'domain created',
  'domain verified',
  'colleague invited',
  'invites listed',
  'members listed',
  'colleague promoted',
  'project created',
  'environments created',
  'subscription created',
  'subscription cannot be removed by DELETE',
  'subscription deleted by PATCH',
  'export created',
  'export paused',
  'export unpaused',
];

const missing = await findMissingPrograms(['bash', 'curl', 'jq']);
if (missing.length > 0) {
  process.stdout.write(`\n! The administrator's script is skipped: ${missing.join(', ')} not on the PATH\n`);
}

// If a program is missing, these tests are skipped, which fails the build in CI.
(missing.length === 0 ? describe : describe.skip)("an administrator's script", () => {
  let dns: DnsServer;
  let services: RunningServices;
  beforeAll(async () => {
    dns = await startDnsServer();
    services = await startServices({ eventLog: 'postgres', settings: { DNS_SERVERS: dns.address } });
  });
  afterAll(async () => {
    await services?.stop();
    await dns?.stop();
  });

  test("the administrator's script completes every step", async () => {
    const colleague = 'grace@example.com';
    const { personalApiKey } = await createTestTenant(services.databaseUrl, {
      email: colleague,
      isEmailVerified: true,
    });
    const { code, lines, complaints } = await runScript({
      API_URL: services.apiUrl,
      API_KEY: services.tenant.personalApiKey,
      COLLEAGUE_EMAIL: colleague,
      COLLEAGUE_KEY: personalApiKey,
    });
    expect({ code, complaints }).toEqual({ code: 0, complaints: '' });
    expect(lines.flatMap((line) => /^ok: (.*)/.exec(line)?.[1] ?? [])).toEqual(steps);
  });

  test("the administrator's script ends immediately for an unknown key, and prints the reason", async () => {
    const { code, lines, complaints } = await runScript({
      API_URL: services.apiUrl,
      API_KEY: 'phx_unknown',
      COLLEAGUE_EMAIL: 'grace@example.com',
      COLLEAGUE_KEY: 'phx_unknown',
    });
    expect({ code, lines }).toEqual({ code: 1, lines: [] });
    expect(complaints).toContain('GET /api/organizations/@current/ returned 401 instead of 200');
  });

  /** Runs the script. When the script asks for a TXT record, publishes the record, as the domain owner would. */
  async function runScript(settings: Record<string, string>) {
    // Do not pass this machine's environment variables, because the script must not depend on them.
    const child = spawn('bash', [script], {
      env: settings,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 150_000,
      killSignal: 'SIGKILL',
    });
    const lines: string[] = [];
    let complaints = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      complaints += text;
    });
    createInterface({ input: child.stdout }).on('line', (line) => {
      lines.push(line);
      const [, name = '', value = ''] = /^publish TXT (\S+) (\S+)$/.exec(line) ?? [];
      if (name !== '') dns.setTxt(name, [[value]]);
    });
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject);
      child.once('close', resolve);
    });
    return { code, lines, complaints };
  }
});
