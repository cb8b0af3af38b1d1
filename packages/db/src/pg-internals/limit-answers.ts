import type { Duplex } from 'node:stream';
import type pg from 'pg';

/**
 * Reason: `pg` keeps a message in memory until it is whole, however long the server says it is.
 * Relies on: `connection.stream` of a client of `pg` 8.23, which its types do not know.
 * Witness: foreign-connection.test.ts.
 * May go: when `pg` limits what it keeps.
 */
interface Inside {
  connection: { stream: Duplex };
}

/**
 * Cuts the connection when an answer is longer.
 * @param client that is connected: with TLS the stream is another one before.
 */
export function limitAnswers(client: pg.Client, maxBytes: number): { begin(): void } {
  const { stream } = (client as unknown as Inside).connection;
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
    if (bytes <= maxBytes) return;
    stream.destroy(Object.assign(new Error('The answer is too long.'), { code: 'EANSWERTOOLONG' }));
  });
  return {
    /** To be called before each question. */
    begin() {
      bytes = 0;
    },
  };
}
