/** Runs in a worker: keeps streams of live events open and counts their messages. */
import { connect, type Socket } from 'node:net';

interface Stream {
  socket: Socket;
  messages: number;
}

let streams: Stream[] = [];

const openAtOnce = 25;

/** Opens one stream per project ID, several at the same time. Returns the number of open streams. */
export async function openLiveStreams(port: number, personalApiKey: string, projectIds: number[]): Promise<number> {
  for (let first = 0; first < projectIds.length; first += openAtOnce) {
    const some = projectIds.slice(first, first + openAtOnce);
    streams.push(...(await Promise.all(some.map((id) => openStream(port, personalApiKey, id)))));
  }
  return openOnes().length;
}

const openOnes = () => streams.filter(({ socket }) => !socket.destroyed);

/** Returns the number of messages that each open stream has received since the previous call. */
export function countLiveMessages(): number[] {
  const counts = openOnes().map(({ messages }) => messages);
  for (const stream of streams) stream.messages = 0;
  return counts;
}

export function closeLiveStreams(): void {
  for (const { socket } of streams) socket.destroy();
  streams = [];
}

const messageStart = Buffer.from('data: {"uuid"');

function openStream(port: number, personalApiKey: string, projectId: number): Promise<Stream> {
  const socket = connect({ port, host: '127.0.0.1' });
  const stream: Stream = { socket, messages: 0 };
  socket.write(
    `GET /api/projects/${projectId}/live/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer ${personalApiKey}\r\n\r\n`,
  );
  socket.on('error', () => {});
  return new Promise((resolve) => {
    socket.on('data', (chunk) => {
      resolve(stream);
      // Messages that are split between two chunks are not counted, but they are rare.
      for (let at = chunk.indexOf(messageStart); at >= 0; at = chunk.indexOf(messageStart, at + 1))
        stream.messages += 1;
    });
    socket.on('close', () => resolve(stream));
  });
}
