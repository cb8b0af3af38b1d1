import { hash } from 'node:crypto';

/** The double next to the largest number of 15 hexadecimal digits. */
const scale = 2 ** 60;

/**
 * Where an id falls between 0 and 1, the same in every SDK: the first 15 hexadecimal digits of a SHA-1.
 * @param prefix the flag's key and a dot; `holdout-` for holdouts, which are the same for all flags
 * @param salt empty for rollouts, `variant` for variants, so that the two have nothing to do with each other
 */
export function bucketHash(prefix: string, id: string, salt = ''): number {
  return Number.parseInt(hash('sha1', `${prefix}${id}${salt}`, 'hex').slice(0, 15), 16) / scale;
}
