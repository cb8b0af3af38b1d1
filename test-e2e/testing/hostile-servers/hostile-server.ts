import { type AddressInfo, createServer, type Socket } from 'node:net';

export type SocketScript = (socket: Socket) => void;

export interface HostileServer {
  port: number;
  url: string;
  openConnections(): number;
  connections(): number;
  bytesSent(): number;
  /** Sets the behavior of new connections. */
  behave(script: SocketScript): void;
  stop(): Promise<void>;
}

/** Starts a TCP server on a free loopback port. The server runs the script for each connection. */
export async function startHostileServer(script: SocketScript): Promise<HostileServer> {
  const sockets = new Set<Socket>();
  let [current, connections, finished] = [script, 0, 0];
  const sentOn = (socket: Socket) => socket.bytesWritten - socket.writableLength;
  const server = createServer((socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    // Read from the socket, because the server could not otherwise detect the end of the connection.
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

/** Writes a chunk repeatedly, as fast as the client reads, until the client closes the connection. */
export function writeFast(socket: Socket, piece: string | Buffer): void {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', write);
  write();
}

/** Writes a chunk every 50 ms, until the client closes the connection. */
export function writeSlowly(socket: Socket, piece: string | Buffer): void {
  const timer = setInterval(() => socket.write(piece), 50);
  socket.on('close', () => clearInterval(timer));
}
