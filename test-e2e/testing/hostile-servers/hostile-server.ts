import { type AddressInfo, createServer, type Socket } from 'node:net';

export type SocketScript = (socket: Socket) => void;

export interface HostileServer {
  port: number;
  url: string;
  openConnections(): number;
  /** Number of connections ever opened. */
  connections(): number;
  /** Number of bytes that clients have received, including those in buffers of the operating system. */
  bytesSent(): number;
  /** Sets how following connections are handled. */
  behave(script: SocketScript): void;
  stop(): Promise<void>;
}

/** Starts a TCP server on a free loopback port that runs the script for each connection. */
export async function startHostileServer(script: SocketScript): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  let [current, connections, finished] = [script, 0, 0];
  const sentOn = (socket: Socket) => socket.bytesWritten - socket.writableLength;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    // A socket that is not read does not notice the end of its connection.
    socket.on('data', () => {});
    socket.on('close', () => {
      sockets.delete(socket);
      finished += sentOn(socket);
    });
    current(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://127.0.0.1:${port}`,
    openConnections: () => sockets.size,
    connections: () => connections,
    bytesSent: () => [...sockets].reduce((sum, socket) => sum + sentOn(socket), finished),
    behave(next) {
      current = next;
    },
    stop: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** Writes pieces as fast as the client reads them, until it closes the connection. */
export function pour(socket: Socket, piece: string | Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', write);
  write();
}

/** Writes a piece every 50 ms, until the client closes the connection. */
export function drip(socket: Socket, piece: string | Buffer): void {
  const timer = setInterval(() => socket.write(piece), 50);
  socket.on('close', () => clearInterval(timer));
}
