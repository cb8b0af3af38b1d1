import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type pg from 'pg';

/**
 * Reason for this workaround: `pg` trusts its server. It parses and handles messages in a socket listener, outside of
 * every try block, so an exception in the listener crashes the process. An error message without its last byte causes
 * an endless loop. `pg` holds a message of any length in memory until the message is complete, and a row of seven bytes
 * can make it allocate an object for each announced field. Relies on: `attachListeners` of a connection in `pg` 8.23,
 * which its types do not declare. `pg` calls it with the stream of messages, and it only listens to the stream's data.
 * Test: hostile-databases.test.ts. Remove this workaround when `pg` reports every invalid server message as an error of
 * the query.
 */
interface Inside {
  connection: { attachListeners(stream: EventEmitter): void };
}

/** The maximum size of a message. It is limited because a message is copied each time another chunk of it arrives. */
const maxMessageBytes = 256 * 1024;
/** Authentication takes four messages. Responding to one of them takes as much time as checking a password. */
const maxAuthentications = 6;
const headerBytes = 5;

/**
 * Filters the messages from an untrusted server to `pg`. Closes the connection if a message is malformed, unexpected or
 * too long. Drops rows, because Millrace requests none from such a server. Call this function before connecting.
 * @param maxBytes the maximum size of the messages that answer one statement, and the messages before the first
 * statement
 */
export function filterServerMessages(client: pg.Client, maxBytes: number): { begin(): void } {
  const inside = (client as unknown as Inside).connection;
  const attach = inside.attachListeners.bind(inside);
  let bytes = 0;
  inside.attachListeners = (stream) => {
    const passed = new EventEmitter();
    attach(passed);
    const check = createCheck();
    let rest: Buffer = Buffer.alloc(0);
    const read = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes > maxBytes) throw tooLong();
      rest = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
      while (rest.length >= headerBytes) {
        const end = 1 + rest.readUInt32BE(1);
        check.header(rest);
        if (rest.length < end) return;
        const message = rest.subarray(0, end);
        rest = rest.subarray(end);
        if (check.message(message)) passed.emit('data', message);
      }
    };
    stream.on('data', (chunk: Buffer) => {
      try {
        read(chunk);
      } catch (error) {
        const isOurs = ['EANSWERTOOLONG', 'EBADMESSAGE'].includes((error as { code?: string }).code ?? '');
        (stream as Duplex).destroy(isOurs ? (error as Error) : malformed(error));
      }
    });
  };
  return {
    begin() {
      bytes = 0;
    },
  };
}

/** The message types of protocol version 3 that the server may send before it is first ready, and afterwards. */
const [duringStart, duringStatements] = [new Set('RSKNEZ'), new Set('123nCTDNESZ')];

function createCheck() {
  let isReady = false;
  let authentications = 0;
  return {
    /**
     * Checks the type and length of a message before its body arrives.
     * @throws if the type or the length is not allowed
     */
    header(start: Buffer): void {
      const [type, length] = [String.fromCharCode(start[0] ?? 0), start.readUInt32BE(1)];
      if (!(isReady ? duringStatements : duringStart).has(type) || length < 4) throw malformed();
      if (length > maxMessageBytes) throw tooLong();
    },
    /** Checks one complete message from the server. @returns whether to pass it on */
    message(message: Buffer): boolean {
      const type = String.fromCharCode(message[0] ?? 0);
      if (type === 'Z') isReady = true;
      if (type === 'R') authentications += 1;
      if (authentications > maxAuthentications) throw malformed();
      if ((type === 'E' || type === 'N') && !hasEnd(message)) throw malformed();
      return type !== 'T' && type !== 'D';
    },
  };
}

/**
 * Returns whether an error or notice message is complete. Each field consists of a type byte and a string that ends
 * with NUL. A final NUL follows the last field.
 */
function hasEnd(message: Buffer): boolean {
  let at = headerBytes;
  while (at < message.length && message[at] !== 0) {
    const end = message.indexOf(0, at + 1);
    if (end === -1) return false;
    at = end + 1;
  }
  return at < message.length;
}

const tooLong = () => Object.assign(new Error('The response of the server is too long.'), { code: 'EANSWERTOOLONG' });
const malformed = (cause?: unknown) =>
  Object.assign(new Error('The server does not use the PostgreSQL protocol.', { cause }), { code: 'EBADMESSAGE' });
