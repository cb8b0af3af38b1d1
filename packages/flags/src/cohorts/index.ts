export {
  type Audience,
  cohortAudience,
  cohortsOfPerson,
  createPageLimit,
  filtersAudience,
  flagAudience,
  matchPersons,
} from './audience.ts';
export { countMembers } from './count-members.ts';
export { addMembers, type MembersToAdd } from './members.ts';
export { countCohortMembers, type StaticCohort } from './store.ts';
