import { createSocket } from 'node:dgram';

export interface DnsServer {
  /** The server's address in the resolver format: `127.0.0.1:port`. */
  address: string;
  /**
   * Sets a name's TXT records. Each record consists of strings of at most 255 bytes. Names that were never set get
   * NXDOMAIN.
   */
  setTxt(name: string, records: string[][]): void;
  /** Sets the response to all following queries: SERVFAIL, no response (`silence`), or normal responses (null). */
  fail(how: 'SERVFAIL' | 'silence' | null): void;
  questions: string[];
  stop(): Promise<void>;
}

const responseCodes = { NOERROR: 0, SERVFAIL: 2, NXDOMAIN: 3 };

/** Starts a real DNS server for TXT records, over UDP on a free loopback port. */
export async function startDnsServer(): Promise<DnsServer> {
  const records = new Map<string, string[][]>();
  const questions: string[] = [];
  let failure: 'SERVFAIL' | 'silence' | null = null;
  const socket = createSocket('udp4');
  socket.on('message', (query, { port, address }) => {
    const name = readName(query).toLowerCase();
    questions.push(name);
    if (failure === 'silence') return;
    const found = records.get(name);
    const code = failure ?? (found ? 'NOERROR' : 'NXDOMAIN');
    socket.send(encodeAnswer(query, responseCodes[code], code === 'NOERROR' ? (found ?? []) : []), port, address);
  });
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve));
  return {
    address: `127.0.0.1:${socket.address().port}`,
    setTxt: (name, values) => void records.set(name.toLowerCase(), values),
    fail: (how) => {
      failure = how;
    },
    questions,
    stop: () => new Promise((resolve) => socket.close(() => resolve())),
  };
}

/** A DNS message has a header of twelve bytes, followed by the labels of the question. A length precedes each label. */
const headerLength = 12;

function readName(message: Buffer): string {
  const labels: string[] = [];
  let at = headerLength;
  for (let length = message[at] ?? 0; length > 0; length = message[at] ?? 0) {
    labels.push(message.toString('latin1', at + 1, at + 1 + length));
    at += 1 + length;
  }
  return labels.join('.');
}

/** Encodes the query's question, followed by one TXT answer per record (RFC 1035, section 4). */
function encodeAnswer(query: Buffer, responseCode: number, records: string[][]): Buffer {
  const questionEnd = query.indexOf(0, headerLength) + 5;
  const header = Buffer.alloc(headerLength);
  query.copy(header, 0, 0, 2);
  // Flags: response, authoritative, recursion desired and available.
  header.writeUInt16BE(0x8580 | responseCode, 2);
  header.writeUInt16BE(1, 4);
  header.writeUInt16BE(records.length, 6);
  return Buffer.concat([header, query.subarray(headerLength, questionEnd), ...records.map(encodeRecord)]);
}

function encodeRecord(strings: string[]): Buffer {
  const data = Buffer.concat(
    strings.map((string) => {
      const bytes = Buffer.from(string, 'utf8');
      return Buffer.concat([Buffer.from([bytes.length]), bytes]);
    }),
  );
  const fixed = Buffer.alloc(12);
  // A pointer to the question's name, followed by type TXT, class IN, and a TTL of one minute.
  fixed.writeUInt16BE(0xc000 | headerLength, 0);
  fixed.writeUInt16BE(16, 2);
  fixed.writeUInt16BE(1, 4);
  fixed.writeUInt32BE(60, 6);
  fixed.writeUInt16BE(data.length, 10);
  return Buffer.concat([fixed, data]);
}
