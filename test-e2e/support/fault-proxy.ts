import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

/**
 * A door between a service and a server that a test can slam. What a fault does to the service is the same as when the
 * server itself has it, and the server stays whole for the other tests.
 */
export interface FaultProxy {
  host: string;
  port: number;
  /** As when the server's process is gone: connections break, new ones are refused. */
  refuse(): Promise<void>;
  /** As when the network swallows everything: connections stay, new ones are accepted, no byte passes. */
  blackHole(): void;
  /** The server is back. */
  restore(): Promise<void>;
  stop(): Promise<void>;
}

/** Sees both directions of one connection and passes them on, possibly changed. */
export interface ConnectionTap {
  toServer(chunk: Buffer): Buffer;
  toClient(chunk: Buffer): Promise<Buffer> | Buffer;
}

/** @param openTap called per connection; without it bytes pass unseen. */
export async function startFaultProxy(
  target: { host: string; port: number },
  openTap: () => ConnectionTap = passThrough,
): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  let isBlackHole = false;

  function serve(client: Socket): void {
    const server = connect({ ...target, noDelay: true });
    const tap = openTap();
    client.setNoDelay(true);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        // In a black hole nobody learns that the other side is gone.
        if (!isBlackHole) other.destroy();
      });
    }
    client.on('data', (chunk) => {
      if (!isBlackHole) server.write(tap.toServer(chunk));
    });
    let passed: Promise<void> = Promise.resolve();
    server.on('data', (chunk) => {
      passed = passed.then(async () => {
        const bytes = await tap.toClient(chunk);
        if (!isBlackHole && bytes.length > 0) client.write(bytes);
      });
      passed.catch((error: Error) => client.destroy(error));
    });
  }

  let listener: Server = await listen(serve, 0);
  const { port } = listener.address() as AddressInfo;
  const breakConnections = () => {
    for (const socket of sockets) socket.destroy();
  };
  const close = () => new Promise<void>((resolve) => listener.close(() => resolve()));
  return {
    host: '127.0.0.1',
    port,
    async refuse() {
      const closed = close();
      breakConnections();
      await closed;
    },
    blackHole() {
      isBlackHole = true;
    },
    async restore() {
      // Bytes are missing on the connections of a black hole: no one can go on with them.
      if (isBlackHole) breakConnections();
      isBlackHole = false;
      if (!listener.listening) listener = await listen(serve, port);
    },
    async stop() {
      isBlackHole = false;
      const closed = close();
      breakConnections();
      await closed;
    },
  };
}

function passThrough(): ConnectionTap {
  return { toServer: (chunk) => chunk, toClient: (chunk) => chunk };
}

function listen(serve: (client: Socket) => void, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(serve);
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}
