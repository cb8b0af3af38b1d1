import type { Socket } from 'node:net';
import { NoTlsError, type TlsServer } from './tls-server.ts';

/** Length, and the number that stands for "TLS?": https://www.postgresql.org/docs/current/protocol-message-formats.html (SSLRequest) */
const postgresQuestion = Buffer.from([0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f]);

/** Says on a fresh connection what the server wants to hear before TLS. @throws NoTlsError when it speaks none. */
export async function beginTls(socket: Socket, begins: TlsServer['begins']): Promise<void> {
  if (begins === 'postgresql') await askPostgres(socket);
  if (begins === 'smtp') await askMailServer(socket);
}

async function askPostgres(socket: Socket): Promise<void> {
  socket.write(postgresQuestion);
  const answer = await nextBytes(socket);
  if (answer.toString('latin1', 0, 1) !== 'S') throw new NoTlsError('the server speaks no TLS');
}

/** https://www.rfc-editor.org/rfc/rfc3207 */
async function askMailServer(socket: Socket): Promise<void> {
  await nextReply(socket, '220');
  socket.write('EHLO localhost\r\n');
  const offers = await nextReply(socket, '250');
  if (!/^250[ -]STARTTLS\s*$/im.test(offers)) throw new NoTlsError('the server offers no STARTTLS');
  socket.write('STARTTLS\r\n');
  await nextReply(socket, '220');
}

/** Lines up to one whose code is followed by a blank. */
async function nextReply(socket: Socket, code: string): Promise<string> {
  let text = '';
  while (!/^\d{3}(?: .*)?\r?\n$/m.test(text)) text += (await nextBytes(socket)).toString('latin1');
  if (!text.startsWith(code)) throw new Error(`the server answered ${text.slice(0, 3)} instead of ${code}`);
  return text;
}

function nextBytes(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const done = (settle: () => void) => {
      socket.pause();
      socket.off('data', onData).off('error', onError).off('close', onClose);
      settle();
    };
    const onData = (bytes: Buffer) => done(() => resolve(bytes));
    const onError = (error: Error) => done(() => reject(error));
    const onClose = () => done(() => reject(new Error('the server closed the connection')));
    socket.on('data', onData).on('error', onError).on('close', onClose).resume();
  });
}
