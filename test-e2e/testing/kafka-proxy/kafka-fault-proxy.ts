// Simulates network failures of a Kafka cluster. Every broker is behind a proxy, and clients receive only the proxies'
// addresses.
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { createFaultProxy, type FaultProxy } from '../fault-proxy.ts';
import { type Address, rewriteAddresses } from './kafka-addresses.ts';

export interface KafkaFaultProxy extends Pick<FaultProxy, 'stop'> {
  brokers: string[];
  cut(): Promise<void>;
  refuse(): Promise<void>;
  blackHole(): Promise<void>;
  pass(): Promise<void>;
}

interface Proxy {
  faults: FaultProxy;
  addresses: KafkaAddressProxy;
}

export async function startKafkaFaultProxy(brokers: readonly string[]): Promise<KafkaFaultProxy> {
  const proxies = new Map<string, Promise<Proxy>>();

  async function openProxy(broker: Address): Promise<Proxy> {
    const addresses = await startKafkaAddressProxy(broker, async (address) => (await proxyTo(address)).faults);
    return { addresses, faults: await createFaultProxy({ targetPort: addresses.port }) };
  }
  function proxyTo(broker: Address): Promise<Proxy> {
    const name = `${broker.host}:${broker.port}`;
    const proxy = proxies.get(name) ?? openProxy(broker);
    proxies.set(name, proxy);
    return proxy;
  }
  async function onAll(act: (proxy: Proxy) => Promise<void> | void): Promise<void> {
    await Promise.all((await Promise.all(proxies.values())).map(act));
  }

  const first = await Promise.all(
    brokers.map((broker) => {
      const [host = '', port] = broker.split(':');
      return proxyTo({ host, port: Number(port) });
    }),
  );
  return {
    brokers: first.map(({ faults }) => `${faults.host}:${faults.port}`),
    cut: () => onAll(({ faults }) => faults.cut()),
    refuse: () => onAll(({ faults }) => faults.refuse()),
    blackHole: () => onAll(({ faults }) => faults.blackHole()),
    pass: () => onAll(({ faults }) => faults.pass()),
    stop: () =>
      onAll(async ({ faults, addresses }) => {
        await faults.stop();
        await addresses.stop();
      }),
  };
}

/** A proxy in front of one broker. It forwards all data unchanged, except for the broker addresses in responses. */
interface KafkaAddressProxy {
  port: number;
  stop(): Promise<void>;
}

/** @param replace a function that returns the address to send to clients instead of a broker's address */
async function startKafkaAddressProxy(
  broker: Address,
  replace: (address: Address) => Promise<Address>,
): Promise<KafkaAddressProxy> {
  const sockets = new Set<Socket>();
  const listener = createServer((client) => {
    const server = connect({ ...broker, noDelay: true });
    client.setNoDelay(true);
    for (const [one, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.on('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    const requests = new Map<number, Request>();
    const readRequests = frameReader();
    client.on('data', (chunk) => {
      for (const frame of readRequests(chunk)) noteRequest(frame, requests);
      server.write(chunk);
    });
    const readResponses = frameReader();
    let written: Promise<void> = Promise.resolve();
    server.on('data', (chunk) => {
      written = written.then(async () => {
        for (const frame of readResponses(chunk)) client.write(await rewriteResponse(frame, requests, replace));
      });
      written.catch((error: Error) => client.destroy(error));
    });
  });
  await new Promise<void>((resolve, reject) => {
    listener.once('error', reject);
    listener.listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (listener.address() as AddressInfo).port,
    async stop() {
      const closed = new Promise<void>((resolve) => listener.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

interface Request {
  apiKey: number;
  version: number;
}

/** Records a request, which starts with its API key, version and correlation ID. */
function noteRequest(frame: Buffer, requests: Map<number, Request>): void {
  requests.set(frame.readInt32BE(4), { apiKey: frame.readInt16BE(0), version: frame.readInt16BE(2) });
}

/** Rewrites a response, which starts with its request's correlation ID. */
async function rewriteResponse(
  frame: Buffer,
  requests: Map<number, Request>,
  replace: (address: Address) => Promise<Address>,
): Promise<Buffer> {
  const correlationId = frame.readInt32BE(0);
  const request = requests.get(correlationId);
  requests.delete(correlationId);
  const body = frame.subarray(4);
  const rewritten = request ? await rewriteAddresses(request.apiKey, request.version, body, replace) : body;
  const head = Buffer.alloc(8);
  head.writeInt32BE(rewritten.length + 4, 0);
  head.writeInt32BE(correlationId, 4);
  return Buffer.concat([head, rewritten]);
}

/**
 * Returns a function that splits a stream into complete frames. A frame consists of a length and that number of bytes.
 */
function frameReader(): (chunk: Buffer) => Buffer[] {
  let pending: Buffer = Buffer.alloc(0);
  return (chunk) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
    const frames: Buffer[] = [];
    while (pending.length >= 4 && pending.length >= 4 + pending.readInt32BE(0)) {
      const end = 4 + pending.readInt32BE(0);
      frames.push(pending.subarray(4, end));
      pending = pending.subarray(end);
    }
    return frames;
  };
}
