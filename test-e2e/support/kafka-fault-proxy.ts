import { type ConnectionTap, type FaultProxy, startFaultProxy } from './fault-proxy.ts';
import { type Address, rewriteAddresses } from './kafka-addresses.ts';

/** A fault proxy in front of a whole cluster: every broker a client learns of is reached through a door of ours. */
export interface KafkaFaultProxy {
  brokers: string[];
  refuse(): Promise<void>;
  blackHole(): void;
  restore(): Promise<void>;
  stop(): Promise<void>;
}

export async function startKafkaFaultProxy(brokers: readonly string[]): Promise<KafkaFaultProxy> {
  const doors = new Map<string, Promise<FaultProxy>>();

  function doorTo({ host, port }: Address): Promise<FaultProxy> {
    const name = `${host}:${port}`;
    const door = doors.get(name) ?? startFaultProxy({ host, port }, () => kafkaTap(doorTo));
    doors.set(name, door);
    return door;
  }

  const first = await Promise.all(
    brokers.map((broker) => {
      const [host = '', port] = broker.split(':');
      return doorTo({ host, port: Number(port) });
    }),
  );
  const all = () => Promise.all(doors.values());
  return {
    brokers: first.map(({ host, port }) => `${host}:${port}`),
    refuse: async () => void (await Promise.all((await all()).map((door) => door.refuse()))),
    blackHole: () => {
      for (const door of doors.values()) void door.then((open) => open.blackHole());
    },
    restore: async () => void (await Promise.all((await all()).map((door) => door.restore()))),
    stop: async () => void (await Promise.all((await all()).map((door) => door.stop()))),
  };
}

/** Frames are a length and that many bytes; a request starts with api key, version and correlation id. */
function kafkaTap(replace: (address: Address) => Promise<Address>): ConnectionTap {
  const requests = new Map<number, { apiKey: number; version: number }>();
  const readRequests = frameReader();
  const readAnswers = frameReader();
  return {
    toServer(chunk) {
      for (const frame of readRequests(chunk)) {
        requests.set(frame.readInt32BE(4), { apiKey: frame.readInt16BE(0), version: frame.readInt16BE(2) });
      }
      return chunk;
    },
    async toClient(chunk) {
      const answers: Buffer[] = [];
      for (const frame of readAnswers(chunk)) {
        const correlationId = frame.readInt32BE(0);
        const request = requests.get(correlationId);
        requests.delete(correlationId);
        const body = frame.subarray(4);
        const rewritten = request ? await rewriteAddresses(request.apiKey, request.version, body, replace) : body;
        const head = Buffer.alloc(8);
        head.writeInt32BE(rewritten.length + 4, 0);
        head.writeInt32BE(correlationId, 4);
        answers.push(head, rewritten);
      }
      return Buffer.concat(answers);
    },
  };
}

/** Cuts a stream into the frames that are complete. */
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
