import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';

/**
 * A note of what a result was made from, so that making it again can be left out.
 *
 * @param {string} file where the note is kept; inside the result, so that it goes when the result goes
 * @param {string[]} sources files the result is made from
 * @param {string[]} facts anything else it depends on
 */
export function createStamp(file, sources, facts = []) {
  const current = () => {
    const hash = createHash('sha256').update(JSON.stringify(facts));
    for (const source of sources) hash.update(existsSync(source) ? readFileSync(source) : 'none');
    return hash.digest('hex');
  };
  return {
    isCurrent: () => existsSync(file) && readFileSync(file, 'utf8') === current(),
    write: () => writeFileSync(file, current()),
  };
}
