// Proxies before a server that do what networks and poolers do: delay, cut, and swallow notifications.
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { freePort } from '@millrace/stack/servers/server-process';

/**
 * A proxy between a program and a server. A test makes it fail: to the program it is as if the server itself failed, and
 * the server stays whole for everybody else.
 */
export interface FaultProxy {
  host: string;
  /** Stays the same over every fault. */
  port: number;
  /** Breaks the connections there are, as a server does that restarts in no time. New ones pass. */
  cut(): void;
  /** Breaks the connections and refuses new ones, as when the server's process is gone. */
  refuse(): Promise<void>;
  /** Connections stay and new ones are accepted, but no byte passes, as in a network that swallows everything. */
  blackHole(): void;
  /** Connections there are pass, new ones are accepted and no byte of them passes: somebody with no time for strangers. */
  holdNew(): void;
  /** Connections there are stay and are silent for good, new ones pass: as behind a firewall that was restarted. */
  forget(): void;
  /** The server is back. Connections of a black hole go on where they stopped, as after a short network failure. */
  pass(): Promise<void>;
  /** Connections that are open now. */
  connectionCount(): number;
  stop(): Promise<void>;
}

/** Starts a proxy on a free port of 127.0.0.1 that passes everything until told otherwise. */
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

  const port = await freePort();
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

/** One connection through the proxy. Held bytes stay in the sockets, so nothing is lost when it opens again. */
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

export interface DeafPooler {
  port: number;
  stop(): Promise<void>;
}

/** Passes everything but notifications, as a pooler does that gives each transaction another connection. */
export async function startDeafPooler(databaseUrl: string): Promise<DeafPooler> {
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
