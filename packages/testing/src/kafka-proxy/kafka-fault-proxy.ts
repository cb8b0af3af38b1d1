import { createFaultProxy, type FaultProxy } from '../fault-proxy.ts';
import { type KafkaAddressProxy, startKafkaAddressProxy } from './kafka-address-proxy.ts';
import type { Address } from './kafka-addresses.ts';

/** A fault proxy in front of a whole cluster: every broker a client learns of is reached through a proxy of ours. */
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
