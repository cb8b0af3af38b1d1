import net from 'node:net';

export interface FlakyProxy {
  port: number;
  /** Lets traffic through again. Connections that were made silent stay so: what they carried is lost. */
  pass(): void;
  /** Accepts everything, answers nothing, breaks nothing: a frozen machine, a pulled cable. */
  goSilent(): void;
  /** Breaks all connections and refuses new ones: a dead process. */
  refuse(): Promise<void>;
  /** Takes connections again after `refuse`. */
  accept(): Promise<void>;
  /** Breaks all connections; new ones are served. */
  cut(): void;
  stop(): Promise<void>;
}

/** Stands between a client and a real server and can misbehave like a network. */
export async function createFlakyProxy(target: { host: string; port: number }): Promise<FlakyProxy> {
  const pairs = new Set<{ client: net.Socket; server: net.Socket; isSilent: boolean }>();
  let isSilent = false;
  let listener = await listen(0);
  const { port } = listener.address() as net.AddressInfo;

  function listen(onPort: number): Promise<net.Server> {
    return new Promise((resolve, reject) => {
      const created = net.createServer(connect);
      created.once('error', reject);
      created.listen(onPort, '127.0.0.1', () => resolve(created));
    });
  }

  function connect(client: net.Socket): void {
    const server = net.connect(target);
    const pair = { client, server, isSilent };
    pairs.add(pair);
    const relay = (from: net.Socket, to: net.Socket) => {
      from.on('data', (data) => {
        if (!pair.isSilent) to.write(data);
      });
      from.on('error', () => {});
      from.on('close', () => {
        pairs.delete(pair);
        to.destroy();
      });
    };
    relay(client, server);
    relay(server, client);
  }

  function cut(): void {
    for (const { client, server } of pairs) {
      client.destroy();
      server.destroy();
    }
    pairs.clear();
  }

  const close = () =>
    new Promise<void>((resolve) => {
      listener.close(() => resolve());
      cut();
    });

  return {
    port,
    pass() {
      isSilent = false;
    },
    goSilent() {
      isSilent = true;
      for (const pair of pairs) pair.isSilent = true;
    },
    refuse: close,
    async accept() {
      listener = await listen(port);
    },
    cut,
    stop: close,
  };
}
