import { formatCount, words } from '../../../words.ts';

const aLevel: Record<number, string> = { 1: 'a member', 8: 'an administrator', 15: 'an owner' };

export const text = {
  title: 'Members',
  about: (organization: string) => `The members of ${organization} and their levels.`,
  onlyAdministrators: 'Only administrators and owners can change levels and remove members.',
  search: 'Search by name or email',
  noMatchTitle: 'No members match your search',
  noMatch: 'People who were invited and have not joined yet are listed under Invites.',
  showAll: 'Show all',
  roles: {
    title: 'Roles',
    about: 'A role is a group of members. Each project’s Access settings define what a role can access.',
    onlyAdministrators: 'Only administrators and owners can create and assign roles.',
    columns: { role: 'Role', members: 'Members' },
    name: 'Role name',
    make: 'Create role',
    emptyTitle: 'No roles yet',
    empty: 'Create a role for each group of members who need the same access, for example “Support”.',
    noMembers: 'no members',
    more: 'There are more members. The API lists all of them.',
    give: 'Assign',
    giveOf: (name: string) => `Assign ${name} to a member`,
    address: 'Member’s email address',
    addressHint: 'The person must be a member of the organization.',
    unknown: (email: string) => `No member of the organization has the email address ${email}.`,
    take: 'Remove',
    takeFrom: (role: string, member: string) => `Remove ${role} from ${member}`,
    rename: 'Rename',
    renameOf: (name: string) => `Rename ${name}`,
    remove: 'Delete',
    removeOf: (name: string) => `Delete the role ${name}`,
    removeTitle: (name: string) => `Delete the role “${name}”?`,
    removeText:
      'Members with this role stay in the organization. Rules that granted or denied access to the role no longer apply to them.',
    cancel: 'Cancel',
  },
  columns: {
    member: 'Member',
    level: 'Level',
    factor: '2FA',
    joined: 'Joined',
    seen: 'Last sign-in',
    actions: 'Actions',
    address: 'Email',
    state: 'Status',
    invited: 'Invited',
  },
  you: 'you',
  factor: { true: 'on', false: 'off' } as Record<string, string>,
  never: 'never',
  levels: words.level,
  levelOf: (name: string) => `Level of ${name}`,
  ownLevel: 'You cannot change your own level.',
  aboveLevel: 'Only an owner can change this.',
  ownerLeaves: 'An owner cannot leave. Ask another owner to lower your level first.',
  ownerRemoved: 'To remove an owner, lower their level first.',
  change: 'Change level',
  changeTitle: (name: string, level: number) => `Make ${name} ${aLevel[level]}?`,
  changeText: {
    1: 'A member can use the projects that are open to members, but cannot manage anything.',
    8: 'An administrator can see every project, create and change project keys, and manage members, invites and domains.',
    15: 'An owner can do everything. This includes making other members owners and deleting the organization.',
  } as Record<number, string>,
  fewerInvites: 'Pending invites from this member with a level above their new level will be revoked.',
  remove: 'Remove',
  removeWhom: (name: string) => `Remove ${name}`,
  removeTitle: (name: string, organization: string) => `Remove ${name} from ${organization}?`,
  removeText:
    'The member loses access with their next request. Their account and everything they created are kept. Their API keys no longer give access to this organization, and their pending invites are revoked.',
  leave: 'Leave',
  leaveTitle: (organization: string) => `Leave ${organization}?`,
  leaveText: 'You lose access immediately. To rejoin, you need a new invite.',

  invites: {
    title: 'Invites',
    about: 'People who were invited and have not joined yet. An invite is valid for three days.',
    emptyTitle: 'No pending invites',
    empty: (sendsMail: boolean) =>
      sendsMail
        ? 'Each person you invite gets an email. You also get a link that you can share yourself.'
        : 'Email is not set up here, so you get a link for each person that you have to share yourself.',
    states: {
      expired: 'Expired',
      failed: 'Email failed',
      mailed: 'Emailed',
      link: 'Link only',
      unmailed: 'Not emailed',
    },
    expired: 'Resend the invite to extend it by three days.',
    errors: (code: string) => {
      if (code === 'unreachable') return 'The mail server did not respond.';
      if (/^5/.test(code)) return `The mail server rejected the address (${code}).`;
      return `The mail server did not accept the email (${code}).`;
    },
    noMailHere: 'Email is not set up here. Resend the invite to get its link.',
    notYet: 'The email is still being sent, or the hourly email limit has been reached.',
    byWhom: (who: string) => `by ${who}`,
    again: 'Resend',
    againTo: (email: string) => `Resend to ${email}`,
    againAbove: 'This invite grants a higher level than your own.',
    takeBack: 'Revoke',
    takeBackFrom: (email: string) => `Revoke the invite for ${email}`,
    takeBackTitle: (email: string) => `Revoke the invite for ${email}?`,
    takeBackText: 'All links for this invite stop working immediately.',
  },

  form: {
    title: 'Invite people',
    about: 'Either everyone on the list is invited, or no one is. If an address is rejected, the reason is shown here.',
    addresses: 'Email addresses',
    addressesHint: (count: number) =>
      count === 0
        ? 'Enter up to 20 addresses, one per line or separated by commas.'
        : `${formatCount(count, 'person', 'people')}.`,
    shortHint: (sendsMail: boolean) =>
      sendsMail
        ? 'They join as members. Each person gets an email, and you get a link for each of them.'
        : 'They join as members. Email is not set up here, so you get a link for each person.',
    more: 'More options',
    tooMany: (count: number) => `You entered ${count} addresses. You can invite at most 20 people at once.`,
    level: 'Level',
    levelHint: 'The level cannot be higher than your own.',
    message: 'Message in the email',
    mail: 'Send an email to each person',
    noMail: 'Email is not set up here. You get a link for each person on the next screen.',
    linkToo: 'You also get a link for each person on the next screen.',
    projects: 'Private projects',
    projectsHint: 'Members cannot access these projects unless you give them access here.',
    projectsOfAll: 'Administrators and owners have access to all projects.',
    noAccess: 'no access',
    wrongOf: (address: string, detail: string) => `${address}: ${detail}`,
    submit: (count: number) => (count <= 1 ? 'Invite' : `Invite ${count} people`),
  },

  made: {
    title: (count: number) => (count === 1 ? 'Invite created' : `${count} invites created`),
    text: 'Give each link only to the person it is for. Anyone who opens a link can join with the invited email address. The links are shown only once.',
    noLinks: 'Links are returned only to signed-in users, not to requests with an API key.',
    linkOf: (email: string) => `Link for ${email}`,
    mailed: 'An email is on its way too.',
    unmailed: 'No email was sent.',
    done: 'Done',
  },
};
