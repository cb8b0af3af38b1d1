import type { KafkaConnection } from '@millrace/event-log';
import { placeOf, type TlsServer } from '../certificates/tls-server.ts';

type Place = Pick<TlsServer, 'host' | 'port'>;

/** Brokers by TLS, each once; none without TLS. @param told the brokers as they name themselves. */
export function brokersWithTls({ brokers, ssl }: KafkaConnection, told: readonly Place[]): TlsServer[] {
  if (ssl === undefined || typeof ssl === 'boolean') return [];
  const all = new Map([...brokers.map(readPlace), ...told].map((place) => [placeOf(place), place]));
  return [...all.values()].map((place) => ({
    ...{ ...place, begins: 'at once', secureContext: ssl.secureContext, isVerified: true },
    authoritySetting: 'KAFKA_SSL_CA_FILE',
  }));
}

/** `host:port`, as the settings have been checked. */
function readPlace(broker: string): Place {
  const colon = broker.lastIndexOf(':');
  return { host: broker.slice(0, colon).replace(/[[\]]/g, ''), port: Number(broker.slice(colon + 1)) };
}
