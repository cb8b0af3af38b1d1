/** Reads what a client of PostgreSQL sends on one unencrypted connection, as far as counting statements needs it. */
export interface StatementReader {
  /** Feeds sent bytes; calls back for each statement that is executed. */
  push(chunk: Buffer): void;
}

const simpleQuery = 'Q'.charCodeAt(0);
const execute = 'E'.charCodeAt(0);
const lengthBytes = 4;

export function createStatementReader(onStatement: () => void): StatementReader {
  let pending: Buffer = Buffer.alloc(0);
  // The first message of a connection has no type byte.
  let typeBytes = 0;
  return {
    push(chunk) {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      while (pending.length >= typeBytes + lengthBytes) {
        const end = typeBytes + pending.readUInt32BE(typeBytes);
        if (pending.length < end) return;
        if (typeBytes === 1 && (pending[0] === simpleQuery || pending[0] === execute)) onStatement();
        typeBytes = 1;
        pending = pending.subarray(end);
      }
    },
  };
}
