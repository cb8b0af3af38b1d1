import { text as ofRecords } from '../../../access/words.ts';
import { words } from '../../../words.ts';

export const text = {
  title: 'Access to this project',
  about:
    'These rules control which organization members can use this project. Administrators and owners always have access.',
  onlyAdministrators: 'Only project administrators can change these rules.',
  noPlan:
    'Your organization’s plan does not include access rules for projects, so every member can use this project. Your choices are saved and take effect once the plan includes them.',
  everyMember: 'Every member',
  rules: {
    '': {
      name: 'No rule',
      about:
        'Each member has the same level in this project as in the organization. Of the individual rules below, only “no access” has an effect.',
    },
    member: {
      name: 'Open',
      about:
        'Each member has the same level in this project as in the organization, or a higher level if a rule below grants one.',
    },
    admin: { name: 'Everyone is an administrator', about: 'Every member is an administrator of this project.' },
    none: {
      name: 'Private',
      about: 'Only administrators, owners, and members who are granted access by a rule below.',
    },
  },
  change: 'Change access',
  changeTitle: (name: string) => `Change access to “${name}”?`,
  changeText: (name: string) => `New rule: ${name}. It takes effect with each member’s next request.`,
  single: 'Individual members',
  singleAbout: 'Rules that apply to one member only.',
  columns: { member: 'Member', rule: 'Rule', here: 'Access here' },
  choices: { '': 'no rule', none: 'no access', member: 'member', admin: 'administrator' },
  ruleOf: (name: string) => `Rule for ${name}`,
  always: 'always has access because of their organization level',
  noAccess: 'no access',
  levels: words.level,
  besidesRoles: 'or the access from roles',
  forRoles: 'Roles',
  forRolesAbout: 'Rules for all members who have a role. If several rules apply to a member, the highest level wins.',
  noRoles: 'No roles yet. Create them under Members and invites.',
  columnsOfRoles: { role: 'Role', rule: 'Rule' },
  records: {
    title: 'Access to insights, dashboards and other records',
    about:
      'These rules define what members can do with all records of one type. Administrators have full access to all records, and users always have full access to the records that they created. To set rules for a single insight, dashboard, flag or cohort, open it and choose Access.',
    subject: 'For',
    role: (name: string) => `Role: ${name}`,
    columns: { kind: 'Records', level: 'Access' },
    levelOf: (kind: string) => `Access to ${kind}`,
    kinds: {
      insight: 'Insights',
      dashboard: 'Dashboards',
      feature_flag: 'Feature flags',
      early_access_feature: 'Early access features',
      cohort: 'Cohorts',
    },
    usual: 'No rule (Editor)',
    feature: 'A single early access feature',
    chooseFeature: 'Choose a feature',
    levels: ofRecords.levels,
  },
  alone: 'No access rules needed',
  aloneText: 'All organization members are administrators or owners, so they have access to every project.',
};
