/**
 * Rewrites the broker addresses in Kafka's answers. A client connects to whatever address the cluster advertises, so a
 * proxy that only forwards would be left after the first answer. Two answers carry addresses: Metadata and
 * FindCoordinator; both are read in their versions before the compact encoding, which is what kafkajs speaks.
 */
export interface Address {
  host: string;
  port: number;
}

const apiKeys = { metadata: 3, findCoordinator: 10 } as const;
const lastReadableVersion = { [apiKeys.metadata]: 8, [apiKeys.findCoordinator]: 2 } as Record<number, number>;

/** @param body the answer after its correlation id. Answers without addresses come back as they are. */
export async function rewriteAddresses(
  apiKey: number,
  version: number,
  body: Buffer,
  replace: (address: Address) => Promise<Address>,
): Promise<Buffer> {
  const lastVersion = lastReadableVersion[apiKey];
  if (lastVersion === undefined) return body;
  if (version > lastVersion) throw new Error(`Kafka api ${apiKey} version ${version} cannot be rewritten.`);
  return apiKey === apiKeys.metadata
    ? rewriteMetadata(version, body, replace)
    : rewriteCoordinator(version, body, replace);
}

async function rewriteMetadata(version: number, body: Buffer, replace: (address: Address) => Promise<Address>) {
  // throttle_time_ms (3+), then [node_id, host, port, rack (1+)].
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
  // throttle_time_ms (1+), error_code, error_message (1+), then node_id, host, port.
  let at = version >= 1 ? 6 : 2;
  if (version >= 1) at += 2 + Math.max(0, body.readInt16BE(at));
  // A refusal names no node.
  if (body.readInt32BE(at) < 0) return body;
  const { bytes, end } = await rewriteNode(body, at, replace);
  return Buffer.concat([body.subarray(0, at), bytes, body.subarray(end)]);
}

/** One node: int32 id, string host, int32 port. */
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
