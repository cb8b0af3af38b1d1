import { EventEmitter } from 'node:events';
import type { Duplex } from 'node:stream';
import type pg from 'pg';

/**
 * Reason: `pg` trusts its server. It parses and handles messages in a listener of the socket, outside of every try block, so an
 * exception there ends the process. It parses an error without its last byte in an endless loop. It keeps a message in memory
 * until it is complete, however long that is, and makes an object with all announced fields of a row of seven bytes.
 * Relies on: `attachListeners` of a connection in `pg` 8.23, which its types do not know. It is called with the stream whose
 * messages are to be read, and only listens to its data.
 * Witness: hostile-databases.test.ts.
 * May go: when `pg` turns whatever a server sends into an error of the query.
 */
interface Inside {
  connection: { attachListeners(stream: EventEmitter): void };
}

/** One message is copied for each piece of it that arrives. */
const maxMessageBytes = 256 * 1024;
/** A password exchange takes four, and one of them as much time as checking a password. */
const maxAuthentications = 6;
const headerBytes = 5;

/**
 * Puts itself between a server that is not ours and `pg`: closes the connection at a message that is malformed, unexpected or
 * too long, and drops rows, which are never requested from such a server. To be called before connecting.
 *
 * @param maxBytes of all messages to one statement, or before the first one
 */
export function guardMessages(client: pg.Client, maxBytes: number): { begin(): void } {
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
    /** To be called before each statement. */
    begin() {
      bytes = 0;
    },
  };
}

/** Types of messages in version 3 of the protocol that may come before, and after the server is first ready for a statement. */
const [duringStart, duringStatements] = [new Set('RSKNEZ'), new Set('123nCTDNESZ')];

function createCheck() {
  let isReady = false;
  let authentications = 0;
  return {
    /** @throws before the rest of the message is waited for */
    header(start: Buffer): void {
      const [type, length] = [String.fromCharCode(start[0] ?? 0), start.readUInt32BE(1)];
      if (!(isReady ? duringStatements : duringStart).has(type) || length < 4) throw malformed();
      if (length > maxMessageBytes) throw tooLong();
    },
    /** @returns whether it is passed on */
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

/** Fields are a byte and a text that ends with NUL; behind the last field is another NUL. */
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
