import { randomBytes } from 'node:crypto';

const maxLength = 48;
const letters = 'abcdefghijklmnopqrstuvwxyz';

/** How often another ending is tried before giving up. */
const attempts = 10;

/**
 * Names for an organization's addresses, to be tried one after the other until one is free: the name in lower-case
 * letters, digits and hyphens, then cut with four random letters (docs/api-rules.md#organizations).
 */
export function* slugCandidates(name: string): Generator<string> {
  const slug = slugify(name);
  if (slug !== '') yield slug;
  for (let attempt = 0; attempt < attempts; attempt += 1) {
    yield [slug.slice(0, maxLength - 5).replace(/-+$/, ''), randomLetters()].filter(Boolean).join('-');
  }
}

/** Accents are taken off; letters of other scripts are left out, as addresses could not show them. */
function slugify(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/\p{M}/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, '-')
    .slice(0, maxLength)
    .replace(/^-+|-+$/g, '');
}

function randomLetters(): string {
  return Array.from(randomBytes(4), (byte) => letters[byte % letters.length]).join('');
}
