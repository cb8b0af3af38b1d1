const maxLength = 200;

/** A name as the key of a flag: letters without accents, digits and hyphens. Empty where nothing of it is left. */
export function slug(name: string): string {
  return name
    .normalize('NFKD')
    .replace(/[^\p{ASCII}]/gu, '')
    .toLowerCase()
    .replace(/[^a-z0-9_\s-]/g, '')
    .trim()
    .replace(/[-\s]+/g, '-')
    .slice(0, maxLength)
    .replace(/^[-_]+|[-_]+$/g, '');
}
