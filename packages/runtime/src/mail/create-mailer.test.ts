import {
  createFaultProxy,
  type FaultProxy,
  type MailServer,
  mountSecret,
  patienceMs,
  startMailServer,
} from '@millrace/testing';
import type { Logger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { createSecretReader } from '../secret-setting.ts';
import { createMailer } from './create-mailer.ts';
import type { Mailer } from './mailer.ts';

let server: MailServer;
let proxy: FaultProxy;
let mailer: Mailer;
const lines: unknown[] = [];
const logger = { warn: (...line: unknown[]) => lines.push(line) } as unknown as Logger;
const metrics = createMetrics({ withProcessMetrics: false });
beforeAll(async () => {
  server = await startMailServer();
  proxy = await createFaultProxy({ targetPort: Number(new URL(server.url).port) });
  mailer = createMailer(
    { url: `smtp://127.0.0.1:${proxy.port}`, from: 'Millrace <no-reply@millrace.test>', timeoutMs: 5000 },
    { logger, metrics },
  );
});
afterAll(async () => {
  await mailer.stop();
  await proxy.stop();
  await server.stop();
});

const mail = { to: 'ada@example.com', subject: 'Grüße', text: 'Zeile 1\nZeile 2 – mit Umlaut: ä' };

test('delivers an email with its sender, reply address and text', async () => {
  expect(await mailer.send({ ...mail, replyTo: 'grace@example.com' })).toEqual({ result: 'accepted' });
  expect(server.mails.at(-1)).toMatchObject({
    from: 'no-reply@millrace.test',
    to: ['ada@example.com'],
    headers: { from: 'Millrace <no-reply@millrace.test>', 'reply-to': 'grace@example.com' },
  });
  expect(server.mails.at(-1)?.body).toContain('Zeile 2 – mit Umlaut: ä');
});

test('line breaks in user input do not create email headers', async () => {
  await mailer.send({ ...mail, subject: 'Hello\r\nBcc: eve@example.com' });
  expect(server.mails.at(-1)?.to).toEqual(['ada@example.com']);
  expect(server.mails.at(-1)?.headers.bcc).toBeUndefined();
});

test('reports a permanent refusal for an unknown mailbox and for an invalid address', async () => {
  server.refuse('gone@example.com');
  expect(await mailer.send({ ...mail, to: 'gone@example.com' })).toEqual({
    result: 'refused',
    isPermanent: true,
    code: '550',
  });
  expect(await mailer.send({ ...mail, to: 'unknown' })).toMatchObject({ result: 'refused', isPermanent: true });
});

test('logs a refusal and its code, but neither the recipient nor the content', async () => {
  lines.length = 0;
  server.refuse('secret@example.com');
  await mailer.send({ ...mail, to: 'secret@example.com' });
  expect(lines).toEqual([['could not send an email', { result: 'refused', isPermanent: true, code: '550' }]]);
});

test('distinguishes an unreachable mail server from a refusal, and uses the server again when it is back', async () => {
  await proxy.refuse();
  expect(await mailer.send(mail)).toMatchObject({ result: 'unreachable' });
  await proxy.pass();
  expect(await mailer.send(mail)).toEqual({ result: 'accepted' });
  proxy.blackHole();
  expect(await mailer.send(mail)).toMatchObject({ result: 'unreachable' });
  await proxy.pass();
  proxy.cut();
  expect(await mailer.send(mail)).toEqual({ result: 'accepted' });
});

test('counts attempts to send email by result', async () => {
  const text = await metrics.registry.metrics();
  expect(text).toMatch(/millrace_mails_total\{result="accepted"\} \d/);
  expect(text).toContain('millrace_mails_total{result="refused"} 3');
  expect(text).toContain('millrace_mails_total{result="unreachable"} 2');
});

test('reads the SMTP URL from a file for each email, so that the password can change without a restart', async () => {
  let password = 'first';
  const strict = await startMailServer({ password: () => password });
  const addressWith = (secret: string) => strict.url.replace('//', `//millrace:${secret}@`);
  const secret = mountSecret({ smtp: addressWith('first') });
  const url = createSecretReader({ smtpUrl: addressWith('first'), smtpUrlFile: secret.file('smtp') }, 'smtpUrl');
  const settings = { url: url ?? '', from: 'no-reply@millrace.test', timeoutMs: patienceMs };
  const own = createMailer(settings, { logger, metrics: createMetrics({ withProcessMetrics: false }) });
  try {
    expect(await own.send(mail)).toEqual({ result: 'accepted' });
    password = 'second';
    // The open connection is already authenticated, so the new password does not affect it.
    expect(await own.send(mail)).toEqual({ result: 'accepted' });
    lines.length = 0;
    secret.exchange({ smtp: 'half of an addr' });
    expect(await own.send(mail)).toEqual({ result: 'accepted' });
    expect(await own.send(mail)).toEqual({ result: 'accepted' });
    expect(lines).toEqual([['SMTP_URL is no longer a valid URL; keeping the previous one']]);
    secret.exchange({ smtp: addressWith('wrong') });
    // A refused password is not the recipient's fault, so the refusal is not permanent.
    expect(await own.send(mail)).toEqual({ result: 'refused', isPermanent: false, code: '535' });
    secret.exchange({ smtp: addressWith('second') });
    const sent = await Promise.all(Array.from({ length: 8 }, () => own.send(mail)));
    expect(sent).toEqual(Array.from({ length: 8 }, () => ({ result: 'accepted' })));
    expect(strict.mails).toHaveLength(12);
  } finally {
    await own.stop();
    await strict.stop();
    secret.remove();
  }
});
