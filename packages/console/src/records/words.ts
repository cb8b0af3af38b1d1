import { formatCount } from '../words.ts';

/** Interface text for the lists of insights, dashboards and feature flags. */
export const text = {
  name: 'Name',
  description: 'Description',
  tags: 'Tags',
  bulk: 'Selected',
  chosen: (count: number) => `${formatCount(count, 'item')} selected`,
  tag: 'Add tag',
  tagTitle: (count: number) => `Add a tag to ${formatCount(count, 'item')}`,
  tagName: 'Tag',
  tagged: (count: number, tag: string) => `Added the tag ${tag} to ${formatCount(count, 'item')}.`,
  remove: 'Delete selected',
  deleted: (count: number) => `Deleted ${formatCount(count, 'item')}.`,
  clear: 'Clear selection',
  favorite: (name: string) => `Favorite: ${name}`,
  favoriteOn: 'Add to favorites',
  favoriteOff: 'Remove from favorites',
  favorites: 'Favorites',
};
