/** Domains anybody can have an address at: they say nothing about who works for whom. */
const genericDomains = new Set([
  'aol.com',
  'fastmail.com',
  'gmail.com',
  'gmx.com',
  'gmx.de',
  'gmx.net',
  'googlemail.com',
  'hey.com',
  'hotmail.com',
  'icloud.com',
  'live.com',
  'localhost',
  'mail.com',
  'mail.ru',
  'me.com',
  'msn.com',
  'outlook.com',
  'pm.me',
  'proton.me',
  'protonmail.com',
  'qq.com',
  'web.de',
  'yahoo.com',
  'yandex.ru',
]);

/**
 * The filters of a new environment that leave internal traffic out: members of the organization by their e-mail domain,
 * and development machines (docs/api-rules.md#projects).
 *
 * @param memberDomains domains of the members' addresses in the order of joining.
 */
export function defaultAccountFilters(memberDomains: readonly string[]): object[] {
  const domain = memberDomains.find((candidate) => candidate !== '' && !genericDomains.has(candidate));
  return [
    ...(domain === undefined ? [] : [{ key: 'email', operator: 'not_icontains', value: `@${domain}`, type: 'person' }]),
    { key: '$host', operator: 'not_regex', value: '^(localhost|127\\.0\\.0\\.1)($|:)', type: 'event' },
  ];
}
