import { createHash, createSign, generateKeyPairSync, randomBytes } from 'node:crypto';

/**
 * A passkey in software. It creates the objects that a page would get from `navigator.credentials`, including invalid
 * ones that no browser would create.
 */
export interface SoftwarePasskey {
  register(options: { challenge: string; rp: { id?: string } }, odd?: Odd): Record<string, unknown>;
  /**
   * Creates the response to a challenge.
   * @param userHandle the user's ID in the registration options, as base64url
   */
  respond(
    options: { challenge: string; rpId?: string },
    odd?: Odd & { userHandle?: string | null },
  ): Record<string, unknown>;
}

interface Odd {
  origin?: string;
  rpId?: string;
  /** Whether the authenticator verified the user. The default is true. */
  isVerified?: boolean;
  counter?: number;
  /**
   * Whether the browser reports that the page is inside a frame of another site. `topOrigin` is the origin of that
   * site.
   */
  crossOrigin?: boolean;
  topOrigin?: string;
}

export function softwarePasskey(origin: string): SoftwarePasskey {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const { x = '', y = '' } = publicKey.export({ format: 'jwk' });
  const id = randomBytes(16);
  const common = {
    id: id.toString('base64url'),
    rawId: id.toString('base64url'),
    type: 'public-key',
    clientExtensionResults: {},
  };
  const clientData = (type: string, challenge: string, { crossOrigin = false, topOrigin, ...odd }: Odd) =>
    Buffer.from(JSON.stringify({ type, challenge, origin: odd.origin ?? origin, crossOrigin, topOrigin }));
  const authenticatorData = (rpId: string, { isVerified = true, counter = 0 }: Odd, attested = Buffer.alloc(0)) => {
    const flags = 1 | (isVerified ? 4 : 0) | (attested.length > 0 ? 64 : 0);
    const counted = Buffer.alloc(4);
    counted.writeUInt32BE(counter);
    return Buffer.concat([createHash('sha256').update(rpId).digest(), Buffer.from([flags]), counted, attested]);
  };
  return {
    register({ challenge, rp }, odd = {}) {
      const key = cborMap([
        [1, 2],
        [3, -7],
        [-1, 1],
        [-2, Buffer.from(x, 'base64url')],
        [-3, Buffer.from(y, 'base64url')],
      ]);
      const length = Buffer.from([0, id.length]);
      const authData = authenticatorData(
        odd.rpId ?? rp.id ?? '',
        odd,
        Buffer.concat([Buffer.alloc(16), length, id, key]),
      );
      const attestation = cborMap([
        ['fmt', 'none'],
        ['attStmt', new Map()],
        ['authData', authData],
      ]);
      return {
        ...common,
        authenticatorAttachment: 'platform',
        response: {
          clientDataJSON: clientData('webauthn.create', challenge, odd).toString('base64url'),
          attestationObject: attestation.toString('base64url'),
          transports: ['internal'],
        },
      };
    },
    respond({ challenge, rpId = '' }, { userHandle = null, ...odd } = {}) {
      const data = authenticatorData(odd.rpId ?? rpId, odd);
      const client = clientData('webauthn.get', challenge, odd);
      const signed = Buffer.concat([data, createHash('sha256').update(client).digest()]);
      return {
        ...common,
        response: {
          clientDataJSON: client.toString('base64url'),
          authenticatorData: data.toString('base64url'),
          signature: createSign('sha256').update(signed).sign(privateKey).toString('base64url'),
          ...(userHandle !== null && { userHandle }),
        },
      };
    },
  };
}

type Cbor = number | string | Buffer | Map<unknown, unknown>;

function cborMap(entries: [Cbor, Cbor][]): Buffer {
  return Buffer.concat([head(5, entries.length), ...entries.flat().map(cbor)]);
}

function cbor(value: Cbor): Buffer {
  if (typeof value === 'number') return value >= 0 ? head(0, value) : head(1, -1 - value);
  if (typeof value === 'string') return Buffer.concat([head(3, value.length), Buffer.from(value)]);
  return Buffer.isBuffer(value) ? Buffer.concat([head(2, value.length), value]) : head(5, 0);
}

function head(major: number, size: number): Buffer {
  return size < 24 ? Buffer.from([(major << 5) | size]) : Buffer.from([(major << 5) | 24, size]);
}
