/**
 * Rewrites the broker addresses in Kafka's responses. A client connects to the addresses that the cluster advertises,
 * so it would bypass a simple proxy after the first response. Metadata and FindCoordinator responses contain addresses.
 * The supported versions are those that the clients use: kafkajs uses versions before the compact encoding, and
 * packages/event-log uses version 10 of Metadata.
 */
export interface Address {
  host: string;
  port: number;
}

const apiKeys = { metadata: 3, findCoordinator: 10 } as const;
/** The first Metadata version with the compact encoding. */
const compactMetadata = 9;
const lastReadableVersion = { [apiKeys.metadata]: 12, [apiKeys.findCoordinator]: 2 } as Record<number, number>;

/**
 * Rewrites the addresses in a response. Returns responses without addresses unchanged.
 * @param body the response after its correlation ID
 */
export async function rewriteAddresses(
  apiKey: number,
  version: number,
  body: Buffer,
  replace: (address: Address) => Promise<Address>,
): Promise<Buffer> {
  const lastVersion = lastReadableVersion[apiKey];
  if (lastVersion === undefined) return body;
  if (version > lastVersion) throw new Error(`Kafka api ${apiKey} version ${version} cannot be rewritten.`);
  if (apiKey !== apiKeys.metadata) return rewriteCoordinator(version, body, replace);
  return version >= compactMetadata ? rewriteCompactMetadata(body, replace) : rewriteMetadata(version, body, replace);
}

async function rewriteCompactMetadata(body: Buffer, replace: (address: Address) => Promise<Address>) {
  // The header's tags and throttle_time_ms, followed by [node_id, host, port, rack, tags].
  const brokers = readVarint(body, 5);
  const parts = [body.subarray(0, brokers.end)];
  let at = brokers.end;
  for (let left = brokers.value - 1; left > 0; left -= 1) {
    const hostLength = readVarint(body, at + 4);
    const portAt = hostLength.end + hostLength.value - 1;
    const known = { host: body.toString('utf8', hostLength.end, portAt), port: body.readInt32BE(portAt) };
    const { host, port } = await replace(known);
    const rack = readVarint(body, portAt + 4);
    const tags = readVarint(body, rack.end + Math.max(0, rack.value - 1));
    if (body[0] !== 0 || tags.value !== 0 || host.length > 126) throw new Error('Metadata cannot be rewritten.');
    const address = Buffer.alloc(1 + host.length + 4);
    address.writeUInt8(host.length + 1, 0);
    address.write(host, 1);
    address.writeInt32BE(port, 1 + host.length);
    parts.push(body.subarray(at, at + 4), address, body.subarray(portAt + 4, tags.end));
    at = tags.end;
  }
  return Buffer.concat([...parts, body.subarray(at)]);
}

function readVarint(body: Buffer, at: number): { value: number; end: number } {
  let [value, end] = [0, at];
  for (let shift = 0; ; shift += 7) {
    const byte = body.readUInt8(end++);
    value += (byte & 0x7f) * 2 ** shift;
    if (byte < 0x80) return { value, end };
  }
}

async function rewriteMetadata(version: number, body: Buffer, replace: (address: Address) => Promise<Address>) {
  // throttle_time_ms (from version 3), followed by [node_id, host, port, rack (from version 1)].
  let at = version >= 3 ? 4 : 0;
  const count = body.readInt32BE(at);
  at += 4;
  const parts = [body.subarray(0, at)];
  for (let index = 0; index < count; index++) {
    const { bytes, end } = await rewriteNode(body, at, replace);
    const rackLength = version >= 1 ? 2 + Math.max(0, body.readInt16BE(end)) : 0;
    parts.push(bytes, body.subarray(end, end + rackLength));
    at = end + rackLength;
  }
  return Buffer.concat([...parts, body.subarray(at)]);
}

async function rewriteCoordinator(version: number, body: Buffer, replace: (address: Address) => Promise<Address>) {
  // throttle_time_ms (from version 1), error_code and error_message (from version 1), followed by node_id, host and
  // port.
  let at = version >= 1 ? 6 : 2;
  if (version >= 1) at += 2 + Math.max(0, body.readInt16BE(at));
  // An error response does not contain a node.
  if (body.readInt32BE(at) < 0) return body;
  const { bytes, end } = await rewriteNode(body, at, replace);
  return Buffer.concat([body.subarray(0, at), bytes, body.subarray(end)]);
}

/** Rewrites a node: int32 id, string host and int32 port. */
async function rewriteNode(body: Buffer, at: number, replace: (address: Address) => Promise<Address>) {
  const hostLength = body.readInt16BE(at + 4);
  const hostAt = at + 6;
  const portAt = hostAt + hostLength;
  const { host, port } = await replace({
    host: body.toString('utf8', hostAt, portAt),
    port: body.readInt32BE(portAt),
  });
  const bytes = Buffer.alloc(6 + Buffer.byteLength(host) + 4);
  body.copy(bytes, 0, at, at + 4);
  bytes.writeInt16BE(Buffer.byteLength(host), 4);
  bytes.write(host, 6);
  bytes.writeInt32BE(port, bytes.length - 4);
  return { bytes, end: portAt + 4 };
}
