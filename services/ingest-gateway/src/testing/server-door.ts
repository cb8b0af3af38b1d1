import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A door in front of a real server that a test can shut, so that one service loses it and the others do not. */
export interface ServerDoor {
  port: number;
  /** A dead process: connections break, new ones break at once. */
  slam(): void;
  /** A lost network: connections stay, new ones are taken, nothing passes. */
  blackHole(): void;
  open(): void;
  stop(): Promise<void>;
}

export async function openServerDoor(address: string): Promise<ServerDoor> {
  const { hostname, port } = new URL(address);
  const sockets = new Set<Socket>();
  let state: 'open' | 'slammed' | 'black hole' = 'open';

  const listener = createServer((client) => {
    if (state === 'slammed') return client.destroy();
    const server = connect(Number(port), hostname);
    relay(client, server);
    relay(server, client);
  });
  function relay(from: Socket, to: Socket): void {
    sockets.add(from);
    from.on('data', (bytes) => state === 'open' && to.write(bytes));
    from.on('error', () => {});
    from.on('close', () => {
      sockets.delete(from);
      to.destroy();
    });
  }
  function breakAll(): void {
    for (const socket of sockets) socket.destroy();
  }

  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    port: (listener.address() as AddressInfo).port,
    slam() {
      state = 'slammed';
      breakAll();
    },
    blackHole() {
      state = 'black hole';
    },
    open() {
      breakAll();
      state = 'open';
    },
    stop: () =>
      new Promise((resolve) => {
        listener.close(() => resolve());
        breakAll();
      }),
  };
}

/** The address of a server as seen through its door. */
export function throughDoor(address: string, door: ServerDoor): string {
  const url = new URL(address);
  url.hostname = '127.0.0.1';
  url.port = String(door.port);
  return url.toString();
}
