import { connect } from 'node:net';

/** The release whose software supports this `metadata.version` at most; a newer broker says the number only. */
const releaseOfLevel: Record<number, string> = { 21: '3.9', 25: '4.0', 27: '4.1' };

/**
 * Which Kafka a broker is, as a line for the report. No client library tells, but its answer to ApiVersions (version 3)
 * names the range of `metadata.version` it supports, and that grows with each release.
 */
export async function brokerVersion(broker: string): Promise<string> {
  const answer = await askApiVersions(broker).catch(() => Buffer.alloc(0));
  const name = Buffer.from('metadata.version');
  const at = answer.indexOf(name);
  // Supported feature: name, lowest level, highest level (two bytes each).
  if (at < 0 || at + name.length + 4 > answer.length) return 'of unknown version';
  const level = answer.readInt16BE(at + name.length + 2);
  return releaseOfLevel[level] ?? `with metadata.version up to ${level}`;
}

function askApiVersions(broker: string): Promise<Buffer> {
  const [host = '', port] = broker.split(':');
  // Header 2: api key 18, version 3, correlation id 1, client id "b", no tags; body: software name "b", version "1", no tags.
  const request = Buffer.from([0, 0, 0, 17, 0, 18, 0, 3, 0, 0, 0, 1, 0, 1, 98, 0, 2, 98, 2, 49, 0]);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), host);
    socket.setTimeout(2000, () => socket.destroy(new Error('no answer')));
    socket.once('error', reject);
    socket.once('data', (answer) => {
      socket.destroy();
      resolve(answer);
    });
    socket.write(request);
  });
}
