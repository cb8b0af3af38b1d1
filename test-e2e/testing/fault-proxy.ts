// Proxies in front of a server that simulate network and pooler failures. They delay data, break connections and
// suppress notifications.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { findFreePort } from '@millrace/stack/servers/server-process';

/**
 * A proxy between a program and a server. When a test makes it fail, the program sees a failing server, while the
 * server still works for all other clients.
 *
 * | Call | Existing connections | New connections |
 * | --- | --- | --- |
 * | `pass` | forward | forward |
 * | `cut` | broken once | forward |
 * | `refuse` | broken | refused |
 * | `blackHole` | stay open, no data | accepted, no data |
 * | `holdNew` | forward | accepted, no data |
 * | `forget` | stay open, no data, permanently | forward |
 */
export interface FaultProxy {
  host: string;
  /** The port is the same during every fault. */
  port: number;
  /** Breaks existing connections, like a quick server restart. */
  cut(): void;
  /** Breaks existing connections and refuses new connections, like a stopped server. */
  refuse(): Promise<void>;
  /**
   * Keeps connections and accepts new connections, but does not forward data, like a network that drops all packets.
   */
  blackHole(): void;
  /**
   * Forwards existing connections' data. Accepts new connections but does not forward their data, like an overloaded
   * server.
   */
  holdNew(): void;
  /**
   * Permanently stops forwarding existing connections' data, and forwards new connections, like a restarted firewall.
   */
  forget(): void;
  /**
   * Forwards all data again. After `blackHole`, connections continue where they stopped, as after a short network
   * failure.
   */
  pass(): Promise<void>;
  connectionCount(): number;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of 127.0.0.1. The proxy forwards all data until a test sets a fault. */
export async function createFaultProxy(target: { targetHost?: string; targetPort: number }): Promise<FaultProxy> {
  const links = new Set<Link>();
  let isBlackHole = false;

  function serve(client: Socket): void {
    const link = createLink(client, () => connect({ host: target.targetHost ?? '127.0.0.1', port: target.targetPort }));
    links.add(link);
    client.on('close', () => links.delete(link));
    if (!isBlackHole) link.open();
  }
  const cut = () => {
    for (const link of links) link.break();
  };

  const port = await findFreePort();
  let listener = await listen(serve, port);
  async function close(): Promise<void> {
    if (!listener.listening) return;
    const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
    cut();
    await closed;
  }
  return {
    host: '127.0.0.1',
    port,
    cut,
    refuse: close,
    blackHole() {
      isBlackHole = true;
      for (const link of links) link.hold();
    },
    holdNew() {
      isBlackHole = true;
    },
    forget() {
      for (const link of links) link.forget();
    },
    async pass() {
      isBlackHole = false;
      if (!listener.listening) listener = await listen(serve, port);
      for (const link of links) link.open();
    },
    connectionCount: () => links.size,
    stop: close,
  };
}

interface Link {
  open(): void;
  hold(): void;
  forget(): void;
  break(): void;
}

/** Creates a connection through the proxy. Withheld data remains in the sockets, so no data is lost. */
function createLink(client: Socket, connectServer: () => Socket): Link {
  let server: Socket | undefined;
  let isOpen = false;
  let isForgotten = false;
  client.pause();
  client.on('error', () => {});
  client.on('close', () => server?.destroy());
  function hold(): void {
    isOpen = false;
    client.unpipe().pause();
    server?.unpipe().pause();
  }
  return {
    open() {
      if (isOpen || isForgotten || client.destroyed) return;
      isOpen = true;
      if (!server) {
        server = connectServer().setNoDelay(true);
        server.on('error', () => client.destroy());
        server.on('close', () => client.destroy());
        client.setNoDelay(true);
      }
      client.pipe(server).pipe(client);
    },
    hold,
    forget() {
      isForgotten = true;
      hold();
    },
    break() {
      client.resetAndDestroy();
    },
  };
}

function listen(serve: (client: Socket) => void, port: number): Promise<Server> {
  return new Promise((resolve, reject) => {
    const server = createServer(serve);
    server.once('error', reject);
    server.listen(port, '127.0.0.1', () => resolve(server));
  });
}

export interface PoolerWithoutListen {
  port: number;
  stop(): Promise<void>;
}

/** Starts a proxy that forwards everything except notifications, like a pooler in transaction mode. */
export async function startPoolerWithoutListen(databaseUrl: string): Promise<PoolerWithoutListen> {
  const { hostname: host, port } = new URL(databaseUrl);
  const server = createServer((client) => {
    const upstream = connect({ host, port: Number(port || 5432) });
    let rest = Buffer.alloc(0);
    client.pipe(upstream);
    upstream.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      while (rest.length >= 5 && rest.length >= 1 + rest.readInt32BE(1)) {
        const message = rest.subarray(0, 1 + rest.readInt32BE(1));
        rest = rest.subarray(message.length);
        if (message[0] !== 'A'.charCodeAt(0)) client.write(message);
      }
    });
    for (const [one, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      one.on('close', () => other.destroy());
      one.on('error', () => {});
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    port: (server.address() as AddressInfo).port,
    stop: () => new Promise((resolve) => server.close(() => resolve())),
  };
}
