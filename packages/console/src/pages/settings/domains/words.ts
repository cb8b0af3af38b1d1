import { counted } from '../../../words.ts';

export const text = {
  title: 'Domains',
  about: 'A domain that you have proved to be yours belongs to this organization and to no other.',
  later:
    'Signing in by SSO and joining by domain come with a later release: what is stored for them has no effect yet.',
  onlyAdministrators: 'Only administrators and owners add, prove and remove domains.',
  emptyTitle: 'No domain yet',
  empty: 'Add the domain of your addresses, such as example.com. A record in its DNS proves that it is yours.',
  columns: { domain: 'Domain', state: 'State', since: 'Proved', actions: 'Actions' },
  states: { proved: 'Proved', unproved: 'Not proved' },
  never: 'not yet',
  add: 'Add domain',
  name: 'Domain',
  nameHint: 'In lower case, such as example.com. It can be added elsewhere too until one has proved it.',
  prove: 'Prove',
  proveWhat: (domain: string) => `Prove ${domain}`,
  remove: 'Remove',
  removeWhat: (domain: string) => `Remove ${domain}`,
  removeTitle: (domain: string) => `Remove ${domain}?`,
  removeText: 'Its name is free for any organization then, and proving it again needs a new record.',

  steps: {
    title: (domain: string) => `Prove that ${domain} is yours`,
    first: (domain: string) => `Open the DNS settings of ${domain}, at whoever manages the domain for you.`,
    second: 'Add this record. It is in nobody’s way, as it has a name of its own.',
    third: 'Verify. A new record can take some minutes until name servers know it, in rare cases a day.',
    type: 'Type',
    recordName: 'Name',
    value: 'Value',
    verify: 'Verify now',
    verifying: 'Asking the DNS',
    close: 'Close',
    copyName: 'Copy the name',
    copyValue: 'Copy the value',
  },
  check: {
    title: 'What the DNS said',
    asked: 'Asked for',
    ofWhom: 'Of',
    came: 'Came back',
    at: 'At',
    txtOf: (name: string) => `TXT of ${name}`,
    systemServers: 'the name servers of the system',
    shown: 'The record is there. The domain is yours.',
    notShown: (found: number) =>
      found === 0
        ? 'There is no such record yet. Check the name: some DNS settings add the domain by themselves.'
        : `There ${found === 1 ? 'is' : 'are'} ${counted(found, 'record')} of this name, but none with this value.`,
    noAnswer:
      'No name server gave an answer. Try again in a minute; if it stays so, an operator looks at the DNS of this installation.',
    nothing: (error: string) => `nothing (${error})`,
  },
};
