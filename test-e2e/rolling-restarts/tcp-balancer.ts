import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { eventually } from '@millrace/testing';

/** Distributes connections among processes by their last known readiness, like a cluster's load balancer. */
export interface TcpBalancer {
  url: string;
  /** Resolves when the process is ready. */
  add(port: number): Promise<void>;
  remove(port: number): void;
  connections: ReadonlyMap<number, number>;
  stop(): Promise<void>;
}

/**
 * Interval of readiness checks. A stopping process gets new connections for up to this long, as in a cluster whose
 * nodes have not yet detected the change.
 */
const probeIntervalMs = 100;

interface Backend {
  port: number;
  isReady: boolean;
  timer: NodeJS.Timeout;
}

export async function startTcpBalancer(): Promise<TcpBalancer> {
  const backends = new Map<number, Backend>();
  const connections = new Map<number, number>();
  const sockets = new Set<Socket>();
  let count = 0;

  const listener = createServer({ noDelay: true }, (client) => {
    const ready = [...backends.values()].filter(({ isReady }) => isReady);
    const backend = ready[count++ % ready.length];
    if (backend === undefined) return void client.destroy();
    connections.set(backend.port, (connections.get(backend.port) ?? 0) + 1);
    const server = connect({ port: backend.port, host: '127.0.0.1', noDelay: true });
    relay(client, server);
    relay(server, client);
  });

  function relay(from: Socket, to: Socket): void {
    sockets.add(from);
    from.pipe(to);
    from.on('error', () => to.destroy());
    from.on('close', () => sockets.delete(from));
  }

  async function probe(backend: Backend): Promise<void> {
    try {
      const response = await fetch(`http://127.0.0.1:${backend.port}/_readiness`, {
        signal: AbortSignal.timeout(5000),
      });
      await response.arrayBuffer();
      backend.isReady = response.status === 200;
    } catch {
      backend.isReady = false;
    }
    if (backends.has(backend.port)) backend.timer = setTimeout(() => void probe(backend), probeIntervalMs);
  }

  function remove(port: number): void {
    clearTimeout(backends.get(port)?.timer);
    backends.delete(port);
  }

  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}`,
    connections,
    async add(port) {
      const backend: Backend = { port, isReady: false, timer: setTimeout(() => void probe(backend), 0) };
      backends.set(port, backend);
      await eventually(() => backend.isReady, { what: `The gateway at ${port} being ready` });
    },
    remove,
    async stop() {
      for (const port of [...backends.keys()]) remove(port);
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}
