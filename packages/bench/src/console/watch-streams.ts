/** The watchers' process: holds streams of live events open and counts what comes, so that its work is nobody else's. */
import { connect, type Socket } from 'node:net';

export interface WatchMessage {
  type: 'watch';
  port: number;
  personalApiKey: string;
  /** One stream for each. */
  projectIds: number[];
}

export interface WatchedAnswer {
  type: 'watched';
  /** Streams that are open. */
  open: number;
  /** Since the last answer. */
  messages: number;
  bytes: number;
  /** The most messages of one stream since the last answer. */
  mostMessages: number;
  /** Streams that were told that they see a share. */
  told: number;
}

interface Stream {
  socket: Socket;
  messages: number;
  bytes: number;
  isTold: boolean;
}

let streams: Stream[] = [];

process.on('message', (message: WatchMessage | { type: 'count' | 'leave' | 'usage' }) => {
  if (message.type === 'watch') void watch(message).then(tell);
  if (message.type === 'count') tell();
  if (message.type === 'leave') {
    for (const { socket } of streams) socket.destroy();
    streams = [];
    tell();
  }
});
process.send?.({ type: 'listening', port: 0 });

function tell(): void {
  const open = streams.filter(({ socket }) => !socket.destroyed);
  const answer: WatchedAnswer = {
    type: 'watched',
    open: open.length,
    messages: open.reduce((sum, { messages }) => sum + messages, 0),
    bytes: open.reduce((sum, { bytes }) => sum + bytes, 0),
    mostMessages: Math.max(0, ...open.map(({ messages }) => messages)),
    told: open.filter(({ isTold }) => isTold).length,
  };
  for (const stream of streams) Object.assign(stream, { messages: 0, bytes: 0 });
  process.send?.(answer);
}

/** Some at a time: a thousand at once would wait for each other. */
async function watch({ port, personalApiKey, projectIds }: WatchMessage): Promise<void> {
  for (let first = 0; first < projectIds.length; first += 25) {
    const some = projectIds.slice(first, first + 25);
    streams.push(...(await Promise.all(some.map((id) => open(port, personalApiKey, id)))));
  }
}

const message = Buffer.from('data: {"uuid"');
const share = Buffer.from('event: share');

function open(port: number, personalApiKey: string, projectId: number): Promise<Stream> {
  const socket = connect({ port, host: '127.0.0.1' });
  const stream: Stream = { socket, messages: 0, bytes: 0, isTold: false };
  socket.write(
    `GET /api/projects/${projectId}/live/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${personalApiKey}\r\n\r\n`,
  );
  socket.on('error', () => {});
  return new Promise((resolve) => {
    socket.on('data', (chunk) => {
      resolve(stream);
      stream.bytes += chunk.length;
      stream.messages += countIn(chunk, message);
      stream.isTold ||= chunk.includes(share);
    });
    socket.on('close', () => resolve(stream));
  });
}

/** One that is cut between two pieces is not seen: too few to matter. */
function countIn(chunk: Buffer, sought: Buffer): number {
  let count = 0;
  for (let at = chunk.indexOf(sought); at >= 0; at = chunk.indexOf(sought, at + sought.length)) count += 1;
  return count;
}
