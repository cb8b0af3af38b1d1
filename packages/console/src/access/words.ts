export const text = {
  open: 'Access',
  title: (name: string) => `Access to “${name}”`,
  about:
    'These rules override the project’s rules for this record type. Project administrators and the user who created the record always have full access.',
  onlyManagers:
    'Only project administrators, the user who created the record, and the record’s managers can change these rules.',
  what: 'The access rules',
  list: 'Rules',
  everyMember: 'Every member',
  unknownMember: 'Another member',
  role: (name: string) => `Role: ${name}`,
  levelLabel: (name: string) => `Access level: ${name}`,
  /** Label of the record type's default access level, if no rule for the record applies to the member. */
  asKind: (level: string) => `Default for this record type: ${level}`,
  levels: {
    '': 'No rule',
    none: 'No access',
    viewer: 'Viewer',
    editor: 'Editor',
    manager: 'Manager',
  },
  add: 'Add',
  adding: 'Add a rule',
  roleOrMember: 'Role or member',
  choose: 'Choose a role or a member',
  roles: 'Roles',
  members: 'Members',
  someMembers: (count: string) =>
    `The list shows the first ${count} members. Use the API to set rules for other members.`,
  noPlan:
    'Your organization’s plan does not include access rules. Rules that you set here are saved, and take effect once the plan includes them.',
};
