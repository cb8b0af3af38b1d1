import type { Socket } from 'node:net';
import {
  eventually,
  type HostileServer,
  patienceMs,
  type SocketScript,
  startHostileServer,
  writeFast,
  writeSlowly,
} from '@millrace/testing';
import type { Logger } from '../logger.ts';
import { createMetrics } from '../metrics.ts';
import { createMailer } from './create-mailer.ts';
import type { MailOutcome } from './mailer.ts';

type Step = 'greeting' | 'EHLO' | 'MAIL' | 'RCPT' | 'DATA' | 'end';
const usual: Record<Step, string> = {
  ...{ greeting: '220 hi\r\n', EHLO: '250 hi\r\n', MAIL: '250 ok\r\n', RCPT: '250 ok\r\n' },
  ...{ DATA: '354 go on\r\n', end: '250 taken\r\n' },
};

/** Behaves like a normal mail server until `step`. From then on, the script controls the connection. */
const at =
  (badStep: Step | null, script: SocketScript = () => {}): SocketScript =>
  (socket) => {
    const respond = (step: Step) => (step === badStep ? script(socket) : socket.write(usual[step]));
    let isData = false;
    let received = '';
    respond('greeting');
    socket.on('data', (chunk) => {
      received += chunk.toString('latin1');
      if (isData && received.includes('\r\n.\r\n')) {
        [isData, received] = [false, ''];
        respond('end');
      }
      for (let end = received.indexOf('\r\n'); !isData && end >= 0; end = received.indexOf('\r\n')) {
        const command = received.slice(0, 4).toUpperCase();
        received = received.slice(end + 2);
        isData = command === 'DATA' && badStep !== 'DATA';
        if (command in usual) respond(command as Step);
        else socket.write('250 ok\r\n');
      }
    });
  };
const say = (text: string | Buffer) => (socket: Socket) => void socket.write(text);
const noise = Buffer.from(Array.from({ length: 4096 }, (_, index) => (index * 167 + 13) % 256));
const refused = { result: 'refused' };
const unreachable = { result: 'unreachable', code: expect.stringMatching(/^\w+$/) };
const failed = { result: expect.stringMatching(/^(refused|unreachable)$/) };
const accepted = { result: 'accepted' };
const late = { result: 'unreachable' };

// biome-ignore format: one line per case
const cases: [string, string, SocketScript, object][] = [
  ['hostile-201', 'silence instead of a greeting', at('greeting'), late],
  ['hostile-202', 'an endless slow greeting', at('greeting', (socket) => writeSlowly(socket, '220-hi\r\n')), late],
  ['hostile-203', 'an endless greeting', at('greeting', (socket) => writeFast(socket, '220-hi\r\n'.repeat(1000))), unreachable],
  ['hostile-204', 'an endless greeting line', at('greeting', (socket) => writeFast(socket, 'x'.repeat(8192))), unreachable],
  ['hostile-205', 'noise instead of a greeting', at('greeting', say(noise)), failed],
  ['hostile-206', 'endless noise', at('greeting', (socket) => writeFast(socket, noise)), failed],
  ['hostile-207', 'an HTTP response', at('greeting', say('HTTP/1.1 400 Bad\r\n\r\n')), failed],
  ['hostile-208', 'the code 000', at('greeting', say('000 hi\r\n')), failed],
  ['hostile-209', 'the code 999', at('greeting', say('999 hi\r\n')), failed],
  ['hostile-210', 'a code of two digits', at('greeting', say('22 hi\r\n')), failed],
  ['hostile-211', 'a refusal of all clients', at('greeting', say('554 no\r\n')), refused],
  ['hostile-212', 'a closed connection', at('greeting', (socket) => void socket.end()), unreachable],
  ['hostile-213', 'a reset', at('greeting', (socket) => void socket.resetAndDestroy()), unreachable],
  ['hostile-214', 'silence after the greeting', at('EHLO'), late],
  ['hostile-215', 'endless features', at('EHLO', (socket) => writeFast(socket, '250-SIZE 1\r\n'.repeat(1000))), unreachable],
  ['hostile-216', 'STARTTLS without support for it', at('EHLO', say('250-hi\r\n250 STARTTLS\r\n')), failed],
  ['hostile-217', 'a closed connection after the greeting', at('EHLO', (socket) => void socket.end()), unreachable],
  ['hostile-218', 'a largest size of 1 byte', at('EHLO', say('250-hi\r\n250 SIZE 1\r\n')), accepted],
  ['hostile-219', 'a wrong code for the sender', at('MAIL', say('354 go on\r\n')), failed],
  ['hostile-220', 'a refused sender', at('MAIL', say('550 no\r\n')), refused],
  ['hostile-221', 'a sender refused for now', at('MAIL', say('451 later\r\n')), { result: 'refused', isPermanent: false }],
  ['hostile-222', 'silence after the sender', at('MAIL'), late],
  ['hostile-223', 'a refused recipient', at('RCPT', say('550 no\r\n')), { result: 'refused', isPermanent: true }],
  ['hostile-224', 'a recipient with the code 999', at('RCPT', say('999 no\r\n')), failed],
  ['hostile-225', 'a closed connection after the recipient', at('RCPT', (socket) => void socket.end()), unreachable],
  ['hostile-226', 'a line of 2 MB', at('RCPT', say(`550 ${'x'.repeat(2_000_000)}\r\n`)), failed],
  ['hostile-227', 'a refusal before the mail', at('DATA', say('554 no\r\n')), refused],
  ['hostile-228', 'success before the mail', at('DATA', say('250 ok\r\n')), accepted],
  ['hostile-229', 'silence before the mail', at('DATA'), late],
  ['hostile-230', 'a refusal of the mail', at('end', say('554 spam\r\n')), { result: 'refused', isPermanent: true }],
  ['hostile-231', 'a refusal in NUL and invalid UTF-8', at('end', say(Buffer.from([0x35, 0x35, 0x34, 0x20, 0, 0xff, 0xfe, 13, 10]))), refused],
  ['hostile-232', 'noise after the mail', at('end', say(noise)), failed],
  ['hostile-233', 'an endless slow response', at('end', (socket) => writeSlowly(socket, '250-ok\r\n')), late],
  ['hostile-234', 'an endless response', at('end', (socket) => writeFast(socket, '250-ok\r\n'.repeat(1000))), unreachable],
  ['hostile-235', 'silence after the mail', at('end'), late],
  ['hostile-236', 'a closed connection after the mail', at('end', (socket) => void socket.end()), unreachable],
  ['hostile-237', 'a reset after the mail', at('end', (socket) => void socket.resetAndDestroy()), unreachable],
];

describe('sending email through a misbehaving mail server', () => {
  const results = new Map<string, { server: HostileServer; first: MailOutcome; second: MailOutcome }>();
  beforeAll(async () => {
    const logger = { warn: () => {} } as unknown as Logger;
    const attempts = cases.map(async ([id, , script, expected]) => {
      const server = await startHostileServer(script);
      const settings = { url: `smtp://127.0.0.1:${server.port}`, from: 'no-reply@millrace.test' };
      const mailerWith = (timeoutMs: number) =>
        createMailer({ ...settings, timeoutMs }, { logger, metrics: createMetrics({ withProcessMetrics: false }) });
      const mail = { to: 'ada@example.com', subject: 'Hello', text: 'Hello' };
      const mailer = mailerWith(patienceMs);
      const hasLimit = expected === late || expected === failed;
      const impatient = mailerWith(1000);
      const first = await (hasLimit ? impatient : mailer).send(mail);
      await impatient.stop();
      server.behave(at(null));
      results.set(id, { server, first, second: await mailer.send(mail) });
      await mailer.stop();
    });
    await Promise.all(attempts);
  });
  afterAll(async () => {
    for (const { server } of results.values()) await server.stop();
  });

  it.each(cases)('%s: %s', async (id, _title, _script, expected) => {
    const { server, first, second } = results.get(id) as NonNullable<ReturnType<typeof results.get>>;
    expect(first).toMatchObject(expected);
    expect(second).toEqual({ result: 'accepted' });
    await eventually(() => expect(server.openConnections()).toBe(0));
    expect(server.bytesSent()).toBeLessThan(16 * 1024 * 1024);
  });
});
