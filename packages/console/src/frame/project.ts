import { createContext, useContext } from 'react';
import type { Project } from '../api/queries.ts';

export const ProjectContext = createContext<Project | null>(null);

/** The project whose page this is. */
export function useProject(): Project {
  const project = useContext(ProjectContext);
  if (project === null) throw new Error('This is no page of a project.');
  return project;
}

/** Whether the caller may do in this project what asks for a level: 1 member, 8 administrator, 15 owner. */
export const useHasLevel = (level: 1 | 8 | 15) => (useProject().effective_membership_level ?? 0) >= level;
