import { text as ofRecords } from '../../../access/words.ts';
import { words } from '../../../words.ts';

export const text = {
  title: 'Access to this project',
  about: 'Who of the organization may use it. Administrators and owners may always.',
  onlyAdministrators: 'Only administrators of the project change this.',
  noPlan:
    'The plan of this organization has no rules for single projects: every member may use this one. What is chosen here is stored, and counts once the plan has them.',
  everybody: 'Every member',
  rules: {
    '': {
      name: 'No rule',
      about: 'Everybody works here with the own level. Of the single rules below only “no access” counts.',
    },
    member: {
      name: 'Open',
      about: 'Everybody works here with the own level, or with a higher one that is given below.',
    },
    admin: { name: 'Everybody administrates', about: 'Every member is an administrator of this project.' },
    none: { name: 'Private', about: 'Only whoever is given access below, and administrators and owners.' },
  },
  change: 'Change',
  changeTitle: (name: string) => `Change access to “${name}”?`,
  changeText: (name: string) => `${name}. It holds from the next request of each member on.`,
  single: 'Single members',
  singleAbout: 'What differs for one person.',
  columns: { member: 'Member', rule: 'Rule', here: 'May here' },
  choices: { '': 'as every member', none: 'no access', member: 'member', admin: 'administrator' },
  ruleOf: (name: string) => `Rule for ${name}`,
  always: 'always, by the level in the organization',
  noAccess: 'no access',
  levels: words.level,
  besidesRoles: 'or what roles give',
  forRoles: 'Roles',
  forRolesAbout: 'What differs for all who have a role. Of everything that somebody is given the highest counts.',
  noRoles: 'No role yet. They are made under Members.',
  columnsOfRoles: { role: 'Role', rule: 'Rule' },
  records: {
    title: 'Kinds of records',
    about:
      'What members may do with all insights, dashboards and the like. Administrators may do everything, and who made a record keeps it. Rules for one insight, dashboard, flag or cohort are set where it is shown.',
    whom: 'For',
    role: (name: string) => `Role: ${name}`,
    columns: { kind: 'Kind', level: 'May' },
    levelOf: (kind: string) => `What is allowed with ${kind}`,
    kinds: {
      insight: 'Insights',
      dashboard: 'Dashboards',
      feature_flag: 'Feature flags',
      early_access_feature: 'Early access features',
      cohort: 'Cohorts',
    },
    usual: 'no rule: see and change',
    feature: 'One early access feature',
    chooseFeature: 'Choose …',
    levels: ofRecords.levels,
  },
  alone: 'There is nobody for a rule',
  aloneText: 'All who belong to the organization administrate it, and have access to every project.',
};
