/** Interface text of public pages. */
export const text = {
  page: 'Shared page',
  untitled: 'Untitled',
  tiles: 'Tiles',
  textTile: 'Text',
  updated: (ago: string) => `Updated ${ago}`,
  failed: 'This insight could not be loaded.',
  hidden: 'This insight is not shared publicly.',
  noNumbers: 'No numbers yet.',
  goneTitle: 'This link does not work',
  gone: 'It was turned off or replaced. Ask the person who sent it to you for a new link.',
  failedTitle: 'This page could not be loaded',
};
