import type { Socket } from 'node:net';
import { gzipSync } from 'node:zlib';
import { type SocketScript, writeFast, writeSlowly } from './hostile-server.ts';

export interface HttpMisbehavior {
  id: string;
  title: string;
  /** Runs when a request's headers have arrived. */
  script: SocketScript;
  /**
   * Result for a client that reads only the status. The result `ok` means success. `body` is the result for a client
   * that reads the body.
   */
  status: string;
  body: string;
}

/** Returns a script that reads the headers of each request on a connection, and then runs the given script. */
export function runAfterHeaders(script: SocketScript): SocketScript {
  return (socket) => {
    let received = '';
    socket.on('data', (chunk) => {
      const before = received.includes('\r\n\r\n');
      received = (received + chunk.toString('latin1')).slice(-4096);
      if (!before && received.includes('\r\n\r\n')) script(socket);
    });
  };
}

const say = (text: string | Buffer) => (socket: Socket) => void socket.write(text);
const end = (text: string | Buffer) => (socket: Socket) => void socket.end(text);
const head = (fields: string, status = '200 OK') => `HTTP/1.1 ${status}\r\n${fields}\r\n\r\n`;
const respond = (status: string, body = '{}') =>
  head(`content-type: application/json\r\ncontent-length: ${body.length}`, status) + body;
const begin = (text: string, then: (socket: Socket) => void) => (socket: Socket) => {
  socket.write(text);
  then(socket);
};
const json = 'content-type: application/json';
const chunked = `${json}\r\ntransfer-encoding: chunked`;
const bomb = gzipSync(Buffer.alloc(32 * 1024 * 1024, ' '));
const tlsAlert = Buffer.from([0x15, 3, 1, 0, 2, 2, 40]);
const noise = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 167 + 13) % 256));

// biome-ignore format: a case is one line
const rows: [string, string, SocketScript, string, string][] = [
  ['hostile-001', 'status 000', end(respond('000 Nothing')), 'invalid', 'invalid'],
  ['hostile-002', 'status 099', end(respond('099 Nothing')), 'invalid', 'invalid'],
  ['hostile-003', 'status 600', end(respond('600 Other')), 'invalid', 'invalid'],
  ['hostile-004', 'status 999', end(respond('999 Other')), 'invalid', 'invalid'],
  ['hostile-005', 'a status of one digit', end(respond('2 OK')), 'invalid', 'invalid'],
  ['hostile-006', 'a status of four digits', end(respond('2000 OK')), 'invalid', 'invalid'],
  ['hostile-007', 'a negative status', end(respond('-200 OK')), 'invalid', 'invalid'],
  ['hostile-008', 'status 101', say(head('connection: upgrade\r\nupgrade: websocket', '101 Other')), 'invalid', 'invalid'],
  ['hostile-009', 'status 100 and then silence', say('HTTP/1.1 100 Continue\r\n\r\n'), 'late', 'late'],
  ['hostile-010', 'status 103 without end', (socket) => writeSlowly(socket, 'HTTP/1.1 103 Early\r\nlink: </a>\r\n\r\n'), 'late', 'late'],
  ['hostile-011', 'status 204 with a body', end(respond('204 No Content')), 'ok', 'surplus'],
  ['hostile-012', 'status 304', end(head('etag: "a"', '304 Not Modified')), 'refused', 'refused'],
  ['hostile-013', 'status 500', end(respond('500 Broken')), 'refused', 'refused'],
  ['hostile-014', 'a redirect to itself', end(head('location: /\r\ncontent-length: 0', '302 Found')), 'refused', 'refused'],
  ['hostile-015', 'a redirect to a private address', end(head('location: http://169.254.169.254/\r\ncontent-length: 0', '307 Other')), 'refused', 'refused'],
  ['hostile-016', 'a header without a colon', end(`HTTP/1.1 200 OK\r\nbroken\r\n\r\n`), 'invalid', 'invalid'],
  ['hostile-017', 'a header name with a space', end(head('a b: c')), 'invalid', 'invalid'],
  ['hostile-018', 'NUL in a header', end(head('a: b\0c')), 'invalid', 'invalid'],
  ['hostile-019', 'a header that is not ASCII', end(`${head(`x-a: \u00ff\r\n${json}\r\ncontent-length: 2`)}{}`), 'ok', 'refused'],
  ['hostile-020', 'a header of 1 MB', end(head(`a: ${'b'.repeat(1_000_000)}`)), 'invalid', 'invalid'],
  ['hostile-021', '100,000 headers', end(head('a: b\r\n'.repeat(100_000))), 'invalid', 'invalid'],
  ['hostile-022', 'headers without end', begin('HTTP/1.1 200 OK\r\n', (socket) => writeFast(socket, 'a: b\r\n'.repeat(1000))), 'invalid', 'invalid'],
  ['hostile-023', 'a header line without end', begin('HTTP/1.1 200 OK\r\na: ', (socket) => writeFast(socket, 'b'.repeat(8192))), 'invalid', 'invalid'],
  ['hostile-024', 'slow headers without end', begin('HTTP/1.1 200 OK\r\n', (socket) => writeSlowly(socket, 'a: b\r\n')), 'late', 'late'],
  ['hostile-025', 'two lengths', end(`${head(`${json}\r\ncontent-length: 2\r\ncontent-length: 3`)}{} `), 'invalid', 'invalid'],
  ['hostile-026', 'a length and chunks', end(`${head(`${chunked}\r\ncontent-length: 2`)}2\r\n{}\r\n0\r\n\r\n`), 'invalid', 'invalid'],
  ['hostile-027', 'a negative length', end(`${head(`${json}\r\ncontent-length: -1`)}{}`), 'invalid', 'invalid'],
  ['hostile-028', 'a length of 1 EB', end(`${head(`${json}\r\ncontent-length: 1000000000000000000`)}{}`), 'ok', 'cut'],
  ['hostile-029', 'a length above 64 bits', end(`${head(`${json}\r\ncontent-length: 99999999999999999999`)}{}`), 'invalid', 'invalid'],
  ['hostile-030', 'a length that is too short', end(`${head(`${json}\r\ncontent-length: 1`)}{"a": 1}`), 'ok', 'surplus'],
  ['hostile-031', 'a body cut short', end(`${head(`${json}\r\ncontent-length: 100`)}{`), 'ok', 'cut'],
  ['hostile-032', 'chunks cut short', end(`${head(chunked)}10\r\n{`), 'ok', 'cut'],
  ['hostile-033', 'a chunk length that is not a number', end(`${head(chunked)}zz\r\n{}\r\n`), 'ok', 'invalid'],
  ['hostile-034', 'a chunk extension without end', begin(`${head(chunked)}2;`, (socket) => writeFast(socket, 'x'.repeat(8192))), 'ok', 'invalid'],
  ['hostile-035', 'trailers without end', begin(`${head(chunked)}2\r\n{}\r\n0\r\n`, (socket) => writeFast(socket, 'a: b\r\n'.repeat(1000))), 'ok', 'invalid'],
  ['hostile-036', 'a body without end', begin(head(json), (socket) => writeFast(socket, Buffer.alloc(65_536, ' '))), 'ok', 'large'],
  ['hostile-037', 'chunks without end', begin(head(chunked), (socket) => writeFast(socket, `4000\r\n${' '.repeat(0x4000)}\r\n`)), 'ok', 'large'],
  ['hostile-038', 'a slow body without end', begin(head(json), (socket) => writeSlowly(socket, ' ')), 'ok', 'late'],
  ['hostile-039', 'a body that never comes', say(head(`${json}\r\ncontent-length: 100`)), 'ok', 'late'],
  ['hostile-040', 'a gzip bomb', begin(head(`${json}\r\ncontent-encoding: gzip\r\ncontent-length: ${bomb.length}`), end(bomb)), 'ok', 'refused'],
  ['hostile-041', 'gzip that is not gzip', end(`${head(`${json}\r\ncontent-encoding: gzip\r\ncontent-length: 2`)}{}`), 'ok', 'refused'],
  ['hostile-042', 'an unknown encoding', end(`${head(`${json}\r\ncontent-encoding: zz\r\ncontent-length: 2`)}{}`), 'ok', 'refused'],
  ['hostile-043', 'an unknown transfer encoding', end(`${head(`${json}\r\ntransfer-encoding: zz`)}{}`), 'ok', 'refused'],
  ['hostile-044', 'a second response without a request', end(respond('200 OK') + respond('200 OK')), 'ok', 'refused'],
  ['hostile-045', 'JSON nested 500,000 times', end(respond('200 OK', '['.repeat(500_000))), 'ok', 'refused'],
  ['hostile-046', 'XML nested 100,000 times', end(respond('400 Bad', '<a>'.repeat(100_000))), 'refused', 'refused'],
  ['hostile-047', 'invalid UTF-8', end(Buffer.concat([Buffer.from(head(`${json}\r\ncontent-length: 4`)), Buffer.from([0xff, 0xfe, 0, 0x80])])), 'ok', 'refused'],
  ['hostile-048', 'HTTP/0.9', end('<html>a page without a head</html>'), 'invalid', 'invalid'],
  ['hostile-049', 'HTTP/3.7', end('HTTP/3.7 200 OK\r\ncontent-length: 0\r\n\r\n'), 'invalid', 'invalid'],
  ['hostile-050', 'another protocol', end('SSH-2.0-OpenSSH_9.9\r\n'), 'invalid', 'invalid'],
  ['hostile-051', 'an HTTP request', end('GET / HTTP/1.1\r\nhost: a\r\n\r\n'), 'invalid', 'invalid'],
  ['hostile-052', 'a TLS alert', end(tlsAlert), 'invalid', 'invalid'],
  ['hostile-053', 'binary noise', end(noise), 'invalid', 'invalid'],
  ['hostile-054', 'binary noise without end', (socket) => writeFast(socket, noise), 'invalid', 'invalid'],
  ['hostile-055', 'one byte', say('H'), 'late', 'late'],
  ['hostile-056', 'silence', () => {}, 'late', 'late'],
  ['hostile-057', 'an end without a response', (socket) => void socket.end(), 'cut', 'cut'],
  ['hostile-058', 'a reset', (socket) => void socket.resetAndDestroy(), 'cut', 'cut'],
  ['hostile-059', 'a reset within the headers', begin('HTTP/1.1 200 OK\r\na:', (socket) => setTimeout(() => socket.resetAndDestroy(), 20)), 'cut', 'cut'],
  ['hostile-060', 'an XML error whose code is no code', end(respond('403 No', `<Error><Code>a&#0;b ${'x'.repeat(100_000)}</Code></Error>`)), 'refused', 'refused'],
];

/**
 * The ways in which an HTTP server can misbehave. They are used to test every client that connects to tenants' servers.
 */
export const httpMisbehaviors: HttpMisbehavior[] = rows.map(([id, title, script, status, body]) => ({
  id,
  title,
  script: runAfterHeaders(script),
  status,
  body,
}));

/** Servers that do not speak TLS correctly to a client that expects TLS. */
export const brokenTls: [string, string, SocketScript][] = [
  [
    'hostile-061',
    'an HTTP response instead of TLS',
    (socket) => void socket.once('data', () => socket.end(respond('400 Bad'))),
  ],
  ['hostile-062', 'a TLS alert', (socket) => void socket.once('data', () => socket.end(tlsAlert))],
  ['hostile-063', 'noise instead of TLS', (socket) => void socket.once('data', () => writeFast(socket, noise))],
  ['hostile-064', 'silence instead of TLS', () => {}],
  [
    'hostile-065',
    'an end within the handshake',
    (socket) => void socket.once('data', () => socket.end(Buffer.from([0x16, 3, 3]))),
  ],
  ['hostile-066', 'a reset within the handshake', (socket) => void socket.once('data', () => socket.resetAndDestroy())],
];
