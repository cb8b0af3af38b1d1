import { createSign, generateKeyPairSync, type KeyObject } from 'node:crypto';

/** Encodes one DER element. */
function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const head = length < 128 ? [length] : length < 256 ? [0x81, length] : [0x82, length >> 8, length & 255];
  return Buffer.concat([Buffer.from([tag, ...head]), content]);
}

const sequence = (...contents: Buffer[]) => der(0x30, ...contents);
const oids = {
  commonName: '550403',
  rsa: '2a864886f70d01010b',
  ec: '2a8648ce3d040302',
};
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const name = (text: string) => sequence(der(0x31, sequence(oid(oids.commonName), der(0x0c, Buffer.from(text)))));
const time = (at: Date) => der(0x18, Buffer.from(`${at.toISOString().replaceAll(/[-:T]|\.\d+/g, '')}`));

export interface TestKey {
  privateKey: KeyObject;
  certificate: string;
}

export function createTestKey({
  type = 'rsa',
  bits = 2048,
  expiresAt = new Date(Date.now() + 365 * 24 * 3600 * 1000),
}: {
  type?: 'rsa' | 'ec';
  bits?: number;
  expiresAt?: Date;
} = {}): TestKey {
  const { privateKey, publicKey } =
    type === 'rsa'
      ? generateKeyPairSync('rsa', { modulusLength: bits })
      : generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const algorithm = type === 'rsa' ? sequence(oid(oids.rsa), der(0x05)) : sequence(oid(oids.ec));
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.from([1])),
    algorithm,
    name('Test provider'),
    sequence(time(new Date(Date.now() - 24 * 3600 * 1000)), time(expiresAt)),
    name('Test provider'),
    publicKey.export({ format: 'der', type: 'spki' }),
  );
  const signature = createSign('sha256').update(signed).sign(privateKey);
  const whole = sequence(signed, algorithm, der(0x03, Buffer.from([0]), signature));
  const lines = whole.toString('base64').replaceAll(/(.{64})/g, '$1\n');
  return { privateKey, certificate: `-----BEGIN CERTIFICATE-----\n${lines}\n-----END CERTIFICATE-----\n` };
}
