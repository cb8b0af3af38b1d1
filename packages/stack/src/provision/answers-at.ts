import { connect } from 'node:net';

const standardPorts: Record<string, number> = {
  'postgresql:': 5432,
  'postgres:': 5432,
  'redis:': 6379,
  'rediss:': 6379,
};

/** True when something listens at an address as it stands in DATABASE_URL, REDIS_URL or KAFKA_BROKERS (its first one). */
export async function answersAt(address: string): Promise<boolean> {
  const target = parse(address);
  if (!target) return false;
  return new Promise((resolve) => {
    const socket = connect(target);
    const finish = (answer: boolean) => {
      socket.destroy();
      resolve(answer);
    };
    socket.setTimeout(3000, () => finish(false));
    socket.once('connect', () => finish(true));
    socket.once('error', () => finish(false));
  });
}

function parse(address: string): { host: string; port: number } | null {
  const first = address.includes('://') ? address : `kafka://${address.split(',', 1)[0]}`;
  try {
    const { protocol, hostname, port } = new URL(first);
    const number = Number(port) || standardPorts[protocol];
    return hostname && number ? { host: hostname.replace(/^\[|\]$/g, ''), port: number } : null;
  } catch {
    return null;
  }
}
