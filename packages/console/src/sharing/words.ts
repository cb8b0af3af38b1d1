/** Interface text of the dialog for public links. */
export const text = {
  open: 'Share',
  title: (name: string) => `Share ${name}`,
  what: 'Public link',
  about:
    'Anyone with the public link can see these numbers without signing in. They cannot see the persons behind the ' +
    'numbers, and they cannot change the query. Of an SQL insight, they see all columns of its result.',
  share: 'Share publicly',
  link: 'Public link',
  copyLink: 'Copy public link',
  embed: 'Embed code',
  embedHint: 'Paste this HTML into a page to show the numbers there.',
  copyEmbed: 'Copy embed code',
  header: 'Show title and description',
  refresh: 'Generate new link',
  refreshHint: 'The current link stops working immediately.',
};
