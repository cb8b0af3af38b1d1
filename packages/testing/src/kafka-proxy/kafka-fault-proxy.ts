import { createFaultProxy, type FaultProxy } from '../fault-proxy.ts';
import { type KafkaAddressProxy, startKafkaAddressProxy } from './kafka-address-proxy.ts';
import type { Address } from './kafka-addresses.ts';

/** A fault proxy in front of a whole cluster: every broker a client learns of is reached through a door of ours. */
export interface KafkaFaultProxy extends Pick<FaultProxy, 'stop'> {
  brokers: string[];
  cut(): Promise<void>;
  refuse(): Promise<void>;
  blackHole(): Promise<void>;
  pass(): Promise<void>;
}

interface Door {
  faults: FaultProxy;
  addresses: KafkaAddressProxy;
}

export async function startKafkaFaultProxy(brokers: readonly string[]): Promise<KafkaFaultProxy> {
  const doors = new Map<string, Promise<Door>>();

  async function openDoor(broker: Address): Promise<Door> {
    const addresses = await startKafkaAddressProxy(broker, async (address) => (await doorTo(address)).faults);
    return { addresses, faults: await createFaultProxy({ targetPort: addresses.port }) };
  }
  function doorTo(broker: Address): Promise<Door> {
    const name = `${broker.host}:${broker.port}`;
    const door = doors.get(name) ?? openDoor(broker);
    doors.set(name, door);
    return door;
  }
  async function onAll(act: (door: Door) => Promise<void> | void): Promise<void> {
    await Promise.all((await Promise.all(doors.values())).map(act));
  }

  const first = await Promise.all(
    brokers.map((broker) => {
      const [host = '', port] = broker.split(':');
      return doorTo({ host, port: Number(port) });
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
