// The settings sections: their positions in the menu, their URLs and their code.

import type { ComponentType } from 'react';
import { words } from '../../words.ts';

/**
 * A settings section. It is in the settings menu and has the URL `/projects/<id>/settings/<path>`. Its code is loaded
 * when a user first opens the section.
 */
interface SectionEntry {
  path: string;
  title: string;
  /** Sections in the same group are adjacent, below the group's name. */
  group: 'own' | 'project' | 'organization';
  load: () => Promise<{ Section: ComponentType }>;
}

const { sections: titles } = words;

/** All sections in menu order. Each section is a folder, whose `section.tsx` exports `Section`. */
export const sections: readonly SectionEntry[] = [
  {
    path: 'account',
    title: titles.account,
    group: 'own',
    load: () => import('./account/section.tsx'),
  },
  {
    path: 'keys',
    title: titles.keys,
    group: 'own',
    load: () => import('./keys/section.tsx'),
  },
  {
    path: 'project',
    title: titles.project,
    group: 'project',
    load: () => import('./project/section.tsx'),
  },
  {
    path: 'data',
    title: titles.data,
    group: 'project',
    load: () => import('./data/section.tsx'),
  },
  {
    path: 'access',
    title: titles.access,
    group: 'project',
    load: () => import('./access/section.tsx'),
  },
  {
    path: 'exports',
    title: titles.exports,
    group: 'project',
    load: () => import('./exports/section.tsx'),
  },
  {
    path: 'subscriptions',
    title: titles.subscriptions,
    group: 'project',
    load: () => import('./subscriptions/section.tsx'),
  },
  {
    path: 'organization',
    title: titles.organization,
    group: 'organization',
    load: () => import('./organization/section.tsx'),
  },
  {
    path: 'members',
    title: titles.members,
    group: 'organization',
    load: () => import('./members/section.tsx'),
  },
  {
    path: 'domains',
    title: titles.domains,
    group: 'organization',
    load: () => import('./domains/section.tsx'),
  },
];
