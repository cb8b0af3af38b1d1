import { counted } from '../words.ts';

/** Texts for the lists of insights, dashboards and feature flags. */
export const text = {
  name: 'Name',
  description: 'Description',
  tags: 'Tags',
  bulk: 'Selected',
  chosen: (count: number) => `${counted(count, 'item')} selected`,
  tag: 'Add tag',
  tagTitle: (count: number) => `Add a tag to ${counted(count, 'item')}`,
  tagName: 'Tag',
  tagged: (count: number, tag: string) => `Added the tag ${tag} to ${counted(count, 'item')}.`,
  remove: 'Delete selected',
  deleted: (count: number) => `Deleted ${counted(count, 'item')}.`,
  clear: 'Clear selection',
  favorite: (name: string) => `Favorite: ${name}`,
  favoriteOn: 'Add to favorites',
  favoriteOff: 'Remove from favorites',
  favorites: 'Favorites',
};
