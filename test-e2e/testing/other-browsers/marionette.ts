import { once } from 'node:events';
import { connect } from 'node:net';
import type { Driver } from './tab.ts';

type Reply = [type: 1, id: number, error: { message: string } | null, result: unknown];

/**
 * Connects to Marionette, the remote control protocol behind Firefox's WebDriver support. Commands and responses are
 * JSON with a length prefix.
 */
export async function connectMarionette(port: number): Promise<Driver> {
  const socket = connect(port, '127.0.0.1');
  const waiting = new Map<number, (reply: Reply) => void>();
  let received = Buffer.alloc(0);
  let last = 0;
  socket.on('data', (bytes) => {
    received = Buffer.concat([received, bytes]);
    for (let message = next(); message !== undefined; message = next()) {
      // The initial greeting is an object, but all other messages are lists.
      if (Array.isArray(message)) waiting.get(message[1])?.(message as Reply);
    }
  });
  await once(socket, 'connect');

  function next(): unknown {
    const colon = received.indexOf(':');
    const end = colon + 1 + Number(received.subarray(0, Math.max(colon, 0)));
    if (colon < 0 || received.length < end) return undefined;
    const message: unknown = JSON.parse(received.subarray(colon + 1, end).toString());
    received = received.subarray(end);
    return message;
  }

  return {
    async send<Result>(command: string, parameters: object = {}): Promise<Result> {
      last += 1;
      const id = last;
      const reply = new Promise<Reply>((resolve) => waiting.set(id, resolve));
      const text = JSON.stringify([0, id, command, parameters]);
      socket.write(`${Buffer.byteLength(text)}:${text}`);
      const [, , error, result] = await reply;
      waiting.delete(id);
      if (error) throw new Error(`${command}: ${error.message}`);
      return result as Result;
    },
    close: () => void socket.destroy(),
  };
}
