import { randomBytes } from 'node:crypto';

const alphabet = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ';

/** Random bytes written in base 62 (digits, lower, upper), always as long as the largest value of that many bytes. */
export function randomBase62(byteCount: number): string {
  const length = Math.ceil((byteCount * 8) / Math.log2(alphabet.length));
  let rest = BigInt(`0x${randomBytes(byteCount).toString('hex')}`);
  let text = '';
  for (let position = 0; position < length; position += 1) {
    text = (alphabet[Number(rest % 62n)] ?? '') + text;
    rest /= 62n;
  }
  return text;
}
