export const text = {
  open: 'Access',
  title: (name: string) => `Who may use “${name}”`,
  about:
    'Rules for this one go before those for all of its kind. Administrators of the project may do everything, and who made it keeps it.',
  onlyManagers: 'Only administrators of the project, who made it, and its managers change this.',
  what: 'The rules',
  list: 'Rules',
  everybody: 'Every member',
  somebody: 'A member who is not listed',
  role: (name: string) => `Role: ${name}`,
  may: (name: string) => `What is allowed to ${name}`,
  /** Of everybody, when nothing is said. */
  asKind: (level: string) => `as for all of its kind: ${level}`,
  levels: {
    '': 'no rule',
    none: 'not see',
    viewer: 'see',
    editor: 'see and change',
    manager: 'see, change and say who else may',
  },
  add: 'Add',
  adding: 'Another rule',
  whom: 'For whom',
  choose: 'Choose a role or a member',
  roles: 'Roles',
  members: 'Members',
  someMembers: (count: string) => `The first ${count} members are offered. For others the API sets rules.`,
  noPlan:
    'The plan of this organization has no rules of access. What is chosen here is stored, and counts once the plan has them.',
};
